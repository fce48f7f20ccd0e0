//! The state of a repository besides its git objects.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::account::Role;
use super::hook::Hook;
use super::object::Oid;
use super::repo_id::RepoId;

/// A repository. Cloning it is cheap: its threads and comments are shared.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The number.
    pub id: RepoId,
    /// The owner's account.
    pub owner: u64,
    /// The name without the owner.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// Whether only collaborators see it.
    pub private: bool,
    /// Whether it is read-only.
    pub archived: bool,
    /// The default branch's name.
    pub default_branch: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its settings last changed.
    pub updated_at: Timestamp,
    /// When it was last pushed to.
    pub pushed_at: Timestamp,
    /// The newest pushes, oldest first.
    pub pushes: VecDeque<Push>,
    /// References by their full names (`refs/heads/main`).
    pub refs: BTreeMap<String, Oid>,
    /// Labels by their names in lower case.
    pub labels: BTreeMap<String, Label>,
    /// Issues by their numbers.
    pub issues: BTreeMap<u64, Arc<Issue>>,
    /// Pull requests by their numbers.
    pub pulls: BTreeMap<u64, Arc<Pull>>,
    /// Comments of issues and pull requests by their ids.
    pub comments: BTreeMap<u64, Arc<Comment>>,
    /// Roles of people by account; the owner is an admin without an entry.
    pub collaborators: BTreeMap<u64, Role>,
    /// Variables of Actions by their names in capitals.
    pub variables: BTreeMap<String, Variable>,
    /// Repository webhooks.
    pub hooks: BTreeMap<u64, Hook>,
    /// Releases, oldest first.
    pub releases: Vec<Release>,
    /// Check runs, oldest first.
    pub checks: Vec<CheckRun>,
    /// Commit statuses, oldest first.
    pub statuses: Vec<Status>,
    /// Workflows of Actions.
    pub workflows: Vec<Workflow>,
    /// Workflow runs, oldest first.
    pub runs: Vec<WorkflowRun>,
    /// Active rules of rulesets (`type` and `parameters`), by the branch or the pattern that they hold for.
    pub rules: BTreeMap<String, Vec<serde_json::Value>>,
    /// Whether there are issues.
    pub has_issues: bool,
    /// Whether only collaborators may open pull requests (`pull_request_creation_policy`).
    pub pulls_by_collaborators: bool,
    /// Older protections of branches, as REST shows them to administrators, by branch.
    pub protections: BTreeMap<String, serde_json::Value>,
    /// The number of the next issue or pull request.
    pub next_number: u64,
}

/// How many pushes are remembered.
const MAX_PUSHES: usize = 200;

/// A change of a reference, as the activity of a repository shows it.
#[derive(Debug, Clone)]
pub struct Push {
    /// Which reference, by its full name.
    pub name: String,
    /// The commit before; zero where the reference was made.
    pub before: Oid,
    /// The commit after.
    pub after: Oid,
    /// Whether it was no fast-forward.
    pub forced: bool,
    /// Who did it.
    pub actor: u64,
    /// When.
    pub at: Timestamp,
}

impl Repository {
    /// Remembers a push.
    pub(crate) fn note_push(&mut self, push: Push) {
        self.pushed_at = push.at;
        self.pushes.push_back(push);
        if self.pushes.len() > MAX_PUSHES {
            self.pushes.pop_front();
        }
    }

    /// The newest commit of the branch that a pull request leads to, which may have moved since the last push to it.
    pub(crate) fn base_now(&self, pull: &Pull) -> Oid {
        self.branch(&pull.base.branch).unwrap_or(pull.base.oid)
    }

    /// The commit at a branch's head.
    #[must_use]
    pub fn branch(&self, name: &str) -> Option<Oid> {
        self.refs.get(&format!("refs/heads/{name}")).copied()
    }

