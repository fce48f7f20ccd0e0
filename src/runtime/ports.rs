//! The interfaces to GitHub, Jules and the clock that the runtime needs, in the domain's own types.
//! Adapters implement them.

pub mod account;
pub mod sessions_api;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{
    Activity, Actor, Comment, CommentCoverage, CommitSpan, Commits, CreateFailure, CreateSession,
    Dashboard, FailedChecks, FurtherComments, ListingNeed, MergeFacts, MergeMethod, Notice,
    Permission, Pull, PullActivity, PullFile, RefusalTexts, Remark, Repository, Reviews, Session,
    Sessions, Subject,
};
use phileas_domain::model::{BranchName, Login, Oid, PullNumber, SessionId, Tree};
use phileas_domain::prompt::{InProcess, RenderAnswer, RenderPrompts, RenderRequest};

/// The branch of the ledger.
pub const LEDGER_BRANCH: &str = "jules";

/// What to do about a failed call. The runtime decides by this alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disposition {
    /// The service is unavailable or limits the rate; the same call may succeed later.
    Retry {
        /// How long to wait at least, if the service says so.
        after: Option<Duration>,
    },
    /// The credential is missing, refused or lacks a permission. Only a person can help.
    Denied,
    /// The resource does not exist, or is hidden from this credential.
    NotFound,
    /// The service refused the content of the request.
    Refused,
    /// The reply is larger than the limit. A smaller request may succeed.
    TooLarge,
    /// Whether the call took effect is unknown.
    Unknown,
}

/// A failed call. The text is one line, free of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// What to do about it.
    pub disposition: Disposition,
    /// What happened: system, route, status, message.
    pub detail: String,
}

impl Failure {
    /// Whether GitHub answered; otherwise Jules did.
    pub(crate) fn is_of_github(&self) -> bool {
        // The service is named last; what it answered stands before that, and may name anything.
        self.detail.rfind("(Jules: ") < self.detail.rfind("(GitHub")
    }
}

/// Renders prompts in a place that does not block other tasks.
pub trait Renderer: RenderPrompts + fmt::Debug + Send + Sync {
    /// Keeps the renderer started until the guard is dropped.
    fn keep_ready(&self) -> RendererGuard;

    /// Like [`RenderPrompts::render`], without blocking the caller's thread.
    fn render_later(
        &self,
        requests: Vec<RenderRequest>,
    ) -> Pin<Box<dyn Future<Output = Vec<RenderAnswer>> + Send>>;
}

impl Renderer for InProcess {
    fn keep_ready(&self) -> RendererGuard {
        RendererGuard::new(|| {})
    }

    fn render_later(
        &self,
        requests: Vec<RenderRequest>,
    ) -> Pin<Box<dyn Future<Output = Vec<RenderAnswer>> + Send>> {
        Box::pin(std::future::ready(self.render(&requests)))
    }
}

/// While this guard exists, more prompts may follow. Dropping it ends the renderer's readiness.
#[must_use]
pub struct RendererGuard(Option<Box<dyn FnOnce() + Send + Sync>>);

impl RendererGuard {
    /// Creates a guard that calls `in_the_end` when it is dropped.
    pub fn new(in_the_end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(in_the_end)))
    }
}

impl Drop for RendererGuard {
    fn drop(&mut self) {
        if let Some(in_the_end) = self.0.take() {
            in_the_end();
        }
    }
}

impl fmt::Debug for RendererGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RendererGuard")
    }
}

