//! Jules as those see it who watch sessions of whatever repository: one key, all of its sessions.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{Activity, CreateFailure, Pull};
use phileas_domain::jobs::{AccountSession, JobId, PullLink};
use phileas_domain::model::RepositoryName;

use super::{Failure, ReadGitHub};

/// Why Jules could not be asked. The text is one line, free of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct AccountFailure {
    /// What to do about it.
    pub kind: AccountError,
    /// What happened: route, status, message.
    pub detail: String,
}

/// What to do about a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountError {
    /// Jules asks for patience. That is no failure.
    Throttled {
        /// How long to wait at least, where it says so.
        after: Option<Duration>,
    },
    /// The key is missing, refused or too weak.
    Denied,
    /// No answer, or one that says that Jules is unwell; the same call may work later.
    Down,
    /// The request was refused for what it says.
    Refused,
}

/// A session that is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// What to do.
    pub prompt: String,
    /// The title.
    pub title: String,
    /// The repository and the branch to start from; `None`: a session without a repository.
    pub source: Option<(RepositoryName, String)>,
    /// Whether Jules opens a pull request.
    pub open_pull: bool,
    /// Whether it waits for its plan to be approved.
    pub require_plan_approval: bool,
}

/// An account as it is read. Code that has nothing else cannot change anything.
pub trait ReadAccount: Send + Sync {
    /// Lists sessions that are not archived until all that are wanted were seen, or as far as the listing is worth it.
    /// Answers with those that are wanted.
    fn list_wanted_sessions(
        &self,
        wanted: &BTreeSet<JobId>,
    ) -> impl Future<Output = Result<Vec<AccountSession>, AccountFailure>> + Send;

    /// Reads a session; `None` when Jules does not know it.
    fn read_session(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<Option<AccountSession>, AccountFailure>> + Send;

    /// Reads a session's activities, oldest first; `None` when Jules does not show them (yet).
    fn read_session_activities(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<Option<Vec<Activity>>, AccountFailure>> + Send;

    /// Reads all changes of a session in the format of `git diff`; `None` when it shows none.
    fn read_session_changes(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<Option<String>, AccountFailure>> + Send;

    /// The newest session whose title or prompt holds this text, among those of the last pages of the listing.
    fn find_marked_session(
        &self,
        marker: &str,
    ) -> impl Future<Output = Result<Option<AccountSession>, AccountFailure>> + Send;

    /// What time it was at Jules with its last answer, in whole seconds; `None` where no answer was dated yet. Times of
    /// sessions and activities are by this clock, and this machine's may be another.
    fn jules_time(&self) -> Option<Timestamp>;

    /// A short text that another key most likely does not have, and that does not reveal the key: it may be written
    /// down, to see later whether the key was replaced.
    fn key_mark(&self) -> String;

    /// How many requests were sent so far.
    fn request_count(&self) -> u64;
}

/// An account as it is changed.
pub trait WriteAccount: ReadAccount {
    /// Starts a session: exactly one request, never repeated.
    fn start(
        &self,
        new: &NewJob,
    ) -> impl Future<Output = Result<AccountSession, CreateFailure>> + Send;

    /// Says something to a session, once.
    fn send_message(
        &self,
        id: &JobId,
        text: &str,
    ) -> impl Future<Output = Result<(), AccountFailure>> + Send;

    /// Approves a session's plan.
    fn approve_session_plan(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<(), AccountFailure>> + Send;

    /// Archives a session; one that runs is paused. One that Jules does not know is no error.
    fn archive_account_session(
        &self,
        id: &JobId,
    ) -> impl Future<Output = Result<(), AccountFailure>> + Send;
}

/// Pull requests of any repository.
pub trait ReadPull: Send + Sync {
    /// Reads a pull request with its checks; `None` where there is no such one.
    fn read_pull(
        &self,
        link: &PullLink,
    ) -> impl Future<Output = Result<Option<Pull>, Failure>> + Send;
}

/// A client factory for each repository can read them all.
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
