//! Pull requests with their checks, reviews and remarks.

use jiff::Timestamp;

use super::subject::Actor;
use crate::model::{BranchName, Login, Oid, PullNumber};
use crate::prompt::OpenPull;

/// The combined result of a commit's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checks {
    /// There are none, or none has passed or failed.
    #[default]
    None,
    /// Some are still running.
    Pending,
    /// All passed.
    Passed,
    /// At least one failed.
    Failed,
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
    /// Its author; a hint only, because Jules opens some as the connected person.
    pub author: Login,
    /// GitHub's number of its author's account, where that is a bot.
    pub bot_id: Option<u64>,
    /// Its branch.
    pub head: BranchName,
    /// Its head commit.
    pub head_oid: Oid,
    /// Whether the branch is in this repository, not in a fork.
    pub same_repository: bool,
    /// Its base branch.
    pub base: BranchName,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was closed or merged.
    pub closed_at: Option<Timestamp>,
    /// Whether a person has reviewed it.
    pub reviewed: bool,
    /// The result of the checks of its head commit; none where phileas cannot see them.
    pub checks: Checks,
    /// Whether it can be merged into its base now.
    pub mergeable: Mergeable,
}

impl Pull {
    /// As a prompt shows it.
    pub(crate) fn to_prompt(&self) -> OpenPull {
        OpenPull {
            number: self.number,
            title: self.title.clone(),
            author: self.author.to_string(),
            head: self.head.to_string(),
            draft: self.draft,
        }
    }
}

/// Whether a pull request can be merged into its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mergeable {
    /// GitHub has not computed it yet; reading it starts the computation.
    #[default]
    Unknown,
    /// It can, as far as its base is concerned.
    Yes,
    /// Its base has new commits, and the branch protection requires them.
    Behind,
    /// It conflicts with its base.
    Conflicting,
}

/// The failed checks of a commit. All texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedChecks {
    /// Whether this credential cannot read them.
    pub hidden: bool,
    /// The commit's own date.
    pub committed_at: Option<Timestamp>,
    /// Whether Jules' own account committed it. Jules may also commit as the connected user.
    pub by_jules: bool,
    /// When the last failed check ended.
    pub failed_at: Option<Timestamp>,
    /// How many are still running.
    pub running: usize,
    /// The failed ones.
    pub failed: Vec<FailedCheck>,
}

/// A failed check. All texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedCheck {
    /// Its name.
    pub name: String,
    /// Its conclusion, as GitHub names it.
    pub conclusion: String,
    /// Its title, summary and description.
    pub summary: String,
    /// Its annotations: `path:line: message`.
    pub annotations: Vec<String>,
    /// The end of its log, where the credential may read it.
    pub log: String,
    /// Whether it has a log that this credential may not read.
    pub log_hidden: bool,
}

/// The open reviews of a pull request: unresolved threads on its lines, and reviews that request changes. Any account
/// may have written them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviews {
    /// Its head commit when they were read.
    pub head: Oid,
    /// That commit's own date.
    pub committed_at: Option<Timestamp>,
    /// Whether Jules' own account committed it.
    pub by_jules: bool,
    /// Each thread and each review, newest first.
    pub remarks: Vec<ReviewThread>,
    /// Whether there are more than were read.
    pub more: bool,
}

/// A thread on a line, or a review as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewThread {
    /// The location: `path:line`, or `path` where the line is gone; `None`: the whole pull request. Untrusted text.
    pub place: Option<String>,
    /// Its comments, oldest first.
    pub said: Vec<ReviewComment>,
}

/// One comment of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewComment {
    /// Who; `None` when the account is gone.
    pub author: Option<Actor>,
    /// The text, untrusted.
    pub text: String,
}

/// A file of a pull request, as GitHub lists it. All texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullFile {
    /// Its path afterwards.
    pub path: String,
    /// Lines that are added.
    pub added: u64,
    /// Lines that are removed.
    pub removed: u64,
    /// Its hunks; `None` where the file is binary, only renamed, or too large.
    pub patch: Option<String>,
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

/// A comment of a person on a pull request. The text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Who.
    pub actor: Actor,
    /// Whether GitHub calls the account an owner, member or collaborator. A hint that decides whose permission is read
    /// first.
    pub belongs: bool,
    /// When.
    pub at: Option<Timestamp>,
    /// The file that it is about.
    pub path: Option<String>,
    /// What.
    pub text: String,
}
