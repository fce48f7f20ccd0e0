//! What the runtime needs of the outside, in the domain's own types. Adapters implement it.

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
    Permission, Pull, Remark, Repository, Reviews, Session, Sessions, Subject,
};
use phileas_domain::model::{BranchName, Login, Oid, PullNumber, SessionId, Tree};
use phileas_domain::prompt::{InProcess, RenderAnswer, RenderPrompts, RenderRequest};

/// The branch of the ledger.
pub const LEDGER_BRANCH: &str = "jules";

/// What to do about a failed call. The runtime looks at nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disposition {
    /// The outside system is unavailable or asks for patience; the same call may work later.
    Retry {
        /// How long to wait at least, where it says so.
        after: Option<Duration>,
    },
    /// The credential is missing, refused or too weak. Only a person can help.
    Denied,
    /// The thing that was asked for does not exist, or is hidden from this credential.
    NotFound,
    /// The request was refused for what it says.
    Refused,
    /// The answer is larger than is taken. Asking for less may do.
    TooLarge,
    /// Whether it took effect is unknown.
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

/// Renders prompts, away from the threads that everything else runs on.
pub trait Renderer: RenderPrompts + fmt::Debug + Send + Sync {
    /// Keeps what rendering needs at hand until the guard is dropped.
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

/// While it is held, more prompts may follow. It does something when it is dropped.
#[must_use]
pub struct RendererGuard(Option<Box<dyn FnOnce() + Send + Sync>>);

impl RendererGuard {
    /// A guard that does this in the end.
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

/// Everything that one read of GitHub tells.
#[derive(Debug, Clone)]
pub struct GitHubObservation {
    /// GitHub's time, from the `Date` header of the first answer.
    pub now: Timestamp,
    /// How long ago that was when everything else had been read.
    pub age: Duration,
    /// The repository.
    pub repository: Repository,
    /// The checks of the default branch are hidden from this credential; then they read as none.
    pub checks_hidden: bool,
    /// The branch `jules`.
    pub ledger: LedgerRead,
    /// Says of two ledgers whether their exchanges are the same. `None`: there is no such branch.
    pub exchange_id: Option<String>,
    /// The plan's files at the default branch's commit. Journals are listed, not read.
    pub tree: Tree,
    /// The folders of the default branch that hold what agents leave for one another, as far as they are there. What is
    /// in them is not listed: it grows for years, and is read only where a prompt quotes it.
    pub working_folders: BTreeSet<String>,
    /// Open pull requests, and those that changed lately.
    pub pulls: BTreeMap<PullNumber, Pull>,
    /// Open issues that phileas opened.
    pub notices: Vec<Notice>,
    /// Open issues with the same label that are no notices: the dashboard is among them.
    pub dashboards: Vec<Dashboard>,
    /// The open issue or pull request that carries the label `phileas:pause`.
    pub paused_by_label: Option<u64>,
    /// Open issues and pull requests with labels of ours: the words behind the prefix, in lower case.
    pub labelled: BTreeMap<u64, BTreeSet<String>>,
    /// The newest comments on what is open and was touched last that say something to phileas.
    pub comments: Vec<Comment>,
    /// How far back labels and comments reach.
    pub comment_coverage: CommentCoverage,
}

/// Issues and pull requests that requests are about.
#[derive(Debug, Clone, Default)]
pub struct Subjects {
    /// Who we are to GitHub. `None`: nothing was asked for.
    pub viewer: Option<Actor>,
    /// Those that GitHub has, by number.
    pub subjects: BTreeMap<u64, Subject>,
}

/// The branch `jules` as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerRead {
    /// There is no such branch.
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
        /// The text as it stands, at most `STATE_LIMIT_BYTES` long.
        text: String,
    },
    /// There is something at the state file's path that cannot be read as text: a link, a folder, binary, too large.
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
    /// The head that must be its parent. `None`: the branch is born as an orphan.
    pub base: Option<Oid>,
    /// The subject.
    pub headline: String,
    /// The body, trailers included. It names the holder, so that a lost answer can be told from a lost race.
    pub body: String,
    /// Files to write (`Some`) or remove (`None`), by path.
    pub files: BTreeMap<String, Option<String>>,
}

