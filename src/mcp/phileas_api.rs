//! What phileas itself can be asked and told about a repository.

use phileas_domain::engine::{MergeFacts, MergeMethod, RunRequest, Snapshot};
use phileas_domain::model::{Oid, PullNumber, RepositoryName};

use super::tool_error::ToolError;
use crate::runtime::TickReport;
use crate::runtime::ports::sessions_api::BoxedAnswer;

/// phileas for a repository. The program that starts the server knows credentials and addresses.
pub trait PhileasApi: Send + Sync {
    /// What a tick would do, and the facts that it would decide by. Writes nothing.
    fn explain_repository<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: RunRequest,
    ) -> BoxedAnswer<'a, Result<(TickReport, Box<Snapshot>), ToolError>>;

    /// One tick.
    fn run<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: RunRequest,
    ) -> BoxedAnswer<'a, Result<TickReport, ToolError>>;

    /// The ledger's state file as it stands; `None` where there is none.
    fn read_state<'a>(
        &'a self,
        repository: &'a RepositoryName,
    ) -> BoxedAnswer<'a, Result<Option<String>, ToolError>>;

    /// The text of a file of the default branch; `None` where there is no such one, or it is no text.
    fn read_text<'a>(
        &'a self,
        repository: &'a RepositoryName,
        path: &'a str,
    ) -> BoxedAnswer<'a, Result<Option<String>, ToolError>>;

    /// Everything that decides whether a pull request may be merged; `None` where there is no such one.
    fn merge_facts<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
    ) -> BoxedAnswer<'a, Result<Option<MergeFacts>, ToolError>>;

    /// Merges a pull request if this commit is still its newest: exactly one request.
    fn merge_pull<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
        head: &'a Oid,
        method: MergeMethod,
    ) -> BoxedAnswer<'a, Result<(), ToolError>>;
}
