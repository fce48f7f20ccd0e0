//! Pull requests with their checks, reviews and remarks.

use jiff::Timestamp;

use super::subject::Actor;
use crate::model::{BranchName, Login, Oid, PullNumber};

/// The verdict of all checks of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checks {
    /// There are none, or none that has passed or failed.
    #[default]
    None,
    /// Some are still running.
    Pending,
    /// All passed.
    Green,
    /// At least one failed.
    Red,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct Pull {
    /// Its number.
    pub number: PullNumber,
    /// Open, closed or merged.
    pub state: PullState,
    /// Whether it is a draft.
    pub draft: bool,
    /// Its title: untrusted text.
    pub title: String,
    /// Its description: untrusted text.
    pub body: String,
    /// Who opened it; a hint only (Jules opens some as the connected person).
    pub author: Login,
    /// Its branch.
    pub head: BranchName,
    /// The commit on it.
    pub head_oid: Oid,
    /// Whether the branch lives in this repository, not in a fork.
    pub same_repository: bool,
    /// Where it wants to go.
    pub base: BranchName,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was closed or merged.
    pub closed_at: Option<Timestamp>,
    /// Whether a person has reviewed it.
    pub reviewed: bool,
    /// The verdict of the checks of the commit on its branch; none where they are hidden from us.
    pub checks: Checks,
    /// Whether it can be merged into its base as it stands.
    pub mergeable: Mergeable,
}

/// Whether a pull request can be merged into its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mergeable {
    /// GitHub has not worked it out yet; asking makes it begin.
    #[default]
    Unknown,
    /// It can, as far as its base is concerned.
    Yes,
    /// Its base has moved on, and the branch's protection demands that it is merged first.
    Behind,
    /// It conflicts with its base.
    Conflicting,
}

/// The checks of a commit, one by one. All texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedChecks {
    /// They cannot be read with this credential.
    pub hidden: bool,
    /// When the commit was made, by what it says itself.
    pub committed_at: Option<Timestamp>,
    /// Whether Jules' own account committed it. An account may be set up so that Jules commits as its user.
    pub by_jules: bool,
    /// When the last of those that failed ended.
    pub failed_at: Option<Timestamp>,
    /// How many have not ended yet.
    pub running: usize,
    /// Those that ended badly.
    pub failed: Vec<FailedCheck>,
}

/// A check that ended badly. All texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedCheck {
    /// Its name.
    pub name: String,
    /// How it ended, in GitHub's word.
    pub conclusion: String,
    /// What it says of itself: title, summary, description.
    pub summary: String,
    /// What it says of single lines: `path:line: message`.
    pub annotations: Vec<String>,
    /// The end of its log, where it has one that the token may read.
    pub log: String,
    /// It has a log, and this credential may not read it.
    pub log_hidden: bool,
}

/// What is still open of a pull request's reviews: threads on its lines that nobody has resolved, and reviews that ask
/// for changes. Anybody may have written them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviews {
    /// The commit on its branch when they were read.
    pub head: Oid,
    /// When that commit was made, by what it says itself.
    pub committed_at: Option<Timestamp>,
    /// Whether Jules' own account committed it.
    pub by_jules: bool,
    /// Each thread and each review, the newest first.
    pub remarks: Vec<ReviewThread>,
    /// Whether there are more than were read.
    pub more: bool,
}

/// A thread on a line, or a review as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewThread {
    /// What it is about: `path:line`, or `path` where the line is gone; `None` where it is the pull request as a whole.
    /// Untrusted text.
    pub place: Option<String>,
    /// What was said, oldest first.
    pub said: Vec<Saying>,
}

/// What one account said in a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// Who; `None` when the account is gone.
    pub author: Option<Actor>,
    /// What: untrusted text.
    pub text: String,
}

/// Whether a pull request is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullState {
    /// It is.
    Open,
    /// Closed without a merge.
    Closed,
    /// Merged.
    Merged,
}

/// What somebody said of a pull request. The text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Who.
    pub actor: Actor,
    /// Whether GitHub counts the account among the repository's own people. A hint, which says whom to ask about first:
    /// some of them may not write, and of some who may it is hidden.
    pub belongs: bool,
    /// When.
    pub at: Option<Timestamp>,
    /// The file that it is about.
    pub path: Option<String>,
    /// What.
    pub text: String,
}
