//! A slot that could start now, and its cause.

use jiff::Timestamp;

use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{Policy, Priority};

/// A slot that could start now.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) track: TrackName,
    pub(crate) work: SlotWork,
    /// The other slots of its step, which are announced with it.
    pub(crate) siblings: Vec<SlotWork>,
    pub(crate) policy: Policy,
    pub(crate) due_since: Timestamp,
    pub(crate) cause: Cause,
}

/// Why a slot could start now.
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
    /// A person's request, by its key in the state.
    Request { key: String },
    /// The next attempt at a live turn.
    Retry,
    /// The first attempt at a live turn: a slot that was announced with its siblings.
    Slot,
}

impl Candidate {
    pub(crate) fn is_request(&self) -> bool {
        matches!(self.cause, Cause::Request { .. }) || self.track.as_str().starts_with("request:")
    }

    pub(crate) fn sort_key(
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
            // The ledger numbers requests as they come. Their times may differ by less than clock skew.
            self.track.request_number(),
            self.due_since,
            self.track.clone(),
        )
    }
}

pub(crate) fn waiting_line(candidate: &Candidate, reason: Reason, text: impl Into<String>) -> Line {
    let verdict = if matches!(reason, Reason::JulesCredential | Reason::SubjectHeld) {
        Verdict::Paused
    } else {
        Verdict::Waiting
    };
    let mut line = Line::about_track(&candidate.track, verdict, reason, text);
    line.slot = Some(candidate.work.slot.clone());
    line.with_persona(&candidate.work.persona)
}

/// The work of one slot.
#[derive(Debug, Clone)]
pub(crate) struct SlotWork {
    pub(crate) slot: Slot,
    pub(crate) persona: PersonaId,
}