    /// The reference that conflicts with one of this name, because git cannot use a name as a
    /// reference and as a folder.
    #[must_use]
    pub fn blocking_ref(&self, name: &str) -> Option<&str> {
        let folders = name.match_indices('/').map(|(end, _)| &name[..end]);
        let above = folders
            .filter_map(|folder| self.refs.get_key_value(folder))
            .map(|(known, _)| known.as_str())
            .next();
        above.or_else(|| {
            let inside = format!("{name}/");
            let (first, _) = self.refs.range(inside.clone()..).next()?;
            first.starts_with(&inside).then_some(first.as_str())
        })
    }

    /// Names and heads of all branches.
    pub fn branches(&self) -> impl Iterator<Item = (&str, Oid)> {
        self.refs
            .iter()
            .filter_map(|(name, oid)| Some((name.strip_prefix("refs/heads/")?, *oid)))
    }

    /// The thread of an issue or pull request, by number.
    #[must_use]
    pub fn thread(&self, number: u64) -> Option<&Thread> {
        match self.issues.get(&number) {
            Some(issue) => Some(&issue.thread),
            None => self.pulls.get(&number).map(|pull| &pull.thread),
        }
    }

    pub(crate) fn thread_mut(&mut self, number: u64) -> Option<&mut Thread> {
        match self.issues.get_mut(&number) {
            Some(issue) => Some(&mut Arc::make_mut(issue).thread),
            None => self
                .pulls
                .get_mut(&number)
                .map(|pull| &mut Arc::make_mut(pull).thread),
        }
    }
}

/// A label of a repository.
#[derive(Debug, Clone)]
pub struct Label {
    /// The number.
    pub id: u64,
    /// The name as it is shown.
    pub name: String,
    /// Six hexadecimal digits.
    pub color: String,
    /// The description.
    pub description: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Whether an issue or pull request is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Open.
    Open,
    /// Closed; a merged pull request is closed too.
    Closed,
}

/// One earlier text of a body.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The edit's number.
    pub id: u64,
    /// The editor's account.
    pub editor: u64,
    /// When.
    pub at: Timestamp,
    /// The text before the edit.
    pub text: String,
}

/// A reaction.
#[derive(Debug, Clone)]
pub struct Reaction {
    /// The number.
    pub id: u64,
    /// Who reacted.
    pub account: u64,
    /// `+1`, `-1`, `laugh`, `confused`, `heart`, `hooray`, `rocket` or `eyes`.
    pub content: String,
    /// When.
    pub at: Timestamp,
}

/// The fields that issues and pull requests share.
#[derive(Debug, Clone)]
pub struct Thread {
    /// The number that API objects bear.
    pub id: u64,
    /// The number in the repository.
    pub number: u64,
    /// The title.
    pub title: String,
    /// The text.
    pub body: Option<String>,
    /// The author's account.
    pub author: u64,
    /// The author's login at the time of opening.
    pub author_login: String,
    /// Open or closed.
    pub state: State,
    /// Whether only collaborators with write access may take part.
    pub locked: bool,
    /// `completed`, `not_planned` or `reopened`.
    pub state_reason: Option<String>,
    /// Names of labels, in lower case, in the order in which they were put on.
    pub labels: Vec<String>,
    /// Assigned accounts.
    pub assignees: Vec<u64>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
    /// When it was closed, if it is.
    pub closed_at: Option<Timestamp>,
    /// Edits of the body, oldest first.
    pub edits: Vec<Edit>,
    /// When body was last edited.
    pub last_edited_at: Option<Timestamp>,
    /// What happened, oldest first.
    pub timeline: Vec<TimelineEvent>,
    /// Ids of its comments, oldest first.
    pub comments: Vec<u64>,
    /// Reactions.
    pub reactions: Vec<Reaction>,
}

/// An issue.
#[derive(Debug, Clone)]
pub struct Issue {
    /// The fields that it shares with pull requests.
    pub thread: Thread,
}

impl Deref for Issue {
    type Target = Thread;

    fn deref(&self) -> &Thread {
        &self.thread
    }
}

/// One event of a timeline.
#[derive(Debug, Clone)]
pub struct TimelineEvent {
    /// The number.
    pub id: u64,
    /// The actor's account.
    pub actor: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: TimelineKind,
}

