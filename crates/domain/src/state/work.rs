//! Which work records are to be written.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::Outcome;
use super::extra::Extra;
use super::tracked_pull::PullAction;
use crate::model::{Oid, PullNumber};

/// What the state knows of the work records. The records themselves lie in files of their own, which an idle tick does
/// not read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkState {
    /// Pull requests whose record is not complete: they are open, or their end is still to be recorded.
    pub open: BTreeSet<PullNumber>,
    /// How many records are open or remembered. A state that was rebuilt does not know and has 1, so that they are read.
    pub remembered: u64,
    /// Refusals that their records do not show yet.
    pub refused: BTreeMap<PullNumber, WorkRefusal>,
    /// Pull requests whose refusal is withdrawn, and whose record does not show it yet.
    pub forgotten: BTreeSet<PullNumber>,
    /// Merged pull requests that say that they revert another one, as far as they were judged lately.
    pub reverts: BTreeSet<PullNumber>,
    /// Open pull requests that are unwanted.
    pub marks: BTreeMap<PullNumber, WorkMark>,
    /// What the files of open pull requests say to the people who review them.
    pub facts: BTreeMap<PullNumber, WorkFacts>,
    /// Unknown keys.
    pub extra: Extra,
}

/// Why an open pull request is unwanted, and what phileas did about it. Each action is recorded before it is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkMark {
    /// The commit that was judged.
    pub head: Oid,
    /// The older pull request that it repeats; `None`: it changes nothing.
    pub twin: Option<PullNumber>,
    /// Whether it changes white space, and nothing else.
    pub white_space: bool,
    /// The label.
    pub label: Option<PullAction>,
    /// The comment that says why; `None` where phileas writes none.
    pub comment: Option<PullAction>,
    /// When it is closed; `None`: never.
    pub closes_at: Option<Timestamp>,
    /// The closing.
    pub closing: Option<PullAction>,
    /// Unknown keys.
    pub extra: Extra,
}

impl WorkMark {
    /// A pull request that changes nothing, and about which phileas did nothing yet.
    #[must_use]
    pub fn new(head: Oid) -> Self {
        Self {
            head,
            twin: None,
            white_space: false,
            label: None,
            comment: None,
            closes_at: None,
            closing: None,
            extra: Extra::new(),
        }
    }
}

/// What the files of an open pull request say to the people who review it. The record leaves out what says nothing about
/// the work, and people see all files.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkFacts {
    /// The commit whose files were read.
    pub head: Oid,
    /// How many files it changes; `None`: GitHub does not list them.
    pub files: Option<u64>,
    /// How many lines it adds.
    pub added: u64,
    /// How many lines it removes.
    pub removed: u64,
    /// Whether it changes a protected path.
    pub protected: bool,
    /// Whether it changes nothing, or its persona's own journal alone.
    pub no_op: bool,
    /// Whether it changes white space, and nothing else.
    pub white_space: bool,
    /// The pull request that does the same.
    pub twin: Option<PullNumber>,
    /// What became of that one; `None`: it was open.
    pub twin_outcome: Option<Outcome>,
    /// Unknown keys.
    pub extra: Extra,
}

impl WorkFacts {
    /// Those of a commit whose files GitHub does not list.
    #[must_use]
    pub fn new(head: Oid) -> Self {
        Self {
            head,
            files: None,
            added: 0,
            removed: 0,
            protected: false,
            no_op: false,
            white_space: false,
            twin: None,
            twin_outcome: None,
            extra: Extra::new(),
        }
    }
}

/// The refusal of a pull request by a command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkRefusal {
    /// The reason, as the person wrote it.
    pub reason: String,
    /// Whether no attempt at this work is wanted, whatever the reason.
    pub never: bool,
    /// The number of the comment.
    pub comment: Option<u64>,
    /// SHA-256 of the comment.
    pub digest: Option<String>,
    /// When the person wrote it.
    pub at: Option<Timestamp>,
    /// The closing of the pull request.
    pub closing: Option<PullAction>,
    /// Unknown keys.
    pub extra: Extra,
}

impl WorkRefusal {
    /// Whether it condemns the work itself, so that the same work again is not wanted, as in
    /// [`crate::work::Refusal::condemns_work`].
    #[must_use]
    pub fn condemns_work(&self) -> bool {
        self.never || self.reason == crate::work::RefusalReason::OutOfScope.as_str()
    }
}
