//! A live turn with its session, and the progress that it has made.

use jiff::Timestamp;

use crate::engine::input::pull::Pull;
use crate::engine::input::session::{Activity, Session};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::report::Reason;
use crate::plan::Policy;
use crate::state::{Outcome, RepeatedPlan, Turn};

/// A live turn with everything known of its session.
#[derive(Clone, Copy)]
pub(crate) struct LiveTurn<'a> {
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

/// The progress of a live turn.
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
    /// It asked a question: send the standard answer with this number.
    Answer { number: u32 },
    /// It ended without a result: send one reminder.
    Remind,
    /// Approve its plan.
    Approve,
    /// Its plan repeats a pull request: ask for another task.
    TurnDown(RepeatedPlan),
    /// It ended, and its output is to be imported.
    Import,
    /// A person is needed.
    OpenNotice { reason: Reason, detail: String },
    /// It has ended.
    End {
        outcome: Outcome,
        note: Option<String>,
        archive: bool,
    },
    /// This attempt failed, and another one is allowed.
    Retry { note: String },
}
