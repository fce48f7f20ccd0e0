//! All facts that a decision needs, gathered once.
//!
//! They may be stale by the time they are looked at: nothing outside git may be assumed from them, and git itself
//! is only written by compare-and-swap on [`Ledger::Present`]'s head.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Actor, Comment, Heard, ListingNeed, MergeFacts, Permission, Subject};
use crate::Diagnostic;
use crate::exchange::Changed;
use crate::model::{
    BranchName, Holder, Login, Oid, PersonaId, PullNumber, RepositoryId, RepositoryName, SessionId,
    TrackName, Tree,
};
use crate::plan::{Driver, EntryPoint, Plan};
use crate::state::State;

/// All facts that a decision needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// GitHub's time.
    pub now: Timestamp,
    /// Randomness, drawn once for this tick.
    pub entropy: [u8; 32],
    /// Who would hold what this tick decides.
    pub holder: Holder,
    /// Which way of running phileas this is.
    pub driver: Driver,
    /// The repository.
    pub repository: Repository,
    /// The branch `jules`.
    pub ledger: Ledger,
    /// What people asked for.
    pub plan: Plan,
    /// What is wrong with it.
    pub plan_diagnostics: Vec<Diagnostic>,
    /// The files that the plan came from, at one commit of the default branch.
    pub tree: Tree,
    /// Pull requests by number: the open ones, those that changed lately, and those that were asked for.
    pub pulls: BTreeMap<PullNumber, Pull>,
    /// Pull requests that were asked for and that GitHub does not have.
    pub missing_pulls: BTreeSet<PullNumber>,
    /// What Jules was asked for, as far as it answered.
    pub sessions: Listing,
    /// Activities of the sessions whose activities were asked for, oldest first.
    pub activities: BTreeMap<SessionId, Vec<Activity>>,
    /// Sessions that were asked for one by one and could not be read this time. They hold up no other.
    pub unread: BTreeMap<SessionId, Outage>,
    /// Sessions that were asked for by their id and that Jules does not have.
    pub missing_sessions: BTreeSet<SessionId>,
    /// Open issues that phileas itself opened.
    pub notices: Vec<Notice>,
    /// Open issues with the label `phileas` that call nobody: the dashboard is among them.
    pub dashboards: Vec<Dashboard>,
    /// The repository variable `PHILEAS_PAUSED`, when it is set to something other than an empty or false word.
    pub paused_by_variable: Option<String>,
    /// The open issue or pull request that carries the label `phileas:pause`.
    pub paused_by_label: Option<u64>,
    /// Open issues and pull requests with labels of ours: the words behind [`super::LABEL_PREFIX`], in lower case.
    pub labelled: BTreeMap<u64, BTreeSet<String>>,
    /// The newest comments on what was touched last, as far as they say something to phileas.
    pub comments: Vec<Comment>,
    /// How far back labels and comments reach.
    pub heard: Heard,
    /// Issues and pull requests that were asked for, by number; `None` where GitHub does not have it.
    pub subjects: BTreeMap<u64, Option<Subject>>,
    /// What the accounts that were asked for may do, by login.
    pub permissions: BTreeMap<Login, Permission>,
    /// Who we are to GitHub, where subjects were read.
    pub viewer: Option<Actor>,
    /// What is known of the checks of commits that were asked for; all of them ended red, or seemed so.
    pub red: BTreeMap<Oid, RedChecks>,
    /// Pull requests that were looked at once more before they are merged; `None` where GitHub does not have it.
    pub merges: BTreeMap<PullNumber, Option<MergeFacts>>,
    /// What people said of the pull requests that were asked for, in no order; of very much the first and the newest.
    pub remarks: BTreeMap<PullNumber, Vec<Remark>>,
    /// What is still open of the reviews of pull requests that were asked for; `None` where GitHub does not have it.
    pub reviews: BTreeMap<PullNumber, Option<Reviews>>,
    /// Sessions that were looked at by themselves, because no listing was needed.
    pub alone: BTreeMap<SessionId, Session>,
    /// What agents leave for one another on the default branch, beside journals.
    pub papers: Papers,
    /// The exchange, where it was asked for.
    pub exchange: Option<ExchangeRead>,
    /// Says of two ledgers whether their exchanges are the same: a digest of the folders' git ids. `None`: it is not known.
    pub exchange_id: Option<String>,
    /// Whether the files of layers are in [`Snapshot::tree`]; they are read only where a prompt is made of them.
    pub layers_read: bool,
    /// What sessions of layers wrote, of those that were asked for.
    pub written: BTreeMap<SessionId, Written>,
    /// The newest commits of the default branch, where they were asked for.
    pub commits: Option<Commits>,
    /// When the plan got its newest commit, where that was asked for.
    pub plan_commit: PlanCommit,
    /// When this process last finished a tick of the repository. The ledger alone says it of others.
    pub previous_tick: Option<Timestamp>,
    /// Prompts that were rendered, by the keys of their requests ([`Needs::prompts`](super::Needs::prompts)).
    pub prompts: BTreeMap<String, crate::prompt::RenderAnswer>,
    /// What a person asked this very run to do.
    pub ask: Ask,
}

