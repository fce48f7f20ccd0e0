//! Which work records are to be written.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

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
    /// Whether that one was refused; otherwise it was open.
    pub refused: bool,
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
            refused: false,
            white_space: false,
            label: None,
            comment: None,
            closes_at: None,
            closing: None,
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
