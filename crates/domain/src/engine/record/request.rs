//! How a request ends, in the state.

use jiff::Timestamp;

use crate::engine::input::request_kind::{BY_COMMAND, PENDING, REFUSED};
use crate::engine::input::snapshot::Ask;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, TrackName};
use crate::state::{Outcome, RequestState, State};

/// Writes down why a turn was given up before it had a session.
pub(crate) fn note_refusal(draft: &mut Draft<'_>, track: &TrackName, reason: Reason) {
    let number = track.request_number();
    let mut requests = draft.state.requests.values_mut();
    if let Some(request) = requests.find(|one| number.is_some() && one.number == number) {
        request.reason = Some(reason.code().to_owned());
    }
}

/// Takes back the request of a number that was not started yet. Whether there was one.
pub fn withdraw(state: &mut State, number: u64, now: Timestamp) -> bool {
    let pending = |request: &&mut RequestState| {
        request.number == Some(number) && request.outcome.as_deref() == Some(PENDING)
    };
    let Some(request) = state.requests.values_mut().find(pending) else {
        return false;
    };
    request.outcome = Some(Outcome::Cancelled.as_str().to_owned());
    request.finished_at = Some(now);
    true
}

/// Ends a request that cannot be fulfilled, and says why; it is said once.
pub(crate) fn refuse(
    draft: &mut Draft<'_>,
    key: &str,
    track: &TrackName,
    persona: &PersonaId,
    reason: Reason,
    text: String,
) {
    let now = draft.now();
    if let Some(request) = draft.state.requests.get_mut(key) {
        request.outcome = Some(REFUSED.to_owned());
        request.reason = Some(reason.code().to_owned());
        request.finished_at = Some(now);
    }
    draft.headline(format!("refused {track} {persona}"), None);
    let line = Line::track(track, Verdict::Refused, reason, text).persona(persona);
    // A request of an earlier run that this one has joined counts, too, unless its time is over: this run has made another.
    let is_named = match &draft.snapshot.ask {
        Ask::Persona(id) => id == persona,
        Ask::All => true,
        Ask::Due | Ask::Track(_) | Ask::Enter(_) => false,
    };
    let request = draft.state.requests.get(key);
    let is_by_command = request.is_some_and(|request| request.kind == BY_COMMAND);
    let is_requested = is_named && is_by_command && reason != Reason::RequestOld;
    draft.say(if is_requested { line.requested() } else { line });
}

/// Writes a turn's outcome into the request that asked for it.
pub(crate) fn finish_request(
    state: &mut State,
    turn: &Option<crate::model::TurnId>,
    outcome: &Outcome,
    now: Timestamp,
) {
    let Some(turn) = turn else {
        return;
    };
    for request in state
        .requests
        .values_mut()
        .filter(|request| request.turn.as_ref() == Some(turn))
    {
        request.outcome = Some(outcome.as_str().to_owned());
        if outcome.is_final() {
            request.finished_at = Some(now);
        }
    }
}
