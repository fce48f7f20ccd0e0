//! All facts that a decision needs, read once.
//!
//! They may be stale. A decision assumes nothing about GitHub and Jules from them, and writes git only by
//! compare-and-swap on the head of [`Ledger::Present`].

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::comment::Comment;
use super::commits::{CommitSpan, Commits};
use super::coverage::CommentCoverage;
use super::merge_facts::MergeFacts;
use super::pull::{Checks, FailedChecks, Pull, PullFile, Remark, Reviews};
use super::pull_activity::PullActivity;
use super::refusal_texts::RefusalTexts;
use super::session::{Activity, Listing, Outage, Session, Sessions};
use super::subject::{Actor, Permission, Subject};
use crate::Diagnostic;
use crate::exchange::ChangedFile;
use crate::model::{
    BranchName, Holder, Login, Oid, PersonaId, PullNumber, RepositoryId, RepositoryName, SessionId,
    TrackName, Tree,
};
use crate::plan::{self, Driver, EntryPoint, Plan};
use crate::state::State;

/// All facts that a decision needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// GitHub's time.
    pub now: Timestamp,
    /// Randomness, drawn once for this tick.
    pub entropy: [u8; 32],
    /// The holder of the intents of this tick.
    pub holder: Holder,
    /// Which driver runs this tick.
    pub driver: Driver,
    /// The repository.
    pub repository: Repository,
    /// The branch `jules`.
    pub ledger: Ledger,
    /// The plan.
    pub plan: Plan,
    /// Diagnostics of the plan.
    pub plan_diagnostics: Vec<Diagnostic>,
    /// The files that the plan came from, at one commit of the default branch.
    pub tree: Tree,
    /// Pull requests by number: the open ones, those that changed recently, and requested ones.
    pub pulls: BTreeMap<PullNumber, Pull>,
    /// Requested pull requests that GitHub does not have.
    pub missing_pulls: BTreeSet<PullNumber>,
    /// The listing of sessions.
    pub sessions: Listing,
    /// Activities of requested sessions, oldest first.
    pub activities: BTreeMap<SessionId, Vec<Activity>>,
    /// Requested sessions that could not be read this time.
    pub unread: BTreeMap<SessionId, Outage>,
    /// Requested sessions that Jules does not have.
    pub missing_sessions: BTreeSet<SessionId>,
    /// Open notices.
    pub notices: Vec<Notice>,
    /// Open issues with the label `phileas` that are no notices: the dashboard is among them.
    pub dashboards: Vec<Dashboard>,
    /// The repository variable `PHILEAS_PAUSED`, when it is set to something other than an empty or false word.
    pub paused_by_variable: Option<String>,
    /// The open issue or pull request that carries the label `phileas:pause`.
    pub paused_by_label: Option<u64>,
    /// Open issues and pull requests with phileas' labels: the names after
    /// [`LABEL_PREFIX`](crate::engine::LABEL_PREFIX), in lower case.
    pub labelled: BTreeMap<u64, BTreeSet<String>>,
    /// The newest comments with a command on recently updated issues and pull requests.
    pub comments: Vec<Comment>,
    /// Which labels and comments were read.
    pub comment_coverage: CommentCoverage,
    /// Requested issues and pull requests, by number; `None` where GitHub does not have it.
    pub subjects: BTreeMap<u64, Option<Subject>>,
    /// Permissions of requested accounts, by login.
    pub permissions: BTreeMap<Login, Permission>,
    /// The account that phileas works as, where subjects were read.
    pub viewer: Option<Actor>,
    /// The failed checks of requested commits.
    pub failed_checks: BTreeMap<Oid, FailedChecks>,
    /// Pull requests that were read again before their merge; `None` where GitHub does not have it.
    pub merges: BTreeMap<PullNumber, Option<MergeFacts>>,
    /// Remarks of people on requested pull requests, in no order; of very many the first and the newest.
    pub remarks: BTreeMap<PullNumber, Vec<Remark>>,
    /// Open reviews of requested pull requests; `None` where GitHub does not have it.
    pub reviews: BTreeMap<PullNumber, Option<Reviews>>,
    /// The files of requested pull requests; `None` where GitHub does not list them.
    pub pull_files: BTreeMap<PullNumber, Option<Vec<PullFile>>>,
    /// Requested pull requests whose files could not be read this time.
    pub unread_pull_files: BTreeSet<PullNumber>,
    /// What happened on requested pull requests; `None` where GitHub does not have it.
    pub pull_activity: BTreeMap<PullNumber, Option<PullActivity>>,
    /// What people wrote on requested pull requests; `None` where it cannot be read.
    pub refusal_texts: BTreeMap<PullNumber, Option<RefusalTexts>>,
    /// Requested files of work records.
    pub work_files: Option<WorkFilesRead>,
    /// Sessions that were read one by one, because no listing was needed.
    pub single_sessions: BTreeMap<SessionId, Session>,
    /// Task and sprint documents of agents on the default branch.
    pub working_docs: WorkingDocs,
    /// The exchange, where it was requested.
    pub exchange: Option<ExchangeRead>,
    /// Identifies the content of the exchange: a digest of the folders' git ids. `None`: unknown.
    pub exchange_id: Option<String>,
    /// Whether the files of layers are in [`Snapshot::tree`]; they are read only for layer prompts.
    pub layers_read: bool,
    /// The files of requested sessions of layers.
    pub session_files: BTreeMap<SessionId, SessionFiles>,
    /// Requested commits of the default branch, span by span.
    pub commits: Vec<Commits>,
    /// The time of the plan's newest commit, where it was requested.
    pub plan_commit: PlanCommit,
    /// When this process last finished a tick of the repository. Other processes show only in the ledger.
    pub previous_tick: Option<Timestamp>,
    /// Rendered prompts, by the keys of their requests
    /// ([`ReadRequests::prompts`](crate::engine::ReadRequests::prompts)).
    pub prompts: BTreeMap<String, crate::prompt::RenderAnswer>,
    /// What this run was started for.
    pub run_request: RunRequest,
}

