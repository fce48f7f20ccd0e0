//! What is read of a pull request right before it is merged.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::pull::{Checks, PullState};
use super::subject::Actor;
use crate::model::{BranchName, Oid};

/// A pull request, as it stands right before it is merged.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeFacts {
    /// Open, closed or merged.
    pub state: PullState,
    /// Whether it is a draft.
    pub draft: bool,
    /// The commit on its branch.
    pub head: Oid,
    /// When that commit was made, by what it says itself.
    pub committed_at: Option<Timestamp>,
    /// Whether the branch lives in this repository, not in a fork.
    pub same_repository: bool,
    /// Where it wants to go.
    pub base: BranchName,
    /// The words behind [`LABEL_PREFIX`](crate::engine::LABEL_PREFIX) of the labels of ours that it bears, in lower case.
    pub labels: BTreeSet<String>,
    /// The verdict of the checks of that very commit; none where they are hidden from us.
    pub checks: Checks,
    /// Whether GitHub would merge it.
    pub stands: MergeStands,
    /// What the rules of its base say about its reviews.
    pub demand: ReviewDemand,
    /// The newest opinion of each reviewer; `None` where there are more than are read.
    pub opinions: Option<Vec<Opinion>>,
    /// Every path that it touches, the former ones of what it renames among them; `None` where there are more than are
    /// read. Untrusted text.
    pub files: Option<Vec<String>>,
    /// How this repository lets it be merged; `None` where it lets nobody.
    pub method: Option<MergeMethod>,
}

/// Whether GitHub would merge a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MergeStands {
    /// It has not worked that out yet.
    #[default]
    Unknown,
    /// It would.
    Yes,
    /// Not before its base is merged into it: the base's rules demand that.
    Behind,
    /// It conflicts with its base.
    Conflicting,
    /// The base's rules forbid it.
    Blocked,
}

/// What the rules of a branch say about the reviews of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReviewDemand {
    /// Nothing, or they are content.
    #[default]
    Met,
    /// More reviews are needed.
    Missing,
    /// Somebody whose word counts asks for changes.
    ChangesAsked,
}

/// What a reviewer thinks of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// Who; `None` when the account is gone.
    pub actor: Option<Actor>,
    /// Whether it approves; otherwise it asks for changes.
    pub approves: bool,
    /// The commit that was looked at, where GitHub still knows it.
    pub commit: Option<Oid>,
}

/// How a pull request becomes part of its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeMethod {
    /// As one commit.
    Squash,
    /// By a commit with two parents.
    Merge,
    /// Its commits one by one.
    Rebase,
}

impl MergeMethod {
    /// GitHub's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Squash => "squash",
            Self::Merge => "merge",
            Self::Rebase => "rebase",
        }
    }
}
