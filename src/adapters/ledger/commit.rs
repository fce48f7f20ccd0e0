//! Commits to the branch by compare-and-swap, and finds out whether the commit landed.

use phileas_domain::model::Oid;

use super::commit_check::{self, Trace};
use super::first_commit;
use super::limits::{MAX_SWAPS, resolve_unknown};
use super::remote::{Remote, Swap};
use crate::runtime::ports::{Commit, CommitError, Disposition, Failure};

/// Makes a commit and returns its id.
///
/// # Errors
///
/// [`CommitError::Stale`] if the branch has moved; [`CommitError::Failed`] if GitHub refuses or does not answer.
pub async fn commit(remote: &impl Remote, commit: &Commit) -> Result<Oid, CommitError> {
    let Some(base) = &commit.base else {
        return first_commit::create_branch_with(remote, commit).await;
    };
    let mut last = None;
    for _ in 0..MAX_SWAPS {
        let (refused, failure) = match remote.swap_head(base, commit).await {
            Swap::Done(oid) => return Ok(oid),
            // After an attempt with an unknown result, a refusal may mean that it landed.
            Swap::Failed(failure) if last.is_none() => return Err(resolve_unknown(failure).into()),
            Swap::Stale => (true, None),
            Swap::Failed(failure) | Swap::Unknown(failure) => (false, Some(failure)),
        };
        match commit_check::find_commit(remote, base, commit).await {
            Ok(Trace::Ours(oid)) => return Ok(oid),
            Ok(Trace::Others) => return Err(CommitError::Stale),
            // The refusal knows of a move that is not visible yet: there is nothing to repeat.
            Ok(Trace::Nothing) | Err(_) if refused => return Err(CommitError::Stale),
            Ok(Trace::Nothing) => last = failure,
            Err(blind) => return Err(resolve_unknown(failure.unwrap_or(blind)).into()),
        }
    }
    let failure = last.unwrap_or_else(|| Failure {
        disposition: Disposition::Retry { after: None },
        detail: "the commit is not visible (GitHub)".to_owned(),
    });
    Err(resolve_unknown(failure).into())
}
