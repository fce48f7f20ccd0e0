//! Checks every step, in addition to the checks of every state.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{CreateFailure, Decision, Event};
use phileas_domain::model::Marker;
use phileas_domain::state::State;

use crate::steps::complete;
use crate::world::{Observation, World};

/// The grace of the protocol, from the architecture.
const GRACE: SignedDuration = SignedDuration::from_mins(15);

/// An attempt rises only with proof: Jules' response that there is no session, or one complete listing after the grace.
/// The proof must be true: no session of the attempt exists, and none is on its way.
pub(crate) fn attempts(
    world: &mut World,
    before: Box<State>,
    after: &State,
    observation: &Observation,
    events: &[Event],
) {
    for (name, track) in &before.tracks {
        for (slot, turn) in &track.turns {
            let next = after
                .tracks
                .get(name)
                .and_then(|track| track.turns.get(slot));
            let Some(next) =
                next.filter(|next| next.turn == turn.turn && next.attempt > turn.attempt)
            else {
                continue;
            };
            let marker = Marker {
                turn: turn.turn.clone(),
                attempt: turn.attempt,
            };
            if next.attempt != turn.attempt + 1 {
                world.breaks(format!("{marker} is followed by attempt {}", next.attempt));
            }
            let told = events.iter().any(|event| {
                matches!(event, Event::SessionNotCreated { marker: of, failure, .. }
                    if *of == marker && !matches!(failure, CreateFailure::Unknown { .. }))
            });
            let listed = turn.intent.as_ref().is_some_and(|intent| {
                let since = intent
                    .created_at
                    .checked_sub(SignedDuration::from_mins(2))
                    .unwrap();
                let after = intent.created_at.checked_add(GRACE).unwrap();
                complete(&observation.listing, since, after)
            });
            if !told && !listed {
                world.breaks(format!(
                    "the end of {marker} is not known, and the next attempt begins"
                ));
            }
        }
    }
}

/// While a turn is live, the decision sets a wake-up time that is not in the past.
pub(crate) fn waking(
    now: Timestamp,
    before: Option<&State>,
    decision: &Decision,
) -> Option<&'static str> {
    let change = decision.change.as_ref();
    let live = change
        .map(|change| &*change.state)
        .or(before)
        .is_some_and(|state| state.tracks.values().any(|track| !track.turns.is_empty()));
    match decision.wake_at {
        None if live => Some("a turn lives and no process comes back to it"),
        Some(at) if at < now => Some("a process is to come back in the past"),
        _ => None,
    }
}

/// Notices are about turns; nothing else goes wrong in this world.
pub(crate) fn notice(world: &mut World, key: &str) {
    if !key.starts_with("turn:") {
        world.breaks(format!(
            "a person is called about `{key}`, which is in order"
        ));
    }
}