/// The result of the first read of GitHub.
#[derive(Debug, Clone)]
pub struct GitHubObservation {
    /// GitHub's time, from the `Date` header of the first reply.
    pub now: Timestamp,
    /// How long ago that was when everything else had been read.
    pub age: Duration,
    /// The repository.
    pub repository: Repository,
    /// Whether the checks of the default branch are hidden from this credential; then the snapshot
    /// has none.
    pub checks_hidden: bool,
    /// The branch `jules`.
    pub ledger: LedgerRead,
    /// Identifies the exchange: two ledgers with the same id have the same exchange. `None`: there
    /// is no branch `jules`.
    pub exchange_id: Option<String>,
    /// The plan's files at the default branch's commit. Journals are listed, not read.
    pub tree: Tree,
    /// The folders of the default branch in which agents leave files for one another, as far as
    /// they exist. Their contents grow for years, so they are read only where a prompt quotes them.
    pub working_folders: BTreeSet<String>,
    /// Open pull requests, and those that changed lately.
    pub pulls: BTreeMap<PullNumber, Pull>,
    /// Open issues that phileas opened.
    pub notices: Vec<Notice>,
    /// Other open issues with the same label, among them the dashboard.
    pub dashboards: Vec<Dashboard>,
    /// The open issue or pull request that carries the label `phileas:pause`.
    pub paused_by_label: Option<u64>,
    /// Open issues and pull requests with labels of phileas: the names behind the prefix, in lower
    /// case.
    pub labelled: BTreeMap<u64, BTreeSet<String>>,
    /// The newest comments with commands on the open issues and pull requests that changed last.
    pub comments: Vec<Comment>,
    /// How far back labels and comments reach.
    pub comment_coverage: CommentCoverage,
}

/// The issues and pull requests of requests.
#[derive(Debug, Clone, Default)]
pub struct Subjects {
    /// The account of phileas at GitHub. `None`: nothing was requested.
    pub viewer: Option<Actor>,
    /// Those that exist, by number.
    pub subjects: BTreeMap<u64, Subject>,
}

/// The branch `jules` as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerRead {
    /// The branch does not exist.
    NoBranch,
    /// The branch exists, without a state file.
    NoState {
        /// Its head.
        head: Oid,
    },
    /// The state file's text.
    State {
        /// The branch's head.
        head: Oid,
        /// The text, at most `STATE_LIMIT_BYTES` long.
        text: String,
    },
    /// The path of the state file has something that is no readable text: a link, a folder, binary,
    /// too large.
    Unreadable {
        /// The branch's head.
        head: Oid,
        /// What it is.
        what: String,
    },
}

/// One commit on the ledger branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The head that must be its parent. `None`: the commit creates the branch as an orphan.
    pub base: Option<Oid>,
    /// The subject.
    pub headline: String,
    /// The body with its trailers. It names the process, so that a lost reply can be told from a
    /// lost race.
    pub body: String,
    /// Files to write (`Some`) or remove (`None`), by path.
    pub files: BTreeMap<String, Option<String>>,
}

/// Why a commit failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The head moved: the caller must read and decide again.
    #[error("the head of the ledger branch moved")]
    Stale,
    /// Any other failure. `Disposition::Unknown` cannot occur, because the adapter has checked
    /// whether the commit exists.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// GitHub for the reads of a tick, for one repository. A dry run has nothing else, so it cannot
/// write.
pub trait ReadGitHub: Send + Sync {
    /// Reads everything that a tick needs first, in one request.
    fn observe_repository(&self)
    -> impl Future<Output = Result<GitHubObservation, Failure>> + Send;

    /// Reads the texts of files of the default branch at a commit; missing, binary and oversize
    /// files are left out.
    fn read_texts(
        &self,
        commit: &Oid,
        paths: &BTreeSet<String>,
    ) -> impl Future<Output = Result<BTreeMap<String, String>, Failure>> + Send;

    /// Reads everything below folders, and single files, at a commit; missing paths are left out.
    fn read_folders(
        &self,
        commit: &Oid,
        paths: &[&str],
    ) -> impl Future<Output = Result<Tree, Failure>> + Send;

    /// Reads the commits of a range, at least the newest, and the files that they change.
    fn read_commits(
        &self,
        span: &CommitSpan,
    ) -> impl Future<Output = Result<Commits, Failure>> + Send;

    /// Reads the time of the newest commit to the plan's files, as they are at a commit.
    fn read_plan_commit(
        &self,
        head: &Oid,
    ) -> impl Future<Output = Result<Option<Timestamp>, Failure>> + Send;