/// The time of the plan's newest commit: its committer date, or the time when it reached the default branch where
/// GitHub shows that this was later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanCommit {
    /// It was not requested.
    #[default]
    Unread,
    /// It could not be read, or there is none.
    Unknown,
    /// Its time.
    At(Timestamp),
}

/// What GitHub says of the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Repository {
    /// Its id.
    pub id: RepositoryId,
    /// Its current name; renames are followed.
    pub name: RepositoryName,
    /// Whether it is public, and with it the ledger.
    pub public: bool,
    /// Whether it is archived and cannot be written.
    pub archived: bool,
    /// Its default branch.
    pub default_branch: BranchName,
    /// The head of the default branch; `None` in an empty repository.
    pub default_head: Option<Oid>,
    /// The result of the default branch's checks.
    pub default_checks: Checks,
}

/// The branch `jules`.
#[derive(Debug, Clone, PartialEq)]
pub enum Ledger {
    /// There is no state file: the branch is missing (`head` is `None`), or has other files only.
    Missing {
        /// The branch's head, where the branch exists.
        head: Option<Oid>,
    },
    /// It was read.
    Present {
        /// The head that it was read at; every write requires it.
        head: Oid,
        /// What it says.
        state: Box<State>,
    },
    /// There is a state file that cannot be trusted. It is never overwritten.
    Corrupt {
        /// The head that it was read at.
        head: Oid,
        /// What is wrong, with locations.
        diagnostics: Vec<Diagnostic>,
    },
}

/// An open issue that phileas opened because a person is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The number.
    pub number: u64,
    /// The text of its [`NoticeKey`](crate::engine::NoticeKey).
    pub key: String,
    /// Its title; people may have edited it.
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
    /// Whether phileas' own account opened it.
    pub own: bool,
}

/// Task and sprint documents of agents on the default branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkingDocs {
    /// The existing folders of tasks and sprints.
    pub there: BTreeSet<String>,
    /// The folders in them that were read; their files are in [`Snapshot::tree`].
    pub read: BTreeSet<String>,
}

