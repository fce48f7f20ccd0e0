//! Reads the sessions of a whole account, for the jobs that watch sessions of any repository.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use phileas_domain::engine::Activity;
use phileas_domain::jobs::{AccountSession, JobId};

use super::client::Client;
use super::error::{ApiError, Cause, not_found_as_none};
use super::query::{PageQuery, PageSize};
use super::translate;
use super::wire::{self, Output};
use crate::runtime::ports::account::{AccountError, AccountFailure, ReadAccount};

/// How many pages, of at most 100 sessions, are listed at once. Further sessions are read one by one.
pub const MAX_LISTED_PAGES: usize = 5;

impl From<ApiError> for AccountFailure {
    fn from(error: ApiError) -> Self {
        let kind = match &error.cause {
            Cause::Answer(answer) if answer.is_quota() => AccountError::Throttled {
                after: answer.retry_after,
            },
            Cause::Answer(answer) if answer.is_credential() => AccountError::Denied,
            Cause::Answer(answer) if answer.is_ambiguous() => AccountError::Down,
            Cause::Answer(_) | Cause::BadName(_) => AccountError::Refused,
            _ => AccountError::Down,
        };
        Self {
            kind,
            detail: error.to_string(),
        }
    }
}

impl ReadAccount for Client {
    async fn list_wanted_sessions(
        &self,
        wanted: &BTreeSet<JobId>,
    ) -> Result<Vec<AccountSession>, AccountFailure> {
        let mut found: BTreeMap<JobId, AccountSession> = BTreeMap::new();
        self.each_session(|session| {
            let known = session.id.clone();
            // Pages may shift while they are read: of two copies of a session the later one counts.
            let newer = found
                .get(&known)
                .is_none_or(|older| older.updated_at <= session.updated_at);
            if newer && wanted.contains(&known) {
                found.insert(known, session);
            }
            found.len() == wanted.len()
        })
        .await?;
        Ok(found.into_values().collect())
    }

    async fn read_session(&self, id: &JobId) -> Result<Option<AccountSession>, AccountFailure> {
        let read = not_found_as_none(self.get_session(id.as_str()).await)?;
        Ok(read.and_then(translate::account_session))
    }

    async fn read_session_activities(
        &self,
        id: &JobId,
    ) -> Result<Option<Vec<Activity>>, AccountFailure> {
        let Some(read) = not_found_as_none(self.whole_log(id).await)? else {
            return Ok(None);
        };
        let mut seen = BTreeSet::new();
        let mut activities: Vec<Activity> = Vec::new();
        for one in &read {
            let before = activities
                .last()
                .map_or(Timestamp::UNIX_EPOCH, |last| last.at);
            let one = translate::domain_activity(one, before);
            if seen.insert(one.id.clone()) {
                activities.push(one);
            }
        }
        activities.sort_by_key(|activity| activity.at);
        Ok(Some(activities))
    }

    async fn read_session_changes(&self, id: &JobId) -> Result<Option<String>, AccountFailure> {
        // Each change set contains the earlier ones, and the session may show none even if there are some.
        let log = not_found_as_none(self.whole_log(id).await)?.unwrap_or_default();
        let last = log.iter().rev().find_map(wire::Activity::change_set);
        if let Some(changes) = last {
            return Ok(Some(changes.git_patch.unidiff_patch.clone()));
        }
        let read = not_found_as_none(self.get_session(id.as_str()).await)?;
        let outputs = read.map(|session| session.outputs).unwrap_or_default();
        Ok(outputs.into_iter().find_map(|output| match output {
            Output::ChangeSet(changes) if changes.has_changes() => {
                Some(changes.git_patch.unidiff_patch)
            }
            _ => None,
        }))
    }

    async fn find_marked_session(
        &self,
        marker: &str,
    ) -> Result<Option<AccountSession>, AccountFailure> {
        let mut newest: Option<AccountSession> = None;
        self.each_session(|session| {
            let bears = session.title.contains(marker) || session.prompt.contains(marker);
            let newer = newest
                .as_ref()
                .is_none_or(|older| older.created_at <= session.created_at);
            if bears && newer {
                newest = Some(session);
            }
            false
        })
        .await?;
        Ok(newest)
    }

    fn jules_time(&self) -> Option<Timestamp> {
        self.answered_at()
    }

    fn key_mark(&self) -> String {
        self.key.key_id()
    }

    fn request_count(&self) -> u64 {
        self.request_count()
    }
}

impl Client {
    /// Reads the listing until `enough` is true, it ends, or [`MAX_LISTED_PAGES`] pages were read.
    async fn each_session(
        &self,
        mut enough: impl FnMut(AccountSession) -> bool,
    ) -> Result<(), ApiError> {
        let mut token = String::new();
        let mut size = PageSize::default();
        for _ in 0..MAX_LISTED_PAGES {
            let query = PageQuery {
                filter: None,
                page_size: Some(size.get()),
                page_token: (!token.is_empty()).then_some(&token),
            };
            let page = match self.list_sessions(query).await {
                Err(error) if size.shrink_on(&error) => continue,
                page => page?,
            };
            size.grow_back();
            let sessions = page.sessions.into_iter();
            for session in sessions.filter_map(translate::account_session) {
                if enough(session) {
                    return Ok(());
                }
            }
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        Ok(())
    }

    async fn whole_log(&self, id: &JobId) -> Result<Vec<wire::Activity>, ApiError> {
        let mut log = Vec::new();
        self.each_activity(id.as_str(), None, |activity| log.push(activity))
            .await?;
        Ok(log)
    }
}
