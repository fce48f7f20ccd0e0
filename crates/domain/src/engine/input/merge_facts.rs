//! The facts of a pull request that are read right before its merge.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::pull::{Checks, PullState};
use super::subject::Actor;
use crate::model::{BranchName, Oid};

/// A pull request right before its merge.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeFacts {
    /// Open, closed or merged.
    pub state: PullState,
    /// Whether it is a draft.
    pub draft: bool,
    /// The head of its branch.
    pub head: Oid,
    /// That commit's own date.
    pub committed_at: Option<Timestamp>,
    /// Whether the branch is in this repository, not in a fork.
    pub same_repository: bool,
    /// Its base branch.
    pub base: BranchName,
    /// Its phileas labels: the names after [`LABEL_PREFIX`](crate::engine::LABEL_PREFIX), in lower case.
    pub labels: BTreeSet<String>,
    /// The result of that commit's checks; none where phileas cannot see them.
    pub checks: Checks,
    /// Whether GitHub would merge it.
    pub status: MergeStatus,
    /// What the rules of its base require of reviews.
    pub demand: ReviewDemand,
    /// The newest opinion of each reviewer; `None`: there are more than phileas reads.
    pub opinions: Option<Vec<Opinion>>,
    /// Every path that it changes, former names of renamed files included; `None`: there are more than phileas reads.
    /// Untrusted text.
    pub files: Option<Vec<String>>,
    /// The merge method that the repository allows; `None`: it allows none.
    pub method: Option<MergeMethod>,
}

/// Whether GitHub would merge a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MergeStatus {
    /// GitHub has not computed it yet.
    #[default]
    Unknown,
    /// It would.
    Yes,
    /// Not before its base is merged into it, which the base's rules require.
    Behind,
    /// It conflicts with its base.
    Conflicting,
    /// The base's rules forbid it.
    Blocked,
}

/// What the rules of a base branch require of reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReviewDemand {
    /// Nothing more.
    #[default]
    Met,
    /// More reviews are needed.
    Missing,
    /// A reviewer whose review counts requests changes.
    ChangesAsked,
}

/// A reviewer's opinion of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// Who; `None` when the account is gone.
    pub actor: Option<Actor>,
    /// Whether it approves; otherwise it requests changes.
    pub approves: bool,
    /// The reviewed commit, where GitHub still knows it.
    pub commit: Option<Oid>,
}

/// How a pull request is merged.
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
    /// GitHub's name for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Squash => "squash",
            Self::Merge => "merge",
            Self::Rebase => "rebase",
        }
    }
}