impl WorkingDocs {
    /// Returns the folders that may exist and were not read yet.
    pub(crate) fn unread(&self, folders: Vec<String>) -> impl Iterator<Item = String> {
        let inside = |folder: &String| {
            let inside = |there: &String| folder.starts_with(&format!("{there}/"));
            self.there.iter().any(inside)
        };
        folders
            .into_iter()
            .filter(move |folder| inside(folder) && !self.read.contains(folder))
    }
}

/// The exchange files at one commit of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeRead {
    /// The ledger's head that they were read at. They are read again where it has moved.
    pub head: Oid,
    /// The files.
    pub tree: Tree,
}

/// Files of work records at one commit of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFilesRead {
    /// The ledger's head that they were read at. They are read again where it has moved.
    pub head: Oid,
    /// Their texts by path; `None`: the file does not exist. The text of an unreadable file is empty.
    pub texts: BTreeMap<String, Option<String>>,
}

/// The files that a session wrote, whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFiles {
    /// The files.
    pub files: Vec<ChangedFile>,
    /// Diagnostics of parts of its patch that could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// What this run was started for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RunRequest {
    /// Everything that is due.
    #[default]
    Due,
    /// This persona now, due or not; the repository's budgets apply.
    Persona(PersonaId),
    /// This track only.
    Track(TrackName),
    /// A pass through the layers that begins at this entry point, now.
    Enter(EntryPoint),
    /// Every persona once, regardless of schedules; budgets apply.
    All,
}

impl Snapshot {
    /// What is known of a repository before anything but its tree was read: no ledger, nothing open, nothing requested.
    #[must_use]
    pub fn unread(now: Timestamp, repository: Repository, tree: Tree) -> Self {
        let (plan, plan_diagnostics) = plan::read(&tree);
        Self {
            now,
            entropy: [0; 32],
            holder: Holder::new(""),
            driver: Driver::Any,
            repository,
            ledger: Ledger::Missing { head: None },
            plan,
            plan_diagnostics,
            tree,
            pulls: BTreeMap::new(),
            missing_pulls: BTreeSet::new(),
            sessions: Listing::NotTaken,
            activities: BTreeMap::new(),
            unread: BTreeMap::new(),
            missing_sessions: BTreeSet::new(),
            notices: Vec::new(),
            dashboards: Vec::new(),
            paused_by_variable: None,
            paused_by_label: None,
            labelled: BTreeMap::new(),
            comments: Vec::new(),
            comment_coverage: Default::default(),
            subjects: BTreeMap::new(),
            permissions: BTreeMap::new(),
            viewer: None,
            failed_checks: BTreeMap::new(),
            merges: BTreeMap::new(),
            pull_files: BTreeMap::new(),
            unread_pull_files: BTreeSet::new(),
            refusal_texts: BTreeMap::new(),
            work_files: None,
            remarks: BTreeMap::new(),
            pull_activity: BTreeMap::new(),
            reviews: BTreeMap::new(),
            single_sessions: BTreeMap::new(),
            working_docs: Default::default(),
            exchange: None,
            exchange_id: None,
            layers_read: false,
            session_files: BTreeMap::new(),
            commits: Vec::new(),
            plan_commit: PlanCommit::Unread,
            previous_tick: None,
            prompts: BTreeMap::new(),
            run_request: RunRequest::Due,
        }
    }

    /// The commits of a span, where they were read.
    #[must_use]
    pub fn commits_of(&self, span: &CommitSpan) -> Option<&Commits> {
        self.commits.iter().find(|commits| commits.span == *span)
    }

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
    use crate::engine::input::session::KeyUsage;

    #[test]
    fn only_a_listing_with_archived_sessions_that_reaches_back_proves_absence() {
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
                key: KeyUsage::default(),
            };
            assert_eq!(listing.covers(at(100)), covers, "{since:?} {archived}");
        }
    }
}
