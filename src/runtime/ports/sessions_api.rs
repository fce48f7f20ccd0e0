//! The interface to a whole account of Jules, with every text that it shows.
//!
//! A tick needs little of a session and nothing of other repositories, so [`super::ReadJules`] gives it
//! no more. A user who answers a question of Jules, reviews its plan or reads its changes needs the texts.

use async_trait::async_trait;
use jiff::Timestamp;
use phileas_domain::engine::{ActivityKind, CreateFailure};
use phileas_domain::jobs::{AccountSession, Changes};
use phileas_domain::model::RepositoryName;

use super::Failure;

/// One activity of a job, with the changes that it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct JobActivity {
    /// Its id.
    pub id: String,
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its kind and text.
    pub kind: ActivityKind,
    /// The changes that it shows.
    pub changes: Option<Changes>,
}

/// A job to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// The task.
    pub prompt: String,
    /// A title. `None`: Jules chooses one.
    pub title: Option<String>,
    /// The repository and the branch to start from; `None`: a job without a repository.
    pub source: Option<(RepositoryName, String)>,
    /// Whether Jules opens a pull request by itself.
    pub open_pull: bool,
    /// Whether it waits for approval of its plan.
    pub require_plan_approval: bool,
}

/// One page of jobs, in the order in which Jules lists them, or a page of each of several lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<AccountSession>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<String>,
    /// Whether it is a page of one list: then what is on the next one is older, as far as Jules lists the newest first.
    pub is_of_one_list: bool,
}

/// A repository on which the Jules App is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSource {
    /// The repository, as Jules writes it.
    pub repository: RepositoryName,
    /// Whether it is private.
    pub private: bool,
    /// Its default branch, if Jules shows it.
    pub default_branch: Option<String>,
    /// Its branches.
    pub branches: Vec<String>,
}

/// One page of sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourcePage {
    /// The sources on GitHub; others are left out.
    pub sources: Vec<JobSource>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<String>,
}

/// An account of Jules.
#[async_trait]
pub trait SessionsApi: Send + Sync {
    /// Creates a job. Sends exactly one request.
    async fn create_job(&self, new: NewJob) -> Result<AccountSession, CreateFailure>;

    /// Reads a job; `None` if Jules does not know it.
    async fn read_job(&self, id: &str) -> Result<Option<AccountSession>, Failure>;

    /// Reads a page of jobs of all repositories: either the archived jobs or the others. With several accounts it is a
    /// page of each, or of the account that a repository's jobs are created with.
    async fn list_jobs(
        &self,
        account_of: Option<&RepositoryName>,
        page: Option<&str>,
        archived: bool,
    ) -> Result<JobPage, Failure>;

    /// Reads all activities of a job, oldest first. `None`: Jules does not show them (yet).
    async fn read_job_activities(&self, id: &str) -> Result<Option<Vec<JobActivity>>, Failure>;

    /// Sends a message to a job. Sends exactly one request.
    async fn send_message(&self, id: &str, text: &str) -> Result<(), Failure>;

    /// Approves a job's plan.
    async fn approve_job_plan(&self, id: &str) -> Result<(), Failure>;

    /// Archives a job; a running one is paused.
    async fn archive_job(&self, id: &str) -> Result<(), Failure>;

    /// Reads a page of the repositories that Jules may work on, of the same accounts.
    async fn list_sources(
        &self,
        account_of: Option<&RepositoryName>,
        page: Option<&str>,
    ) -> Result<SourcePage, Failure>;
}
