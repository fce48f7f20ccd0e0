//! The sessions API for people and agents that use Jules directly: a whole account, with every text that it shows.
//!
//! A tick needs little of a session and nothing of other repositories, so [`super::ReadJules`] gives it no more. A user who
//! answers a question of Jules, reviews its plan or reads its changes needs the words themselves.

use std::pin::Pin;

use jiff::Timestamp;
use phileas_domain::engine::{CreateFailure, SessionState};
use phileas_domain::model::RepositoryName;

use super::Failure;

/// What a port answers, later.
pub type BoxedAnswer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A job: a session of Jules, with its texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The session's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it was asked; empty where Jules does not show it.
    pub prompt: String,
    /// The repository that it works on. `None`: none, or Jules does not say.
    pub repository: Option<RepositoryName>,
    /// The branch that it started from, where Jules says so.
    pub branch: Option<String>,
    /// Where it stands.
    pub state: SessionState,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Its page in the web application.
    pub url: String,
    /// Whether it is archived.
    pub archived: bool,
    /// The pull requests that it opened.
    pub pulls: Vec<JobPull>,
    /// The changes that it shows without a pull request.
    pub changes: Option<Changes>,
}

/// A pull request of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPull {
    /// Its page on GitHub.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The repository and the number that the address names, where it is one of GitHub.
    pub named: Option<(RepositoryName, u64)>,
}

/// Changes in the format of `git diff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The changes, all since the job began.
    pub patch: String,
    /// The commit that they apply to; empty where Jules does not say.
    pub base: String,
    /// A message for their commit.
    pub message: String,
}

/// One thing that happened in a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobActivity {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Option<Timestamp>,
    /// What.
    pub what: JobActivityKind,
    /// The changes that it shows.
    pub changes: Option<Changes>,
}

/// What happened in a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobActivityKind {
    /// Jules said something.
    JulesSaid(String),
    /// A person, or a program for one, said something.
    PersonSaid(String),
    /// A plan was made.
    Planned {
        /// Its id; a revised one has another.
        plan: String,
        /// Its steps: title and description.
        steps: Vec<(String, String)>,
    },
    /// The plan with this id was approved.
    Approved(String),
    /// It went on.
    Progress(String),
    /// It ended.
    Completed,
    /// It failed, and why.
    Failed(String),
    /// Anything else, by Jules' name for it.
    Other(String),
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
    pub jobs: Vec<Job>,
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
    fn create(&self, new: NewJob) -> BoxedAnswer<'_, Result<Job, CreateFailure>>;

    /// Reads a job; `None` when Jules does not know it.
    fn job<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<Option<Job>, Failure>>;

    /// Reads a page of jobs of the account, of all its repositories, archived ones left out unless only they are asked
    /// for.
    fn jobs<'a>(
        &'a self,
        page: Option<&'a str>,
        archived: bool,
    ) -> BoxedAnswer<'a, Result<JobPage, Failure>>;

    /// Reads all that happened in a job, oldest first. `None`: Jules does not show it (yet).
    fn activities<'a>(
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
    fn approve<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>>;

    /// Archives a job; one that runs is paused.
    fn archive<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>>;

    /// Reads a page of the repositories that Jules may work on.
    fn sources<'a>(&'a self, page: Option<&'a str>)
    -> BoxedAnswer<'a, Result<SourcePage, Failure>>;
}