/// When the files of the plan got their newest commit: as its committer dated it, or when it came to the default branch
/// where GitHub tells that this was later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanCommit {
    /// It was not asked for.
    #[default]
    Unread,
    /// It could not be read, or there is none.
    Unknown,
    /// Then.
    At(Timestamp),
}

/// What GitHub says of the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Repository {
    /// Its id.
    pub id: RepositoryId,
    /// Its present name; renames have been followed.
    pub name: RepositoryName,
    /// Whether everybody can read it, and with it the ledger.
    pub public: bool,
    /// Whether it is archived: nothing can be written.
    pub archived: bool,
    /// Its default branch.
    pub default_branch: BranchName,
    /// The head of the default branch; `None` in an empty repository.
    pub default_head: Option<Oid>,
    /// The verdict of the default branch's checks.
    pub default_checks: Checks,
}

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

/// The branch `jules` as it was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Ledger {
    /// There is no state file: the branch is missing (`head` is `None`), or holds other things only.
    Missing {
        /// The branch's head, where the branch exists.
        head: Option<Oid>,
    },
    /// It was read.
    Present {
        /// The head that it was read at; every write demands it.
        head: Oid,
        /// What it says.
        state: Box<State>,
    },
    /// There is a state file, and it cannot be trusted. It is never written over.
    Corrupt {
        /// The head that it was read at.
        head: Oid,
        /// What is wrong, and where.
        diagnostics: Vec<Diagnostic>,
    },
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

/// What Jules answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Listing {
    /// Nothing was asked.
    #[default]
    NotTaken,
    /// Jules did not answer, or not all of it.
    Failed(Outage),
    /// It answered.
    Taken(Sessions),
}

/// Why an outside system did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    /// One line, free of secrets.
    pub detail: String,
    /// When to ask again at the earliest.
    pub retry_at: Option<Timestamp>,
    /// Whether the credential was refused: asking again is useless until a person acts.
    pub credential: bool,
}

/// A listing of sessions. Sessions of other repositories were dropped, but for the count.
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    /// When the listing was begun.
    pub taken_at: Timestamp,
    /// Every session created since then is in it. `None`: every session there is.
    pub since: Option<Timestamp>,
    /// Whether archived sessions are in it.
    pub archived: bool,
    /// Sessions of this repository, oldest first.
    pub sessions: Vec<Session>,
    /// What the key has in use, over all repositories.
    pub key: KeyUse,
}

/// What a Jules key has in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyUse {
    /// Sessions that are not ended.
    pub active: u32,
    /// Sessions created in the last 24 hours, as far as the listing reaches.
    pub created_last_day: u32,
}

/// A Jules session.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Where it stands.
    pub state: SessionState,
    /// Its title; Jules may have changed it.
    pub title: String,
    /// Its prompt, where the listing shows it.
    pub prompt: Option<String>,
    /// The repository it works on. `None`: it works on none, or the listing does not say.
    pub source: Option<RepositoryName>,
    /// It names another repository, which may be a name of this one from before a rename, and the listing hides the prompt
    /// that would tell. It has no `source` then.
    pub elsewhere: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Whether it is archived.
    pub archived: bool,
    /// Pull requests that it says are its own, in this repository.
    pub pulls: Vec<PullNumber>,
    /// Whether it shows changes.
    pub has_changes: bool,
}

/// Where a session stands. What this program does not know counts as running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    /// Accepted.
    Queued,
    /// Making a plan.
    Planning,
    /// Its plan waits for approval.
    AwaitingPlanApproval,
    /// It asked something.
    AwaitingUserFeedback,
    /// At work.
    InProgress,
    /// Paused by a person, or archived while running.
    Paused,
    /// Ended; a message can reopen it.
    Completed,
    /// Ended for good.
    Failed,
    /// Anything else, as Jules wrote it.
    Unknown(String),
}

impl SessionState {
    /// The word that Jules has for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Queued => "QUEUED",
            Self::Planning => "PLANNING",
            Self::AwaitingPlanApproval => "AWAITING_PLAN_APPROVAL",
            Self::AwaitingUserFeedback => "AWAITING_USER_FEEDBACK",
            Self::InProgress => "IN_PROGRESS",
            Self::Paused => "PAUSED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Unknown(word) => word,
        }
    }

    /// Whether it takes up one of the key's places.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Completed | Self::Failed)
    }
}

/// One activity of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: ActivityKind,
    /// Whether it carries a change set.
    pub has_changes: bool,
}

/// A step of a session's plan. Both texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanStep {
    /// What is done.
    pub title: String,
    /// More of it; may be empty.
    pub description: String,
}

