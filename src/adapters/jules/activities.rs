//! Reading a session's activities, the second time only what is new.
//!
//! The documented parameter for this (`createTime`) is refused by the live service; the filter that the official SDK
//! uses works and is documented nowhere. So it is used, and given up for good when it is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::Activity;

use super::client::Client;
use super::error::{ApiError, Cause};
use super::query::{PageQuery, PageSize};
use super::recent::lock;
use super::{routes, translate};

/// How many pages, of 100 activities or fewer, are asked for of one session.
pub const MAX_PAGES: usize = 100;

/// Of how many sessions the activities are remembered.
pub const MAX_REMEMBERED_SESSIONS: usize = 64;

/// How many activities of a session are remembered; a longer session is read whole each time.
pub const MAX_REMEMBERED_ACTIVITIES: usize = 2_000;

/// How far a reading goes back behind the newest activity that is known: some share their instant, and some appear
/// late.
const OVERLAP: SignedDuration = SignedDuration::from_secs(60);

/// The activities of sessions that were read lately.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    by_id: BTreeMap<String, Remembered>,
    uses: u64,
}

#[derive(Debug)]
struct Remembered {
    activities: Vec<Activity>,
    used: u64,
}

impl Memory {
    fn get(&self, session: &str) -> Vec<Activity> {
        let mut sessions = lock(&self.0);
        sessions.uses += 1;
        let uses = sessions.uses;
        match sessions.by_id.get_mut(session) {
            Some(remembered) => {
                remembered.used = uses;
                remembered.activities.clone()
            }
            None => Vec::new(),
        }
    }

    fn put(&self, session: &str, activities: &[Activity]) {
        let mut sessions = lock(&self.0);
        sessions.by_id.remove(session);
        if activities.is_empty() || activities.len() > MAX_REMEMBERED_ACTIVITIES {
            return;
        }
        if sessions.by_id.len() == MAX_REMEMBERED_SESSIONS {
            let oldest = sessions
                .by_id
                .iter()
                .min_by_key(|(_, remembered)| remembered.used);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                sessions.by_id.remove(&oldest);
            }
        }
        sessions.uses += 1;
        let remembered = Remembered {
            activities: activities.to_vec(),
            used: sessions.uses,
        };
        sessions.by_id.insert(session.to_owned(), remembered);
    }
}

impl Client {
    /// Reads a session's activities, oldest first. `None`: Jules does not show them.
    pub(super) async fn read_activities(
        &self,
        session: &str,
    ) -> Result<Option<Vec<Activity>>, ApiError> {
        let mut known = self.memory.get(session);
        let mut filter = self.newer_than(&known);
        let read = loop {
            match self.pages(session, filter.as_deref()).await {
                Err(error) if error.is_status(400) && filter.is_some() => {
                    tracing::warn!(
                        "Jules refuses to filter activities; they are read whole from now on"
                    );
                    self.filter_refused.store(true, Ordering::Relaxed);
                    filter = None;
                    known.clear();
                }
                Err(error) if error.is_status(404) => {
                    self.memory.put(session, &[]);
                    return Ok(None);
                }
                other => break other?,
            }
        };
        let activities = merge(known, read);
        self.memory.put(session, &activities);
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

    async fn pages(&self, session: &str, filter: Option<&str>) -> Result<Vec<Activity>, ApiError> {
        let mut activities: Vec<Activity> = Vec::new();
        let mut token = String::new();
        let mut size = PageSize::default();
        for _ in 0..MAX_PAGES {
            let query = PageQuery {
                filter,
                page_size: Some(size.get()),
                page_token: (!token.is_empty()).then_some(&token),
            };
            let page = match self.list_activities(session, query).await {
                Err(error) if size.shrink(&error) => continue,
                page => page?,
            };
            size.grow();
            for activity in &page.activities {
                // Without a time of its own it happened when its neighbour did.
                let before = activities
                    .last()
                    .map_or(Timestamp::UNIX_EPOCH, |last| last.at);
                activities.push(translate::activity(activity, before));
            }
            token = page.next_page_token;
            if token.is_empty() {
                return Ok(activities);
            }
        }
        // The newest would be missing, and a session that works would look as if it stood still.
        Err(ApiError {
            route: routes::LIST_ACTIVITIES,
            cause: Cause::TooManyPages { pages: MAX_PAGES },
        })
    }
}

/// Joins what was known with what was read: each id once, oldest first, equal times in the order they came in.
fn merge(known: Vec<Activity>, read: Vec<Activity>) -> Vec<Activity> {
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
            kind: ActivityKind::Progress,
            has_changes: false,
        }
    }

    #[test]
    fn an_activity_is_kept_once_and_in_its_place() {
        let known = vec![activity("a", 1), activity("b", 5)];
        let read = vec![activity("b", 5), activity("c", 5), activity("late", 3)];
        let ids: Vec<_> = merge(known, read)
            .into_iter()
            .map(|activity| activity.id)
            .collect();
        assert_eq!(ids, ["a", "late", "b", "c"]);
    }

    #[test]
    fn the_memory_forgets_what_was_not_used_longest() {
        let memory = Memory::default();
        for session in 0..MAX_REMEMBERED_SESSIONS {
            memory.put(&session.to_string(), &[activity("a", 1)]);
        }
        assert_eq!(memory.get("0").len(), 1);
        memory.put("one more", &[activity("a", 1)]);
        assert_eq!(memory.get("0").len(), 1);
        assert!(memory.get("1").is_empty());
        assert_eq!(memory.get("one more").len(), 1);
    }

    #[test]
    fn a_session_that_is_too_long_is_not_remembered() {
        let memory = Memory::default();
        let many = vec![activity("a", 1); MAX_REMEMBERED_ACTIVITIES + 1];
        memory.put("1", &many[1..]);
        assert_eq!(memory.get("1").len(), MAX_REMEMBERED_ACTIVITIES);
        memory.put("1", &many);
        assert!(memory.get("1").is_empty());
    }
}
