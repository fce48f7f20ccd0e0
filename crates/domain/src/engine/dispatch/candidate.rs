//! A piece of work that is due, and what made it due.

use jiff::Timestamp;

use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{Policy, Priority};

/// Something that could start now.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) track: TrackName,
    pub(crate) work: Work,
    /// The other slots of its step, which are announced with it.
    pub(crate) beside: Vec<Work>,
    pub(crate) policy: Policy,
    pub(crate) due_since: Timestamp,
    pub(crate) cause: Cause,
}

/// Why something could start now.
#[derive(Debug, Clone)]
pub(crate) enum Cause {
    /// The next step of a track.
    Track {
        index: u64,
        passes: u64,
        started: Option<Timestamp>,
    },
    /// A slot of a schedule.
    Schedule { slot: Timestamp },
    /// A person's wish, by its key in the state.
    Request { key: String },
    /// The next attempt at a live turn.
    Retry,
    /// The first attempt at a live turn: a slot that was announced beside others.
    Slot,
}

impl Candidate {
    pub(crate) fn is_request(&self) -> bool {
        matches!(self.cause, Cause::Request { .. }) || self.track.as_str().starts_with("request:")
    }

    pub(crate) fn order(
        &self,
    ) -> (
        bool,
        bool,
        std::cmp::Reverse<Priority>,
        Option<u64>,
        Timestamp,
        TrackName,
    ) {
        let first = !matches!(self.cause, Cause::Retry | Cause::Slot);
        (
            first,
            !self.is_request(),
            std::cmp::Reverse(self.policy.priority),
            // The ledger numbers requests as they come. Their times may differ by less than clocks do.
            self.track.request_number(),
            self.due_since,
            self.track.clone(),
        )
    }
}

pub(crate) fn wait(candidate: &Candidate, reason: Reason, text: impl Into<String>) -> Line {
    let verdict = if matches!(reason, Reason::JulesCredential | Reason::SubjectHeld) {
        Verdict::Paused
    } else {
        Verdict::Waiting
    };
    let mut line = Line::track(&candidate.track, verdict, reason, text);
    line.slot = Some(candidate.work.slot.clone());
    line.persona(&candidate.work.persona)
}

/// One slot's work.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) slot: Slot,
    pub(crate) persona: PersonaId,
}
