//! All facts that a decision needs, gathered once.
//!
//! They may be stale by the time they are looked at: nothing outside git may be assumed from them, and git itself
//! is only written by compare-and-swap on [`Ledger::Present`]'s head.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::comment::Comment;
use super::commits::Commits;
use super::coverage::Heard;
use super::merge_facts::MergeFacts;
use super::pull::{Checks, Pull, RedChecks, Remark, Reviews};
use super::session::{Activity, Listing, Outage, Session, Sessions};
use super::subject::{Actor, Permission, Subject};
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
    /// Open issues and pull requests with labels of ours: the words behind [`LABEL_PREFIX`](crate::engine::LABEL_PREFIX), in lower case.
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
    /// Prompts that were rendered, by the keys of their requests ([`Needs::prompts`](crate::engine::Needs::prompts)).
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

/// An open issue that phileas opened to call a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The number.
    pub number: u64,
    /// What it is about: the text of [`NoticeKey`](crate::engine::NoticeKey).
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
    use crate::engine::input::session::KeyUse;

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
