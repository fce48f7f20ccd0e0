//! Reads a session's activities; later reads fetch only new ones.
//!
//! The live service refuses the documented parameter (`createTime`). The filter of the official SDK works, although
//! it is undocumented. It is used until the service refuses it.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::Activity;

use super::client::Client;
use super::error::{ApiError, Cause};
use super::query::{PageQuery, PageSize};
use super::{routes, translate, wire};

/// How many pages, of at most 100 activities, are read of one session.
pub const MAX_PAGES: usize = 100;

/// How far a read reaches back before the newest known activity: some share an instant, and some appear late.
const OVERLAP: SignedDuration = SignedDuration::from_secs(60);

impl Client {
    /// Reads a session's activities, oldest first. `None`: Jules does not know the session.
    pub(super) async fn read_activities(
        &self,
        session: &str,
    ) -> Result<Option<Vec<Activity>>, ApiError> {
        let mut known = self.activity_cache.get(session);
        let mut filter = self.newer_than(&known);
        let read = loop {
            match self.read_pages(session, filter.as_deref()).await {
                Err(error) if error.is_status(400) && filter.is_some() => {
                    tracing::warn!(
                        "Jules refuses to filter activities; they are read completely from now on"
                    );
                    self.filter_refused.store(true, Ordering::Relaxed);
                    filter = None;
                    known.clear();
                }
                Err(error) if error.is_status(404) => {
                    self.activity_cache.put(session, &[]);
                    return Ok(None);
                }
                other => break other?,
            }
        };
        let activities = merge_activities(known, read);
        self.activity_cache.put(session, &activities);
        Ok(Some(activities))
    }

    fn newer_than(&self, known: &[Activity]) -> Option<String> {
        if self.filter_refused.load(Ordering::Relaxed) {
            return None;
        }
        let newest = known.iter().map(|activity| activity.at).max()?;
        let since = newest.checked_sub(OVERLAP).ok()?;
        Some(format!("create_time>\"{since}\""))
    }

    async fn read_pages(
        &self,
        session: &str,
        filter: Option<&str>,
    ) -> Result<Vec<Activity>, ApiError> {
        let mut activities: Vec<Activity> = Vec::new();
        self.each_activity(session, filter, |activity| {
            // An activity without a time gets the time of the one before.
            let before = activities
                .last()
                .map_or(Timestamp::UNIX_EPOCH, |last| last.at);
            activities.push(translate::domain_activity(&activity, before));
        })
        .await?;
        Ok(activities)
    }

    /// Reads all activities of a session, page by page, in the order in which Jules lists them.
    pub(super) async fn each_activity(
        &self,
        session: &str,
        filter: Option<&str>,
        mut take: impl FnMut(wire::Activity),
    ) -> Result<(), ApiError> {
        let mut token = String::new();
        let mut size = PageSize::default();
        for _ in 0..MAX_PAGES {
            let query = PageQuery {
                filter,
                page_size: Some(size.get()),
                page_token: (!token.is_empty()).then_some(&token),
            };
            let page = match self.list_activities(session, query).await {
                Err(error) if size.shrink_on(&error) => continue,
                page => page?,
            };
            size.grow_back();
            page.activities.into_iter().for_each(&mut take);
            token = page.next_page_token;
            if token.is_empty() {
                return Ok(());
            }
        }
        // Without the newest activities, a working session would look inactive.
        Err(ApiError {
            route: routes::LIST_ACTIVITIES,
            cause: Cause::TooManyPages { pages: MAX_PAGES },
        })
    }
}

/// Merges cached and new activities: each id once, oldest first, equal times in their order.
fn merge_activities(known: Vec<Activity>, read: Vec<Activity>) -> Vec<Activity> {
    let mut seen = BTreeSet::new();
    let mut activities: Vec<Activity> = known
        .into_iter()
        .chain(read)
        .filter(|activity| seen.insert(activity.id.clone()))
        .collect();
    activities.sort_by_key(|activity| activity.at);
    activities
}

#[cfg(test)]
mod tests {
    use phileas_domain::engine::ActivityKind;

    use super::*;

    fn activity(id: &str, second: i64) -> Activity {
        Activity {
            id: id.to_owned(),
            at: Timestamp::from_second(second).unwrap(),
            kind: ActivityKind::PlanApproved,
            has_changes: false,
        }
    }

    #[test]
    fn an_activity_is_kept_once_and_in_its_place() {
        let known = vec![activity("a", 1), activity("b", 5)];
        let read = vec![activity("b", 5), activity("c", 5), activity("late", 3)];
        let ids: Vec<_> = merge_activities(known, read)
            .into_iter()
            .map(|activity| activity.id)
            .collect();
        assert_eq!(ids, ["a", "late", "b", "c"]);
    }
}
