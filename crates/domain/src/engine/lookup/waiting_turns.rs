//! Turns that wait for a person, for a plan approval, or for their session.

use crate::engine::input::session::{SessionState, Sessions};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::Turn;

/// Whether a turn waits for a person, who can resume it.
pub(crate) fn waits_for_person(turn: &Turn) -> bool {
    turn.warned_at.is_some() || turn.not_before.is_some()
}

pub(crate) fn waits_for_plan_approval(listing: &Sessions, id: &SessionId) -> bool {
    let session = listing.get(id);
    session.is_some_and(|session| session.state == SessionState::AwaitingPlanApproval)
}

/// Reports that it is unknown whether a turn has a session.
pub(crate) fn ambiguous_line(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    text: impl Into<String>,
) -> Line {
    builder.turn_line(track, slot, turn, Verdict::Held, Reason::Ambiguous, text)
}
