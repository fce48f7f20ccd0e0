//! A live turn with what is known of its session, and what it has come to.

use jiff::Timestamp;

use crate::engine::input::pull::Pull;
use crate::engine::input::session::{Activity, Session};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::report::Reason;
use crate::plan::Policy;
use crate::state::{Outcome, Turn};

/// A live turn with everything that is known of its session.
#[derive(Clone, Copy)]
pub(crate) struct Live<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) turn: &'a Turn,
    pub(crate) policy: &'a Policy,
    /// The session as the listing shows it.
    pub(crate) session: &'a Session,
    /// Its activities, oldest first, where they were read.
    pub(crate) activities: Option<&'a [Activity]>,
    /// Its open pull request.
    pub(crate) pull: Option<&'a Pull>,
}

/// What a live turn has come to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Progress {
    /// Its activities must be read first.
    ReadActivities,
    /// Nothing to do before `until`.
    Wait {
        reason: Reason,
        detail: String,
        until: Timestamp,
    },
    /// It asked something: give the standard answer with this number.
    Answer { number: u32 },
    /// It ended without a result: remind it, once.
    Remind,
    /// Approve its plan.
    Approve,
    /// It ended, and what it wrote is to be taken into the ledger.
    BringIn,
    /// A person is needed.
    CallPerson { reason: Reason, detail: String },
    /// It is over.
    End {
        outcome: Outcome,
        note: Option<String>,
        archive: bool,
    },
    /// This attempt failed, and another one is allowed.
    Retry { note: String },
}