/// Why a commit did not win.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The head moved: read again, decide again.
    #[error("the head of the ledger branch moved")]
    Stale,
    /// Anything else. `Disposition::Unknown` cannot occur: the adapter has looked whether the commit is there.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// GitHub as a tick reads it, for one repository. A dry run is given nothing else, so it cannot write.
pub trait ReadGitHub: Send + Sync {
    /// Reads everything that a tick looks at, in one request.
    fn observe_repository(&self)
    -> impl Future<Output = Result<GitHubObservation, Failure>> + Send;

    /// Reads the texts of files of the default branch at a commit; missing, binary and oversize ones are left out.
    fn read_texts(
        &self,
        commit: &Oid,
        paths: &BTreeSet<String>,
    ) -> impl Future<Output = Result<BTreeMap<String, String>, Failure>> + Send;

    /// Reads everything below folders, and single files, at a commit; what is not there is left out.
    fn read_folders(
        &self,
        commit: &Oid,
        paths: &[&str],
    ) -> impl Future<Output = Result<Tree, Failure>> + Send;

    /// Reads the commits of a span, the newest of them at least, and the files that they touch.
    fn read_commits(
        &self,
        span: &CommitSpan,
    ) -> impl Future<Output = Result<Commits, Failure>> + Send;

    /// Reads when the files of the plan, as they are at a commit, got their newest commit.
    fn read_plan_commit(
        &self,
        head: &Oid,
    ) -> impl Future<Output = Result<Option<Timestamp>, Failure>> + Send;

    /// Reads pull requests by number; missing ones are left out.
    fn read_pulls(
        &self,
        numbers: &BTreeSet<PullNumber>,
    ) -> impl Future<Output = Result<BTreeMap<PullNumber, Pull>, Failure>> + Send;

    /// Reads issues and pull requests by number, with the labels' events; missing ones are left out.
    fn read_subjects(
        &self,
        numbers: &BTreeSet<u64>,
    ) -> impl Future<Output = Result<Subjects, Failure>> + Send;

    /// Reads the commands in all comments since an instant, as far as one tick reads.
    fn read_comments(
        &self,
        since: Timestamp,
    ) -> impl Future<Output = Result<FurtherComments, Failure>> + Send;

    /// Reads the checks of a commit one by one, with what the failed ones say, as far as this credential may.
    fn read_checks(
        &self,
        commit: &Oid,
    ) -> impl Future<Output = Result<FailedChecks, Failure>> + Send;