/// The kinds of timeline events.
#[derive(Debug, Clone, PartialEq)]
pub enum TimelineKind {
    /// A label was put on.
    Labeled(LabelSnapshot),
    /// A label was taken off.
    Unlabeled(LabelSnapshot),
    /// The title changed.
    Renamed {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// Closed.
    Closed,
    /// Reopened.
    Reopened,
    /// Merged into its base as this commit.
    Merged(Oid),
    /// A comment was written.
    Commented(u64),
    /// A review was submitted.
    Reviewed(u64),
    /// Commits were pushed up to this one.
    Committed(Oid),
    /// The branch was moved to a commit that does not descend from the one before.
    ForcePushed(Oid, Oid),
    /// A draft became ready.
    ReadyForReview,
    /// It became a draft.
    ConvertedToDraft,
    /// The base branch changed.
    BaseChanged,
    /// A review was asked of this account.
    ReviewRequested(u64),
}

/// A label as it was when it was put on or taken off.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelSnapshot {
    /// The number.
    pub id: u64,
    /// The name.
    pub name: String,
    /// The colour.
    pub color: String,
}

/// A comment on an issue or pull request.
#[derive(Debug, Clone)]
pub struct Comment {
    /// The number that API objects bear.
    pub id: u64,
    /// The issue or pull request.
    pub number: u64,
    /// The text.
    pub body: String,
    /// The author's account.
    pub author: u64,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Edits, oldest first.
    pub edits: Vec<Edit>,
    /// Reactions.
    pub reactions: Vec<Reaction>,
    /// Whether it was hidden.
    pub minimized: bool,
}

/// One side of a pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The branch.
    pub branch: String,
    /// The commit: the branch's head while the pull request is open, then the last one known.
    pub oid: Oid,
}

/// How a pull request was merged.
#[derive(Debug, Clone)]
pub struct Merge {
    /// When.
    pub at: Timestamp,
    /// The account that merged it.
    pub by: u64,
    /// The commit on the base branch.
    pub commit: Oid,
}

/// The verdict of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Approved.
    Approve,
    /// Changes are asked for.
    RequestChanges,
    /// A comment alone.
    Comment,
}

impl Verdict {
    /// The value of a review's `state`.
    #[must_use]
    pub fn review_state(self) -> &'static str {
        match self {
            Self::Approve => "APPROVED",
            Self::RequestChanges => "CHANGES_REQUESTED",
            Self::Comment => "COMMENTED",
        }
    }
}

/// A review of a pull request.
#[derive(Debug, Clone)]
pub struct Review {
    /// The number.
    pub id: u64,
    /// The reviewer's account.
    pub author: u64,
    /// The text.
    pub body: String,
    /// What it says.
    pub verdict: Verdict,
    /// Whether it was dismissed.
    pub dismissed: bool,
    /// Whether it was hidden.
    pub minimized: bool,
    /// The commit that was reviewed.
    pub commit: Oid,
    /// When.
    pub at: Timestamp,
}

/// A comment on a line of a pull request.
#[derive(Debug, Clone)]
pub struct ReviewComment {
    /// The number.
    pub id: u64,
    /// The review that it belongs to.
    pub review: u64,
    /// The author's account.
    pub author: u64,
    /// The text.
    pub body: String,
    /// The file.
    pub path: String,
    /// The line.
    pub line: Option<u64>,
    /// The commit.
    pub commit: Oid,
    /// The comment that it answers.
    pub in_reply_to: Option<u64>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A pull request between two branches of one repository.
#[derive(Debug, Clone)]
pub struct Pull {
    /// The fields that it shares with issues.
    pub thread: Thread,
    /// Where the change is.
    pub head: Side,
    /// Where it should go.
    pub base: Side,
    /// Whether it is a draft.
    pub draft: bool,
    /// Set when it was merged.
    pub merged: Option<Merge>,
    /// Reviews, oldest first.
    pub reviews: Vec<Review>,
    /// Comments on lines, oldest first.
    pub review_comments: Vec<ReviewComment>,
    /// The first comments of resolved threads.
    pub resolved: BTreeSet<u64>,
    /// Accounts whose review was asked for.
    pub requested_reviewers: Vec<u64>,
    /// The merge method, if GitHub merges it automatically once its conditions hold.
    pub auto_merge: Option<String>,
    /// How many reads have seen `mergeable` unknown since head or base moved.
    pub mergeable_reads: u32,
}

impl Deref for Pull {
    type Target = Thread;

