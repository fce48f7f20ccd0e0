//! The interface to Jules for programs that watch sessions of any repository: one key, all of its
//! sessions.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{Activity, Pull};
use phileas_domain::jobs::{AccountSession, JobId, PullLink};
use phileas_domain::model::RepositoryName;

use super::{Failure, ReadGitHub};

/// Why a call of Jules failed. The text is one line, free of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct AccountFailure {
    /// What to do about it.
    pub kind: AccountError,
    /// What happened: route, status, message.
    pub detail: String,
}

/// What to do about a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountError {
    /// Jules limits the rate. That is no failure.
    Throttled {
        /// How long to wait at least, if Jules says so.
        after: Option<Duration>,
    },
    /// The key is missing, refused or lacks a permission.
    Denied,
    /// Jules did not reply, or reports a problem of its own; the same call may succeed later.
    Down,
    /// Jules refused the content of the request.
    Refused,
}

/// An account for reading. Code that has nothing else cannot change anything.
pub trait ReadAccount: Send + Sync {
    /// Lists sessions that are not archived until all wanted ones were found, or until single reads
    /// cost less. Returns the wanted ones.
    fn list_wanted_sessions(
        &self,
        wanted: &BTreeSet<JobId>,
    ) -> impl Future<Output = Result<Vec<AccountSession>, AccountFailure>> + Send;

    /// Reads a session; `None` if Jules does not know it.
    fn read_session(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<Option<AccountSession>, AccountFailure>> + Send;

    /// Reads a session's activities, oldest first; `None` if Jules does not show them (yet).
    fn read_session_activities(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<Option<Vec<Activity>>, AccountFailure>> + Send;

    /// Reads all changes of a session in the format of `git diff`; `None` if it shows none.
    fn read_session_changes(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<Option<String>, AccountFailure>> + Send;

    /// Finds the newest session with this text in its title or prompt, among those of the last
    /// pages of the listing.
    fn find_marked_session(
        &self,
        marker: &str,
    ) -> impl Future<Output = Result<Option<AccountSession>, AccountFailure>> + Send;

    /// Jules' time at its last reply, in whole seconds; `None` before the first dated reply. Jules'
    /// clock dates sessions and activities, and this machine's clock may differ.
    fn jules_time(&self) -> Option<Timestamp>;

    /// A short text that most likely differs between keys and does not reveal the key. It may be
    /// stored, to find later whether the key was replaced.
    fn key_mark(&self) -> String;

    /// How many requests this client has sent.
    fn request_count(&self) -> u64;
}

/// Pull requests of any repository.
pub trait ReadPull: Send + Sync {
    /// Reads a pull request with its checks; `None` if it does not exist.
    fn read_pull(
        &self,
        link: &PullLink,
    ) -> impl Future<Output = Result<Option<Pull>, Failure>> + Send;
}

/// A function that creates a client for each repository can read them all.
impl<F, G> ReadPull for F
where
    F: Fn(&RepositoryName) -> Result<G, Failure> + Send + Sync,
    G: ReadGitHub,
{
    async fn read_pull(&self, link: &PullLink) -> Result<Option<Pull>, Failure> {
        let client = self(&link.repository)?;
        let mut pulls = client.read_pulls(&BTreeSet::from([link.number])).await?;
        Ok(pulls.remove(&link.number))
    }
}