    /// Reads pull requests by number; missing ones are left out.
    fn read_pulls(
        &self,
        numbers: &BTreeSet<PullNumber>,
    ) -> impl Future<Output = Result<BTreeMap<PullNumber, Pull>, Failure>> + Send;

    /// Reads issues and pull requests by number, with the events of their labels; missing ones are
    /// left out.
    fn read_subjects(
        &self,
        numbers: &BTreeSet<u64>,
    ) -> impl Future<Output = Result<Subjects, Failure>> + Send;

    /// Reads the commands in all comments since an instant, as far as the limits of one tick allow.
    fn read_comments(
        &self,
        since: Timestamp,
    ) -> impl Future<Output = Result<FurtherComments, Failure>> + Send;

    /// Reads the checks of a commit one by one, with the output of failed ones, as far as this
    /// credential may.
    fn read_checks(
        &self,
        commit: &Oid,
    ) -> impl Future<Output = Result<FailedChecks, Failure>> + Send;

    /// Reads the remarks on a pull request.
    fn read_remarks(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Vec<Remark>, Failure>> + Send;

    /// Reads the first files of a pull request, in the order of their names, with their hunks; `None` if GitHub does
    /// not list them.
    fn read_pull_files(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Option<Vec<PullFile>>, Failure>> + Send;

    /// Reads everything that decides whether a pull request may be merged; `None` if it does not
    /// exist.
    fn read_merge_facts(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Option<MergeFacts>, Failure>> + Send;

    /// Reads the unresolved reviews of a pull request; `None` if it does not exist.
    fn read_reviews(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Option<Reviews>, Failure>> + Send;

    /// Reads what happened on a pull request since it was opened; `None` if GitHub does not have it.
    fn read_pull_activity(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Option<PullActivity>, Failure>> + Send;

    /// Reads what people wrote on a closed pull request; `None` if it does not exist.
    fn read_refusal_texts(
        &self,
        pull: PullNumber,
        with_reviews: bool,
    ) -> impl Future<Output = Result<Option<RefusalTexts>, Failure>> + Send;

    /// Whether a branch of this name exists.
    fn has_branch(&self, name: &BranchName) -> impl Future<Output = Result<bool, Failure>> + Send;

    /// Reads the present permission of an account; an account that does not exist has none.
    fn read_permission(
        &self,
        login: &Login,
    ) -> impl Future<Output = Result<Permission, Failure>> + Send;
}

/// An issue that is opened once.
#[derive(Debug, Clone, Copy)]
pub struct Issue<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its text with the marker.
    pub body: &'a str,
    /// Its label.
    pub label: &'a str,
    /// The description of the label, if it must be created.
    pub about: &'a str,
    /// The marker to search for before the issue is opened.
    pub marker: &'a str,
    /// Whether a closed issue with the marker counts, too: people close what they do not want.
    pub closed_will_do: bool,
}

/// GitHub for the writes of a tick.
pub trait WriteGitHub: ReadGitHub {
    /// Creates the commit by compare-and-swap and returns the new head.
    fn commit_ledger(
        &self,
        commit: &Commit,
    ) -> impl Future<Output = Result<Oid, CommitError>> + Send;

    /// Creates a branch; an existing one stays as it is.
    fn make_branch(
        &self,
        name: &BranchName,
        at: &Oid,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Sets another base of a pull request.
    fn retarget_pull(
        &self,
        pull: PullNumber,
        base: &BranchName,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Adds a label of phileas to a pull request.
    fn add_label(
        &self,
        pull: PullNumber,
        label: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Closes a pull request. A closed or merged one stays as it is.
    fn close_pull(&self, pull: PullNumber) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Marks a draft as ready for review. A pull request that is closed or no draft stays as it is.
    /// So does one that any account has marked so before, or turned back into a draft.
    fn mark_ready(&self, pull: PullNumber) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Merges a pull request if this commit is still its newest. Sends exactly one request. A
    /// merged one stays as it is.
    fn merge_pull(
        &self,
        pull: PullNumber,
        head: &Oid,
        method: MergeMethod,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Opens an issue with the key as a hidden marker and the label `phileas`, unless an open one
    /// already has the marker. Returns its number.
    fn open_notice(
        &self,
        key: &str,
        title: &str,
        body: &str,
    ) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Opens an issue with its label, unless phileas has opened one with that label and marker
    /// before, whether open or closed. Returns its number.
    fn publish_issue(&self, issue: &Issue<'_>)
    -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Comments on an issue of phileas and closes it; a closed one stays as it is.
    fn close_notice(
        &self,
        number: u64,
        comment: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Adds an eyes reaction to an issue, a pull request or a comment; repeating that is harmless.
    fn add_reaction(
        &self,
        thread: u64,
        comment: Option<u64>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Removes a label of phileas; a missing one is no error.
    fn remove_label(
        &self,
        thread: u64,
        label: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Writes the one status comment with this marker: edits it, whichever of phileas' accounts
    /// wrote it, or creates it. Returns its id. Younger copies that a race has left are deleted, if
    /// this account wrote them. Comments of other accounts are never changed.
    fn write_status(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Opens the dashboard issue, and returns its number. If it is known, or an open one of phileas
    /// with the marker exists, that one is reopened with this text instead.
    fn open_dashboard(
        &self,
        known: Option<u64>,
        title: &str,
        marker: &str,
        body: &str,
    ) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Edits the text of the dashboard issue, unless the text has another digest by now.
    fn edit_dashboard(
        &self,
        number: u64,
        seen: &str,
        body: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// Jules for the reads of a tick, for one repository and one key.
pub trait ReadJules: Send + Sync {
    /// Lists sessions of this repository as far as needed. Others are dropped, but counted in the
    /// key's use.
    ///
    /// `repository` has GitHub's present name. Jules keeps the name under which a session was
    /// created. So after a rename only the repository's id in the prompt's marker identifies an
    /// older session.
    fn list_sessions(
        &self,
        repository: &Repository,
        need: &ListingNeed,
        now: Timestamp,
    ) -> impl Future<Output = Result<Sessions, Failure>> + Send;

    /// Reads one session; `None` if Jules does not know it.
    fn read_session(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<Session>, Failure>> + Send;

    /// Reads all changes of a session as one patch. `None`: Jules shows none.
    fn read_patch(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<Patch>, Failure>> + Send;

    /// Reads a session's activities, oldest first. `None`: Jules does not show them (yet).
    fn read_activities(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<Vec<Activity>>, Failure>> + Send;
}

/// The changes of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// A unified diff in git's form.
    pub diff: String,
    /// The commit that the diff applies to, if Jules says so.
    pub base: Option<Oid>,
}

/// Jules for the writes of a tick.
pub trait WriteJules: ReadJules {
    /// Creates a session. Sends exactly one request.
    fn create_session(
        &self,
        create: &CreateSession,
    ) -> impl Future<Output = Result<Session, CreateFailure>> + Send;

    /// Sends a message to a session. A request is repeated only if it had no effect, so the message
    /// arrives once at most.
    fn send_message(
        &self,
        id: &SessionId,
        text: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Approves a session's plan.
    fn approve_plan(&self, id: &SessionId) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Archives a session.
    fn archive_session(&self, id: &SessionId) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// The time that passes while effects are executed. GitHub's clock gives the instant, this one the
/// distance.
pub trait Stopwatch: Send + Sync {
    /// The time since an arbitrary fixed point; never goes back.
    fn elapsed(&self) -> Duration;
}

/// The time of day, for code that waits for an instant. A model can inject its virtual time.
pub trait Clock: Send + Sync + 'static {
    /// The present time.
    fn now(&self) -> Timestamp;

    /// Waits until this time. It may wait longer if the clock is set back meanwhile.
    fn sleep_until(&self, at: Timestamp) -> impl Future<Output = ()> + Send;
}