    fn deref(&self) -> &Thread {
        &self.thread
    }
}

impl DerefMut for Pull {
    fn deref_mut(&mut self) -> &mut Thread {
        &mut self.thread
    }
}

/// The data of a pull request to open.
#[derive(Debug, Clone, Default)]
pub struct NewPull {
    /// The title.
    pub title: String,
    /// The text.
    pub body: String,
    /// The branch with the change.
    pub head: String,
    /// The branch where it should go.
    pub base: String,
    /// Whether it is a draft.
    pub draft: bool,
    /// The author's login.
    pub author: String,
}

/// A variable of Actions.
#[derive(Debug, Clone)]
pub struct Variable {
    /// The value.
    pub value: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A release.
#[derive(Debug, Clone)]
pub struct Release {
    /// The number.
    pub id: u64,
    /// The tag.
    pub tag: String,
    /// The title.
    pub name: String,
    /// The text.
    pub body: String,
    /// Whether it is a draft.
    pub draft: bool,
    /// Whether it is a pre-release.
    pub prerelease: bool,
    /// The author's account.
    pub author: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its files: number, name, content.
    pub assets: Vec<(u64, String, bytes::Bytes)>,
}

/// A check run on a commit.
#[derive(Debug, Clone)]
pub struct CheckRun {
    /// The number.
    pub id: u64,
    /// The suite's number.
    pub suite: u64,
    /// The App that reports it.
    pub app: String,
    /// The name.
    pub name: String,
    /// The commit.
    pub commit: Oid,
    /// `success`, `failure`, … once completed.
    pub conclusion: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// What it says of itself.
    pub output: CheckOutput,
}

/// The output of a check run.
#[derive(Debug, Clone, Default)]
pub struct CheckOutput {
    /// One line.
    pub title: Option<String>,
    /// A text.
    pub summary: Option<String>,
    /// Remarks on single lines.
    pub annotations: Vec<CheckRemark>,
    /// The log of the job, for a check run of GitHub Actions.
    pub log: Option<String>,
}

/// An annotation of a check run on one line.
#[derive(Debug, Clone)]
pub struct CheckRemark {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The text.
    pub message: String,
}

/// A status of a commit.
#[derive(Debug, Clone)]
pub struct Status {
    /// The number.
    pub id: u64,
    /// The commit.
    pub commit: Oid,
    /// `error`, `failure`, `pending` or `success`.
    pub state: String,
    /// What reports it.
    pub context: String,
    /// A short text.
    pub description: Option<String>,
    /// A link.
    pub target_url: Option<String>,
    /// The creator's account.
    pub creator: u64,
    /// When.
    pub at: Timestamp,
}

/// A workflow of Actions.
#[derive(Debug, Clone)]
pub struct Workflow {
    /// The number.
    pub id: u64,
    /// The name.
    pub name: String,
    /// The file's path.
    pub path: String,
    /// `active`, `disabled_manually` or `disabled_inactivity`.
    pub state: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A run of a workflow.
#[derive(Debug, Clone)]
pub struct WorkflowRun {
    /// The number.
    pub id: u64,
    /// The workflow.
    pub workflow: u64,
    /// The event that started it.
    pub event: String,
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: Oid,
    /// `queued`, `in_progress` or `completed`.
    pub status: String,
    /// `success`, `failure`, … once completed.
    pub conclusion: Option<String>,
    /// Who started it.
    pub actor: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The log's text.
    pub log: String,
}
