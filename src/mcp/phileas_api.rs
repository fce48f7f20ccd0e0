//! What phileas itself can be asked and told about a repository.

use phileas_domain::engine::{MergeFacts, MergeMethod, RunRequest, Snapshot};
use phileas_domain::model::{Oid, PullNumber, RepositoryName};

use super::tool_error::Trouble;
use crate::runtime::TickReport;
use crate::runtime::ports::sessions_api::Answer;

/// phileas for a repository. The program that starts the server knows credentials and addresses.
pub trait House: Send + Sync {
    /// What a tick would do, and the facts that it would decide by. Writes nothing.
    fn explain<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: RunRequest,
    ) -> Answer<'a, Result<(TickReport, Box<Snapshot>), Trouble>>;

    /// One tick.
    fn run<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: RunRequest,
    ) -> Answer<'a, Result<TickReport, Trouble>>;

    /// The ledger's state file as it stands; `None` where there is none.
    fn state<'a>(
        &'a self,
        repository: &'a RepositoryName,
    ) -> Answer<'a, Result<Option<String>, Trouble>>;

    /// The text of a file of the default branch; `None` where there is no such one, or it is no text.
    fn text<'a>(
        &'a self,
        repository: &'a RepositoryName,
        path: &'a str,
    ) -> Answer<'a, Result<Option<String>, Trouble>>;

    /// Everything that decides whether a pull request may be merged; `None` where there is no such one.
    fn merge_facts<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
    ) -> Answer<'a, Result<Option<MergeFacts>, Trouble>>;

    /// Merges a pull request if this commit is still its newest: exactly one request.
    fn merge<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
        head: &'a Oid,
        method: MergeMethod,
    ) -> Answer<'a, Result<(), Trouble>>;
}
