//! Commits a state to the ledger branch.

use phileas_domain::model::Oid;
use phileas_domain::state::STATE_PATH;

use crate::adapters::github;
use crate::cli::context::run_identity;
use crate::cli::exit::{CliError, Exit};
use crate::runtime::commit_trailers;
use crate::runtime::ports::{Commit, CommitError, WriteGitHub as _};

/// Commits the state by compare-and-swap. Returns the new head.
pub(crate) async fn commit_state(
    github: &github::Client,
    base: Option<Oid>,
    headline: &str,
    text: String,
) -> Result<Oid, CliError> {
    let commit = Commit {
        base,
        headline: format!("phileas: {headline}"),
        body: commit_trailers(&run_identity::run_holder()?),
        files: [(STATE_PATH.to_owned(), Some(text))].into(),
    };
    match github.commit_ledger(&commit).await {
        Ok(head) => Ok(head),
        Err(CommitError::Stale) => Err(CliError {
            exit: Exit::Unavailable,
            message: "the branch jules moved meanwhile, so nothing was written; run it again"
                .to_owned(),
        }),
        Err(CommitError::Failed(failure)) => Err(failure.into()),
    }
}
