//! The sessions API for people and agents that use Jules directly: a whole account, with every text that it shows.
//!
//! A tick needs little of a session and nothing of other repositories, so [`super::ReadJules`] gives it no more. A user who
//! answers a question of Jules, reviews its plan or reads its changes needs the words themselves.

use std::pin::Pin;

use jiff::Timestamp;
use phileas_domain::engine::{ActivityKind, CreateFailure};
use phileas_domain::jobs::{AccountSession, Changes};
use phileas_domain::model::RepositoryName;

use super::Failure;

/// What a port answers, later.
pub type BoxedAnswer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One activity of a job, with the changes that it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct JobActivity {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Option<Timestamp>,
    /// What.
    pub kind: ActivityKind,
    /// The changes that it shows.
    pub changes: Option<Changes>,
}

/// A job to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// What to do.
    pub prompt: String,
    /// A title. `None`: Jules makes one up.
    pub title: Option<String>,
    /// The repository and the branch to start from.
    pub source: (RepositoryName, String),
    /// Whether Jules opens a pull request by itself.
    pub open_pull: bool,
    /// Whether it waits for its plan to be approved.
    pub require_plan_approval: bool,
}

/// One page of jobs, in the order in which Jules lists them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<AccountSession>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<String>,
}

/// A repository on which the Jules App is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSource {
    /// The repository, as Jules writes it.
    pub repository: RepositoryName,
    /// Whether it is private.
    pub private: bool,
    /// Its default branch, where Jules says so.
    pub default_branch: Option<String>,
    /// Its branches.
    pub branches: Vec<String>,
}

/// One page of sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourcePage {
    /// The sources; what is no repository of GitHub is left out.
    pub sources: Vec<JobSource>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<String>,
}

/// An account of Jules.
pub trait SessionsApi: Send + Sync {
    /// Creates a job: exactly one request, never repeated.
    fn create_job(&self, new: NewJob) -> BoxedAnswer<'_, Result<AccountSession, CreateFailure>>;

    /// Reads a job; `None` when Jules does not know it.
    fn read_job<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxedAnswer<'a, Result<Option<AccountSession>, Failure>>;

    /// Reads a page of jobs of the account, of all its repositories, archived ones left out unless only they are asked
    /// for.
    fn list_jobs<'a>(
        &'a self,
        page: Option<&'a str>,
        archived: bool,
    ) -> BoxedAnswer<'a, Result<JobPage, Failure>>;

    /// Reads all that happened in a job, oldest first. `None`: Jules does not show it (yet).
    fn read_job_activities<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxedAnswer<'a, Result<Option<Vec<JobActivity>>, Failure>>;

    /// Says something to a job, once.
    fn send_message<'a>(
        &'a self,
        id: &'a str,
        text: &'a str,
    ) -> BoxedAnswer<'a, Result<(), Failure>>;

    /// Approves a job's plan.
    fn approve_job_plan<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>>;

    /// Archives a job; one that runs is paused.
    fn archive_job<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>>;

    /// Reads a page of the repositories that Jules may work on.
    fn list_sources<'a>(
        &'a self,
        page: Option<&'a str>,
    ) -> BoxedAnswer<'a, Result<SourcePage, Failure>>;
}
