//! The message of a commit, as git keeps it.

use crate::runtime::ports::Commit;

/// A commit's whole message, as git keeps it.
#[must_use]
pub fn full_message(commit: &Commit) -> String {
    let body = commit.body.trim_end();
    if body.is_empty() {
        commit.headline.clone()
    } else {
        format!("{}\n\n{body}", commit.headline)
    }
}
