//! One listing a minute for all repositories of a key.
//!
//! A listing covers the whole account, so that asking for it once is enough for all repositories that share the key.
//! It is kept for [`KEPT_FOR`], and whoever comes while it is being read waits for it. It is taken anew before that
//!
//! - when somebody needs a deeper one: further back, or with archived sessions;
//! - when the repository that asks has written to Jules since, so that nobody sees its own past;
//! - when something was heard of that repository since, at most [`MAX_EARLY`] times a minute. It is not put off to be
//!   shared with others: what was heard is an outcome as a rule, and the next turn waits for it.
//!
//! Sessions that were created since are added to it, so that the use of the key is counted right.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use phileas_domain::engine::ListingNeed;
use phileas_domain::model::RepositoryName;

use super::account_listing::Account;
use super::error::ApiError;
use super::recent::lock;
use super::wire::Session;

/// How long a listing serves all repositories of its key.
pub const KEPT_FOR: Duration = Duration::from_secs(60);
/// How often a minute a listing is taken early because something was heard of a repository.
pub const MAX_EARLY: usize = 10;
/// The most sessions of a listing that is kept. Of a longer one the newest are: they are what a ledger that is up to
/// date needs, and reading all of them again for each repository would hold up all that share the key.
pub const MAX_KEPT: usize = 2_000;
/// How long a key's creates rest after the quota was spent, where Jules does not say.
pub const QUOTA_REST: Duration = Duration::from_secs(60);
/// The longest rest that Jules is believed to want.
pub(super) const LONGEST_REST: Duration = Duration::from_secs(3_600);
/// How many created sessions are remembered; more than a key can make in a minute.
const MAX_CREATED: usize = 64;

/// What the repositories of a key share. Times are those of the client's stopwatch.
#[derive(Debug, Default)]
pub(super) struct ListingCache {
    /// Held while a listing is read, so that whoever comes meanwhile waits for it.
    pub(super) listing: tokio::sync::Mutex<CachedListing>,
    /// When each repository wrote last, those that did lately.
    wrote: Mutex<Vec<(RepositoryName, Duration)>>,
    pub(super) created: Mutex<VecDeque<(Duration, Session)>>,
    spent: Mutex<Option<(Duration, ApiError)>>,
}

#[derive(Debug, Default)]
pub(super) struct CachedListing {
    pub(super) kept: Option<(Duration, Account)>,
    /// When listings were taken early.
    early: VecDeque<Duration>,
    /// When the last one failed, until when it is not asked again, and how.
    pub(super) failed: Option<(Duration, Duration, ApiError)>,
}

impl ListingCache {
    /// A repository is about to write.
    pub(super) fn wrote(&self, repository: &RepositoryName, elapsed: Duration) {
        let mut wrote = lock(&self.wrote);
        wrote.retain(|(known, at)| {
            known != repository && elapsed.saturating_sub(*at) < KEPT_FOR * 2
        });
        wrote.push((repository.clone(), elapsed));
    }

    /// A session was created.
    pub(super) fn created(&self, session: &Session, elapsed: Duration) {
        let mut created = lock(&self.created);
        if created.len() == MAX_CREATED {
            created.pop_front();
        }
        created.push_back((elapsed, session.clone()));
    }

    /// A create failed. Where the quota is spent, nobody else needs to find out.
    pub(super) fn refused(&self, error: &ApiError, elapsed: Duration) {
        let Some(answer) = error.answer().filter(|answer| answer.is_quota()) else {
            return;
        };
        let rest = answer.retry_after.unwrap_or(QUOTA_REST).min(LONGEST_REST);
        *lock(&self.spent) = Some((elapsed + rest, error.clone()));
    }

    /// The refusal that still holds for creates of this key.
    pub(super) fn spent(&self, elapsed: Duration) -> Option<ApiError> {
        let mut spent = lock(&self.spent);
        if spent.as_ref().is_some_and(|(until, _)| elapsed >= *until) {
            *spent = None;
        }
        spent.as_ref().map(|(_, error)| error.clone())
    }

    pub(super) fn written_at(&self, repository: &RepositoryName) -> Option<Duration> {
        let wrote = lock(&self.wrote);
        let found = wrote.iter().find(|(known, _)| known == repository);
        found.map(|(_, at)| *at)
    }
}

impl CachedListing {
    /// Whether what is kept will do.
    pub(super) fn serves(
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
        if old || own_past || !account.answers(need) {
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
