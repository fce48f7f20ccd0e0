//! Turns that wait: for a plan approval, for a person, or on hold.

use crate::engine::input::session::{SessionState, Sessions};
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::Turn;

/// Whether a turn waits for a person, so that a person can let it go on.
pub(crate) fn waits_for_a_person(turn: &Turn) -> bool {
    turn.warned_at.is_some() || turn.not_before.is_some()
}

pub(crate) fn is_at_plan(listing: &Sessions, id: &SessionId) -> bool {
    let session = listing.get(id);
    session.is_some_and(|session| session.state == SessionState::AwaitingPlanApproval)
}

/// Nobody knows whether a turn has a session.
pub(crate) fn held(
    draft: &Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    text: impl Into<String>,
) -> Line {
    draft.line(track, slot, turn, Verdict::Held, Reason::Ambiguous, text)
}
