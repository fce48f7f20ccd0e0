//! Commits a state to the ledger branch.

use phileas_domain::model::Oid;
use phileas_domain::state::STATE_PATH;

use crate::adapters::github;
use crate::cli::context::run_identity;
use crate::cli::exit::{Exit, Stopped};
use crate::runtime::ports::{Commit, CommitError, WriteGitHub as _};
use crate::runtime::signed;

/// Commits files to the ledger branch by compare-and-swap. Answers with the new head.
pub(crate) async fn commit(
    github: &github::Client,
    base: Option<Oid>,
    headline: &str,
    text: String,
) -> Result<Oid, Stopped> {
    let commit = Commit {
        base,
        headline: format!("phileas: {headline}"),
        body: signed(&run_identity::this_run()?),
        files: [(STATE_PATH.to_owned(), Some(text))].into(),
    };
    match github.commit(&commit).await {
        Ok(head) => Ok(head),
        Err(CommitError::Stale) => Err(Stopped {
            exit: Exit::Unavailable,
            message: "the branch jules moved meanwhile, so nothing was written; run it again"
                .to_owned(),
        }),
        Err(CommitError::Failed(failure)) => Err(failure.into()),
    }
}
