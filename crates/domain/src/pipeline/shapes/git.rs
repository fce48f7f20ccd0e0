//! The shape of `git-result.json`: the commits, the pull request and its checks.

use super::attempt::{COST_ESTIMATE, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::PHRASES;
use crate::exchange::shape::{Key, Kind};

pub(in super::super) static GIT: Kind = Kind::Open(&[
    Key::new("branch", Kind::Phrase, "The branch of the work."),
    Key::new("commit_sha", Kind::Phrase, "Its newest commit."),
    Key::new(
        "commit_message",
        Kind::Passage,
        "The message of that commit, with its body.",
    ),
    Key::new("pr_number", Kind::Count, "The number of the pull request.").or_null(),
    Key::new("pr_url", Kind::Phrase, "The address of the pull request.").or_null(),
    Key::new(
        "ci_status",
        Kind::Phrase,
        "What the checks said, such as pending, pass or fail.",
    )
    .or_null(),
    Key::new(
        "downstream_unblocked",
        PHRASES,
        "Issues that can begin now.",
    )
    .or_null(),
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    PRODUCED_BY,
]);
