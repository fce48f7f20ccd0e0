//! The interface by which tools use phileas on a repository.

use phileas_domain::engine::{MergeFacts, MergeMethod, RunRequest, Snapshot};
use phileas_domain::model::{Oid, PullNumber, RepositoryName};

use super::tool_error::ToolError;
use crate::runtime::TickReport;
use crate::runtime::ports::sessions_api::BoxedAnswer;

/// phileas for a repository. The program that starts the server provides credentials and addresses.
pub trait PhileasApi: Send + Sync {
    /// Decides as a tick does, and returns the report and its facts. Writes nothing.
    fn explain_repository<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: RunRequest,
    ) -> BoxedAnswer<'a, Result<(TickReport, Box<Snapshot>), ToolError>>;

    /// Runs one tick.
    fn run<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: RunRequest,
    ) -> BoxedAnswer<'a, Result<TickReport, ToolError>>;

    /// Reads the ledger's state file; `None` if there is none.
    fn read_state<'a>(
        &'a self,
        repository: &'a RepositoryName,
    ) -> BoxedAnswer<'a, Result<Option<String>, ToolError>>;

    /// Reads a text file of the default branch; `None` if it does not exist or is no text.
    fn read_text<'a>(
        &'a self,
        repository: &'a RepositoryName,
        path: &'a str,
    ) -> BoxedAnswer<'a, Result<Option<String>, ToolError>>;

    /// Reads all facts that decide whether a pull request may be merged; `None` if it does not
    /// exist.
    fn merge_facts<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
    ) -> BoxedAnswer<'a, Result<Option<MergeFacts>, ToolError>>;

    /// Merges a pull request if this commit is still its newest. Sends exactly one request.
    fn merge_pull<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
        head: &'a Oid,
        method: MergeMethod,
    ) -> BoxedAnswer<'a, Result<(), ToolError>>;
}
