//! Records how requests end.

use jiff::Timestamp;

use crate::engine::input::snapshot::RunRequest;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, TrackName};
use crate::state::{Outcome, RequestKind, RequestOutcome, RequestState, State};

/// Records why a turn ended before it had a session.
pub(crate) fn note_refusal(builder: &mut DecisionBuilder<'_>, track: &TrackName, reason: Reason) {
    let number = track.request_number();
    let mut requests = builder.state.requests.values_mut();
    if let Some(request) = requests.find(|one| number.is_some() && one.number == number) {
        request.reason = Some(reason.code().to_owned());
    }
}

/// Withdraws a pending request by its number. Returns whether there was one.
pub fn withdraw_request(state: &mut State, number: u64, now: Timestamp) -> bool {
    let pending =
        |request: &&mut RequestState| request.number == Some(number) && request.is_pending();
    let Some(request) = state.requests.values_mut().find(pending) else {
        return false;
    };
    request.set_outcome(&RequestOutcome::Turn(Outcome::Cancelled));
    request.finished_at = Some(now);
    true
}

/// Refuses a pending request, and reports why.
pub(crate) fn refuse_request(
    builder: &mut DecisionBuilder<'_>,
    key: &str,
    track: &TrackName,
    persona: &PersonaId,
    reason: Reason,
    text: String,
) {
    let now = builder.now();
    if let Some(request) = builder.state.requests.get_mut(key) {
        request.set_outcome(&RequestOutcome::Refused);
        request.reason = Some(reason.code().to_owned());
        request.finished_at = Some(now);
    }
    builder.add_headline(format!("refused {track} {persona}"), None);
    let line = Line::about_track(track, Verdict::Refused, reason, text).with_persona(persona);
    // A request of an earlier run that this run has joined counts as this run's, unless it expired: then this run has
    // made another one.
    let is_named = match &builder.snapshot.run_request {
        RunRequest::Persona(id) => id == persona,
        RunRequest::All => true,
        RunRequest::Due | RunRequest::Track(_) | RunRequest::Enter(_) => false,
    };
    let request = builder.state.requests.get(key);
    let is_by_command = request.is_some_and(|request| request.is_of_kind(RequestKind::CommandLine));
    let is_requested = is_named && is_by_command && reason != Reason::RequestOld;
    builder.report_line(if is_requested {
        line.mark_requested()
    } else {
        line
    });
}

/// Refuses a pending command on a pull request: `answer` is for the thread, `line` for the report.
pub(crate) fn refuse_command(
    builder: &mut DecisionBuilder<'_>,
    key: &str,
    track: &TrackName,
    reason: Reason,
    line: String,
    answer: &str,
) {
    let now = builder.now();
    builder.add_headline(format!("refused {track}"), None);
    builder.report_line(Line::about_track(track, Verdict::Refused, reason, line));
    if let Some(request) = builder.state.requests.get_mut(key) {
        request.set_outcome(&RequestOutcome::Refused);
        request.reason = Some(reason.code().to_owned());
        request.answer = Some(answer.to_owned());
        request.finished_at = Some(now);
    }
}

/// Records a turn's outcome in its request.
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
        request.set_outcome(&RequestOutcome::Turn(outcome.clone()));
        if outcome.is_final() {
            request.finished_at = Some(now);
        }
    }
}