    /// What people said of a pull request.
    fn read_remarks(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Vec<Remark>, Failure>> + Send;

    /// Reads everything that decides whether a pull request may be merged; `None` where there is no such one.
    fn read_merge_facts(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Option<MergeFacts>, Failure>> + Send;

    /// Reads what is still open of a pull request's reviews; `None` where there is no such one.
    fn read_reviews(
        &self,
        pull: PullNumber,
    ) -> impl Future<Output = Result<Option<Reviews>, Failure>> + Send;

    /// Whether there is a branch of this name.
    fn has_branch(&self, name: &BranchName) -> impl Future<Output = Result<bool, Failure>> + Send;

    /// Reads what an account may do at this moment; one that does not exist may nothing.
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
    /// Its text, the marker included.
    pub body: &'a str,
    /// Its label.
    pub label: &'a str,
    /// What the label is for, where it has to be made.
    pub about: &'a str,
    /// What is looked for before it is opened.
    pub marker: &'a str,
    /// Whether one that was closed will do as well: people close what they do not want.
    pub closed_will_do: bool,
}

/// GitHub as a tick writes it.
pub trait WriteGitHub: ReadGitHub {
    /// Makes the commit by compare-and-swap and answers with the new head.
    fn commit_ledger(
        &self,
        commit: &Commit,
    ) -> impl Future<Output = Result<Oid, CommitError>> + Send;

    /// Makes a branch; one that exists already is left as it is.
    fn make_branch(
        &self,
        name: &BranchName,
        at: &Oid,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Points a pull request at another base.
    fn retarget_pull(
        &self,
        pull: PullNumber,
        base: &BranchName,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Marks a draft as ready for review. One that is closed or no draft, that anybody has marked so before, or that was
    /// turned back into a draft, is left as it is.
    fn mark_ready(&self, pull: PullNumber) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Merges a pull request if this commit is still its newest: exactly one request, never repeated. One that is merged
    /// already is left as it is.
    fn merge_pull(
        &self,
        pull: PullNumber,
        head: &Oid,
        method: MergeMethod,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Opens an issue that carries the key as a hidden marker and the label `phileas`, unless an open one already
    /// carries it; answers with its number.
    fn open_notice(
        &self,
        key: &str,
        title: &str,
        body: &str,
    ) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Opens an issue with its label, unless one of ours that bears the label, open or closed, carries the marker;
    /// answers with its number.
    fn publish_issue(&self, issue: &Issue<'_>)
    -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Comments on an issue of ours and closes it; one that is closed already is left as it is.
    fn close_notice(
        &self,
        number: u64,
        comment: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Puts eyes on an issue or pull request, or on a comment of it; doing it twice does no harm.
    fn add_reaction(
        &self,
        thread: u64,
        comment: Option<u64>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Takes a label of ours off; one that is off already is left so.
    fn remove_label(
        &self,
        thread: u64,
        label: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Makes our one comment with the marker say this, whichever of phileas' accounts wrote it, and writes it where there
    /// is none; answers with its id. Younger copies of it that a race has left are deleted, if this very account wrote
    /// them. Comments of others are never touched.
    fn write_status(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Opens the dashboard issue, and answers with its number. The known one, or an open one of ours with the marker, is
    /// brought back instead, with this text.
    fn open_dashboard(
        &self,
        known: Option<u64>,
        title: &str,
        marker: &str,
        body: &str,
    ) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Makes the dashboard issue say this, unless its text has another digest by now.
    fn edit_dashboard(
        &self,
        number: u64,
        seen: &str,
        body: &str,
    ) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// Jules as a tick reads it, for one repository and one key.
pub trait ReadJules: Send + Sync {
    /// Lists sessions of this repository (others are dropped, but counted in the key's use) as far as needed.
    ///
    /// `repository` is what GitHub says of it now: Jules keeps the name that a session was created under, so after a
    /// rename only the repository's id, in our line of the prompt, tells whose an older session is.
    fn list_sessions(
        &self,
        repository: &Repository,
        need: &ListingNeed,
        now: Timestamp,
    ) -> impl Future<Output = Result<Sessions, Failure>> + Send;

    /// Reads one session; `None` when Jules does not know it.
    fn read_session(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<Session>, Failure>> + Send;

    /// Reads what a session has changed, all of it as one patch. `None`: nothing, as far as Jules shows.
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

/// What a session has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// A unified diff in git's form.
    pub diff: String,
    /// The commit that it is a diff against, where Jules says so.
    pub base: Option<Oid>,
}

/// Jules as a tick writes it.
pub trait WriteJules: ReadJules {
    /// Creates a session: exactly one request, never repeated.
    fn create_session(
        &self,
        create: &CreateSession,
    ) -> impl Future<Output = Result<Session, CreateFailure>> + Send;

    /// Says something to a session, once.
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

/// Time that passes while effects are carried out. GitHub's clock gives the instant, this one the distance.
pub trait Stopwatch: Send + Sync {
    /// Time since an arbitrary fixed point; never goes back.
    fn elapsed(&self) -> Duration;
}

/// The time of day, for code that waits for an instant. Injected, so that a model's virtual time serves too.
pub trait Clock: Send + Sync + 'static {
    /// The present time.
    fn now(&self) -> Timestamp;

    /// Waits until this time has come. It may wait for longer where the clock is set back meanwhile.
    fn sleep_until(&self, at: Timestamp) -> impl Future<Output = ()> + Send;
}
