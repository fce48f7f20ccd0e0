//! Creates the branch with its first commit: a commit without parents, and a ref that only one process can create.

use phileas_domain::model::Oid;

use super::limits::{LOOK_BACK, LOOKS, MAX_SWAPS, settled};
use super::remote::{Remote, Swap};
use crate::runtime::ports::{Commit, CommitError, Failure};

/// What the branch shows about its creation.
enum Sight {
    /// Our commit is its head, or its root.
    Ours,
    /// Another process created the branch.
    Others,
    /// There is no branch.
    Nothing,
}

pub(super) async fn give_birth(remote: &impl Remote, commit: &Commit) -> Result<Oid, CommitError> {
    let orphan = remote.write_orphan(commit).await.map_err(settled)?;
    let mut last = None;
    for _ in 0..MAX_SWAPS {
        let (refused, failure) = match remote.create_branch(&orphan).await {
            Swap::Done(oid) => return Ok(oid),
            // After an attempt with an unknown result, a refusal may mean that it succeeded.
            Swap::Failed(failure) if last.is_none() => return Err(settled(failure).into()),
            Swap::Stale => (true, None),
            Swap::Failed(failure) | Swap::Doubtful(failure) => (false, Some(failure)),
        };
        match look(remote, &orphan).await {
            Ok(Sight::Ours) => return Ok(orphan),
            Ok(Sight::Others) => return Err(CommitError::Stale),
            Ok(Sight::Nothing) | Err(_) if refused => return Err(CommitError::Stale),
            Ok(Sight::Nothing) => last = failure,
            Err(blind) => return Err(settled(failure.unwrap_or(blind)).into()),
        }
    }
    Err(last.map_or(CommitError::Stale, |failure| settled(failure).into()))
}

async fn look(remote: &impl Remote, orphan: &Oid) -> Result<Sight, Failure> {
    let mut last = Ok(Sight::Nothing);
    for wait in LOOKS {
        if !wait.is_zero() {
            remote.pause(wait).await;
        }
        last = walk(remote, orphan).await;
        if matches!(last, Ok(Sight::Ours | Sight::Others)) {
            break;
        }
    }
    last
}

async fn walk(remote: &impl Remote, orphan: &Oid) -> Result<Sight, Failure> {
    let Some(mut at) = remote.head().await? else {
        return Ok(Sight::Nothing);
    };
    for _ in 0..LOOK_BACK {
        if at == *orphan {
            return Ok(Sight::Ours);
        }
        let parent = remote
            .recorded(&at)
            .await?
            .and_then(|found| found.parents.into_iter().next());
        match parent {
            Some(parent) => at = parent,
            None => break,
        }
    }
    Ok(Sight::Others)
}