/// What an activity is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityKind {
    /// Jules said something: untrusted text.
    AgentMessaged(String),
    /// Somebody answered.
    UserMessaged(String),
    /// A plan was made, of these steps.
    PlanGenerated(Vec<PlanStep>),
    /// A plan was approved.
    PlanApproved,
    /// It moved.
    Progress,
    /// The session ended.
    Completed,
    /// The session failed, with Jules' reason.
    Failed(String),
    /// Anything else, by its key on the wire.
    Unknown(String),
}

/// An open issue that phileas opened to call a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The number.
    pub number: u64,
    /// What it is about: the text of [`super::NoticeKey`].
    pub key: String,
    /// Its title. A person who may edit the issue may have changed it.
    pub title: String,
}

/// An open issue that may be the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dashboard {
    /// The number.
    pub number: u64,
    /// Its text.
    pub body: String,
    /// When that was last edited.
    pub edited_at: Option<Timestamp>,
    /// Whether the account that phileas works as opened it.
    pub own: bool,
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

/// What agents leave for one another on the default branch, beside journals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Papers {
    /// The folders that are there: of tasks, of sprints.
    pub there: BTreeSet<String>,
    /// The folders in them that were asked for; what is in them is in [`Snapshot::tree`].
    pub read: BTreeSet<String>,
}

impl Papers {
    /// Those of some folders that may be there and were not read yet.
    pub(super) fn unread(&self, folders: Vec<String>) -> impl Iterator<Item = String> {
        let inside = |folder: &String| {
            let inside = |there: &String| folder.starts_with(&format!("{there}/"));
            self.there.iter().any(inside)
        };
        folders
            .into_iter()
            .filter(move |folder| inside(folder) && !self.read.contains(folder))
    }
}

/// The files that layers hand to one another, at one commit of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeRead {
    /// The ledger's head that they were read at. Where it has moved on since, they are read again.
    pub head: Oid,
    /// The files.
    pub tree: Tree,
}

/// What a session wrote, as whole files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The files.
    pub files: Vec<Changed>,
    /// What of its patch could not be read.
    pub found: Vec<Diagnostic>,
}

/// Commits of the default branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commits {
    /// What was asked for.
    pub span: CommitSpan,
    /// Whether they begin where it was asked for. A commit that is not there any more is no beginning: then these are the
    /// newest ones.
    pub whole: bool,
    /// How many there are.
    pub total: u64,
    /// The newest of them, newest first.
    pub newest: Vec<Commit>,
    /// Files that they touch, as far as GitHub lists them.
    pub files: Vec<String>,
    /// GitHub lists no more files than these, and there may be others.
    pub cut: bool,
    /// Lines that were added and removed, in the files that are listed.
    pub lines: (u64, u64),
}

/// Commits from one to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSpan {
    /// The one before the first; `None`: the newest ones, a limited number of them.
    pub after: Option<Oid>,
    /// The last one.
    pub until: Oid,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub oid: Oid,
    /// When it was committed, where it says so.
    pub at: Option<Timestamp>,
    /// The first line of its message: untrusted text.
    pub subject: String,
}

/// What a person asked this very run to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ask {
    /// Whatever is due.
    #[default]
    Due,
    /// This persona now, due or not; budgets of the repository are kept.
    Persona(PersonaId),
    /// This track only.
    Track(TrackName),
    /// A pass through the layers that begins here, now.
    Enter(EntryPoint),
    /// Every persona once, schedules ignored; budgets kept.
    All,
}

impl Sessions {
    /// Whether a session created at or after `instant` would be in this listing, archived or not.
    #[must_use]
    pub fn covers(&self, instant: Timestamp) -> bool {
        self.archived && self.since.is_none_or(|since| since <= instant)
    }

    /// What this listing is an answer to.
    pub(super) fn reach(&self) -> ListingNeed {
        match (self.since, self.archived) {
            (None, true) => ListingNeed::Everything,
            (Some(since), true) => ListingNeed::CompleteSince(since),
            (since, false) => ListingNeed::Since(since.unwrap_or(Timestamp::MIN)),
        }
    }

    /// The session of an id.
    #[must_use]
    pub fn get(&self, id: &SessionId) -> Option<&Session> {
        self.sessions.iter().find(|session| session.id == *id)
    }
}

impl Snapshot {
    /// The listing, where one was taken.
    #[must_use]
    pub fn listing(&self) -> Option<&Sessions> {
        match &self.sessions {
            Listing::Taken(sessions) => Some(sessions),
            Listing::NotTaken | Listing::Failed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_listing_with_the_archive_that_reaches_back_says_that_there_is_no_session() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        for (since, archived, covers) in [
            (None, true, true),
            (None, false, false),
            (Some(at(99)), true, true),
            (Some(at(100)), true, true),
            (Some(at(101)), true, false),
            (Some(at(99)), false, false),
        ] {
            let listing = Sessions {
                taken_at: at(200),
                since,
                archived,
                sessions: Vec::new(),
                key: KeyUse::default(),
            };
            assert_eq!(listing.covers(at(100)), covers, "{since:?} {archived}");
        }
    }
}
