//! Creates the branch with its first commit: a commit without parents, and a ref that only one process can create.

use phileas_domain::model::Oid;

use super::limits::{CHECK_DELAYS, LOOK_BACK, MAX_SWAPS, resolve_unknown};
use super::remote::{Remote, Swap};
use crate::runtime::ports::{Commit, CommitError, Failure};

/// What the branch shows about its creation.
enum BranchCheck {
    /// Our commit is its head, or its root.
    Ours,
    /// Another process created the branch.
    Others,
    /// There is no branch.
    Nothing,
}

pub(super) async fn create_branch_with(
    remote: &impl Remote,
    commit: &Commit,
) -> Result<Oid, CommitError> {
    let orphan = remote.write_orphan(commit).await.map_err(resolve_unknown)?;
    let mut last = None;
    for _ in 0..MAX_SWAPS {
        let (refused, failure) = match remote.create_branch(&orphan).await {
            Swap::Done(oid) => return Ok(oid),
            // After an attempt with an unknown result, a refusal may mean that it succeeded.
            Swap::Failed(failure) if last.is_none() => return Err(resolve_unknown(failure).into()),
            Swap::Stale => (true, None),
            Swap::Failed(failure) | Swap::Unknown(failure) => (false, Some(failure)),
        };
        match check_branch(remote, &orphan).await {
            Ok(BranchCheck::Ours) => return Ok(orphan),
            Ok(BranchCheck::Others) => return Err(CommitError::Stale),
            Ok(BranchCheck::Nothing) | Err(_) if refused => return Err(CommitError::Stale),
            Ok(BranchCheck::Nothing) => last = failure,
            Err(blind) => return Err(resolve_unknown(failure.unwrap_or(blind)).into()),
        }
    }
    Err(last.map_or(CommitError::Stale, |failure| {
        resolve_unknown(failure).into()
    }))
}

async fn check_branch(remote: &impl Remote, orphan: &Oid) -> Result<BranchCheck, Failure> {
    let mut last = Ok(BranchCheck::Nothing);
    for wait in CHECK_DELAYS {
        if !wait.is_zero() {
            remote.pause(wait).await;
        }
        last = check_branch_once(remote, orphan).await;
        if matches!(last, Ok(BranchCheck::Ours | BranchCheck::Others)) {
            break;
        }
    }
    last
}

async fn check_branch_once(remote: &impl Remote, orphan: &Oid) -> Result<BranchCheck, Failure> {
    let Some(mut at) = remote.read_head().await? else {
        return Ok(BranchCheck::Nothing);
    };
    for _ in 0..LOOK_BACK {
        if at == *orphan {
            return Ok(BranchCheck::Ours);
        }
        let parent = remote
            .read_commit(&at)
            .await?
            .and_then(|found| found.parents.into_iter().next());
        match parent {
            Some(parent) => at = parent,
            None => break,
        }
    }
    Ok(BranchCheck::Others)
}
