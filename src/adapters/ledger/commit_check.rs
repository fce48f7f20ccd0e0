//! Checks whether our commit is on the branch.

use std::collections::{BTreeMap, BTreeSet};

use phileas_domain::model::Oid;

use super::limits::{CHECK_DELAYS, LOOK_BACK};
use super::message::full_message;
use super::remote::{CommitFacts, Remote};
use crate::runtime::ports::{Commit, Failure};

/// What the branch shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// Our commit is on it.
    Ours(Oid),
    /// The branch has moved, but not to our commit.
    Others,
    /// The head has not moved.
    Nothing,
}

/// Checks until the branch has moved, or the last check is done.
pub(super) async fn find_commit(
    remote: &impl Remote,
    base: &Oid,
    commit: &Commit,
) -> Result<Trace, Failure> {
    let mut last = Ok(Trace::Nothing);
    for wait in CHECK_DELAYS {
        if !wait.is_zero() {
            remote.pause(wait).await;
        }
        last = find_commit_once(remote, base, commit).await;
        if matches!(last, Ok(Trace::Ours(_) | Trace::Others)) {
            break;
        }
    }
    last
}

/// Walks from the head to the commit on top of `base`.
async fn find_commit_once(
    remote: &impl Remote,
    base: &Oid,
    commit: &Commit,
) -> Result<Trace, Failure> {
    let Some(mut at) = remote.read_head().await? else {
        return Ok(Trace::Others);
    };
    if at == *base {
        return Ok(Trace::Nothing);
    }
    for _ in 0..LOOK_BACK {
        let Some(found) = remote.read_commit(&at).await? else {
            // The replica knows the head but not its commit: it lags.
            return Ok(Trace::Nothing);
        };
        let Some(parent) = found.parents.first().cloned() else {
            return Ok(Trace::Others);
        };
        if parent == *base {
            return Ok(if is_ours(remote, &at, &found, commit).await? {
                Trace::Ours(at)
            } else {
                Trace::Others
            });
        }
        at = parent;
    }
    Ok(Trace::Others)
}

async fn is_ours(
    remote: &impl Remote,
    at: &Oid,
    found: &CommitFacts,
    commit: &Commit,
) -> Result<bool, Failure> {
    if found.parents.len() != 1 || !same_message(&found.message, commit) {
        return Ok(false);
    }
    let paths: BTreeSet<String> = commit.files.keys().cloned().collect();
    let texts: BTreeMap<String, String> = remote.read_texts(at, &paths).await?;
    Ok(commit.files.iter().all(|(path, wanted)| {
        match (wanted, texts.get(path)) {
            (Some(wanted), Some(text)) => wanted == text,
            (None, Some(_)) => false,
            // Not shown whole, or removed: the message is enough.
            (_, None) => true,
        }
    }))
}

/// Git may add a final line break, and GitHub may append trailers.
fn same_message(found: &str, commit: &Commit) -> bool {
    let wanted = full_message(commit);
    found
        .trim_end()
        .strip_prefix(wanted.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_compared_whole() {
        let commit = Commit {
            base: None,
            headline: "phileas: intent".to_owned(),
            body: "Phileas-Holder: a\n".to_owned(),
            files: BTreeMap::new(),
        };
        for (found, same) in [
            ("phileas: intent\n\nPhileas-Holder: a", true),
            ("phileas: intent\n\nPhileas-Holder: a\n", true),
            (
                "phileas: intent\n\nPhileas-Holder: a\nCo-authored-by: x",
                true,
            ),
            ("phileas: intent\n\nPhileas-Holder: ab", false),
            ("phileas: intent\n\nPhileas-Holder: b", false),
            ("phileas: intent", false),
        ] {
            assert_eq!(same_message(found, &commit), same, "{found}");
        }
    }
}
