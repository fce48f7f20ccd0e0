//! Shares one listing a minute between all repositories of a key.
//!
//! A listing covers the whole account, so one is enough for all repositories that share the key. It is cached for
//! [`KEPT_FOR`], and other requests wait while it is read. It is read again earlier
//!
//! - when a repository needs a deeper one: further back, or with archived sessions;
//! - when the repository has written to Jules since, so that it sees its own changes;
//! - when an event of that repository arrived since, at most [`MAX_EARLY`] times a minute. It is not delayed to share
//!   it: the event is usually an outcome, and the next turn waits for it.
//!
//! Sessions created since are added to it, so that the key's usage is counted right.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use phileas_domain::engine::ListingNeed;
use phileas_domain::model::RepositoryName;

use super::account_listing::AccountListing;
use super::error::ApiError;
use super::recent::lock_mutex;
use super::wire::Session;

/// How long a listing is cached.
pub const KEPT_FOR: Duration = Duration::from_secs(60);
/// How often a minute a listing is read early because of an event.
pub const MAX_EARLY: usize = 10;
/// The most sessions that are cached, the newest. A current ledger needs only those, and reading all of them again
/// for each repository would delay all that share the key.
pub const MAX_KEPT: usize = 2_000;
/// How long creates of a key pause after the quota is used up, if Jules does not say.
pub const QUOTA_REST: Duration = Duration::from_secs(60);
/// The longest pause that is accepted from Jules.
pub(super) const LONGEST_REST: Duration = Duration::from_secs(3_600);
/// How many created sessions are remembered: more than a key can create in a minute.
const MAX_CREATED: usize = 64;

/// The listing that the repositories of a key share. Times are those of the client's stopwatch.
#[derive(Debug, Default)]
pub(super) struct ListingCache {
    /// Locked while a listing is read, so that other requests wait for it.
    pub(super) listing: tokio::sync::Mutex<CachedListing>,
    /// When each repository last wrote, as far as that is recent.
    wrote: Mutex<Vec<(RepositoryName, Duration)>>,
    pub(super) created: Mutex<VecDeque<(Duration, Session)>>,
    /// When a create was refused because the quota is used up, until when none is tried, and the error.
    spent: Mutex<Option<(Duration, Duration, ApiError)>>,
}

#[derive(Debug, Default)]
pub(super) struct CachedListing {
    pub(super) kept: Option<(Duration, AccountListing)>,
    /// When listings were read early.
    early: VecDeque<Duration>,
    /// When the last read failed, until when it is not repeated, and the error.
    pub(super) failed: Option<(Duration, Duration, ApiError)>,
}

impl ListingCache {
    /// Notes that a repository is about to write.
    pub(super) fn record_write(&self, repository: &RepositoryName, elapsed: Duration) {
        let mut wrote = lock_mutex(&self.wrote);
        wrote.retain(|(known, at)| {
            known != repository && elapsed.saturating_sub(*at) < KEPT_FOR * 2
        });
        wrote.push((repository.clone(), elapsed));
    }

    /// Notes a created session.
    pub(super) fn record_created(&self, session: &Session, elapsed: Duration) {
        let mut created = lock_mutex(&self.created);
        if created.len() == MAX_CREATED {
            created.pop_front();
        }
        created.push_back((elapsed, session.clone()));
    }

    /// Notes a failed create. If the quota is used up, other creates of the key need not try.
    pub(super) fn record_refusal(&self, error: &ApiError, elapsed: Duration) {
        let Some(answer) = error.answer().filter(|answer| answer.is_quota()) else {
            return;
        };
        let rest = answer.retry_after.unwrap_or(QUOTA_REST).min(LONGEST_REST);
        *lock_mutex(&self.spent) = Some((elapsed, elapsed + rest, error.clone()));
    }

    /// The refusal that still applies to creates of this key.
    pub(super) fn quota_refusal(&self, elapsed: Duration) -> Option<ApiError> {
        let mut spent = lock_mutex(&self.spent);
        if spent
            .as_ref()
            .is_some_and(|(_, until, _)| elapsed >= *until)
        {
            *spent = None;
        }
        let (at, _, error) = spent.as_ref()?;
        Some(error.after_a_wait(elapsed.saturating_sub(*at)))
    }

    pub(super) fn written_at(&self, repository: &RepositoryName) -> Option<Duration> {
        let wrote = lock_mutex(&self.wrote);
        let found = wrote.iter().find(|(known, _)| known == repository);
        found.map(|(_, at)| *at)
    }
}

impl CachedListing {
    /// Whether the cached listing is sufficient.
    pub(super) fn is_sufficient(
        &mut self,
        need: &ListingNeed,
        written: Option<Duration>,
        heard: Option<Duration>,
        elapsed: Duration,
    ) -> bool {
        let Some((begun, account)) = &self.kept else {
            return false;
        };
        let old = elapsed.saturating_sub(*begun) >= KEPT_FOR;
        let own_past = written.is_some_and(|written| written >= *begun);
        if old || own_past || !account.satisfies(need) {
            return false;
        }
        if heard.is_none_or(|heard| heard < *begun) {
            return true;
        }
        while self
            .early
            .front()
            .is_some_and(|at| elapsed.saturating_sub(*at) >= KEPT_FOR)
        {
            self.early.pop_front();
        }
        if self.early.len() >= MAX_EARLY {
            return true;
        }
        self.early.push_back(elapsed);
        false
    }
}
