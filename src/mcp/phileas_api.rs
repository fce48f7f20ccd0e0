//! The interface by which tools use phileas on a repository.

use async_trait::async_trait;
use phileas_domain::engine::{MergeFacts, MergeMethod, RunRequest, Snapshot};
use phileas_domain::model::{Oid, PullNumber, RepositoryName};

use super::tool_error::{ErrorCause, ToolError};
use crate::runtime::TickReport;

/// The report of a tick or of a forecast.
pub struct TickAnswer {
    /// What was decided, and what became of it.
    pub report: TickReport,
    /// What kept the tick from a part of its work, such as a mistake in the plan or a refused request.
    pub cause: Option<ErrorCause>,
}

/// phileas for a repository. The program that starts the server provides credentials and addresses.
#[async_trait]
pub trait PhileasApi: Send + Sync {
    /// Decides as a tick does, and returns the report and its facts. Writes nothing.
    async fn explain_repository(
        &self,
        repository: &RepositoryName,
        ask: RunRequest,
    ) -> Result<(TickAnswer, Box<Snapshot>), ToolError>;

    /// Runs one tick.
    async fn run(
        &self,
        repository: &RepositoryName,
        ask: RunRequest,
    ) -> Result<TickAnswer, ToolError>;

    /// Reads the ledger's state file; `None` if there is none.
    async fn read_state(&self, repository: &RepositoryName) -> Result<Option<String>, ToolError>;

    /// Reads a text file of the default branch; `None` if it does not exist or is no text.
    async fn read_text(
        &self,
        repository: &RepositoryName,
        path: &str,
    ) -> Result<Option<String>, ToolError>;

    /// Reads all facts that decide whether a pull request may be merged; `None` if it does not
    /// exist.
    async fn merge_facts(
        &self,
        repository: &RepositoryName,
        pull: PullNumber,
    ) -> Result<Option<MergeFacts>, ToolError>;

    /// Merges a pull request if this commit is still its newest. Sends exactly one request.
    async fn merge_pull(
        &self,
        repository: &RepositoryName,
        pull: PullNumber,
        head: &Oid,
        method: MergeMethod,
    ) -> Result<(), ToolError>;
}
