//! Requests by the command line or a workflow input.

use crate::engine::input::snapshot::RunRequest;
use crate::engine::lookup::pending_requests::PERSONA_SUBJECT;
use crate::engine::lookup::unknown_persona::unknown_persona_line;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::REQUEST_VALID;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, TrackName};
use crate::state::{RequestKind, RequestOutcome, RequestState};

/// Records this run's request in the state, once: the key names the run, so that later rounds and retries find it.
pub(crate) fn accept_run_request(builder: &mut DecisionBuilder<'_>) {
    let snapshot = builder.snapshot;
    let personas: Vec<PersonaId> = match &snapshot.run_request {
        RunRequest::Due | RunRequest::Track(_) | RunRequest::Enter(_) => return,
        RunRequest::Persona(id) if !snapshot.plan.personas.contains_key(id) => {
            builder.report_line(unknown_persona_line(&snapshot.plan, id));
            return;
        }
        RunRequest::Persona(id) => vec![id.clone()],
        RunRequest::All => snapshot
            .plan
            .personas
            .values()
            .filter(|one| one.scheduled)
            .map(|one| one.id.clone())
            .collect(),
    };
    for persona in personas {
        let key = format!("ask:{}:{persona}", snapshot.holder);
        if builder.state.requests.contains_key(&key) {
            continue;
        }
        if let Some(track) = open_request(builder, &persona) {
            let text =
                format!("`{persona}` is requested already, as {track}; this request joins it");
            let line = Line::about_track(&track, Verdict::Skipped, Reason::RequestOpen, text);
            builder.report_line(line.with_persona(&persona).mark_requested());
            continue;
        }
        let number = builder.state.next_request_number();
        let request = RequestState {
            kind: RequestKind::CommandLine.as_str().to_owned(),
            subject: Some(format!("{PERSONA_SUBJECT}{persona}")),
            outcome: Some(RequestOutcome::Pending.as_str().to_owned()),
            number: Some(number),
            created_at: Some(snapshot.now),
            ..RequestState::default()
        };
        builder.state.requests.insert(key, request);
        builder.add_headline(format!("request {number} {persona}"), None);
    }
}

/// Returns the oldest pending request of a command line for a persona that has not reached its age limit. A session
/// that this run has started counts as well, because a later round accepts the request again.
fn open_request(builder: &DecisionBuilder<'_>, persona: &PersonaId) -> Option<TrackName> {
    let subject = format!("{PERSONA_SUBJECT}{persona}");
    let now = builder.now();
    let unstarted = |request: &RequestState| {
        if request.is_pending() {
            let age = request.created_at.map(|at| now.duration_since(at));
            return age.is_none_or(|age| age < REQUEST_VALID);
        }
        let turn = request.turn.as_ref();
        let live = turn.and_then(|turn| builder.state.live_turn(turn.as_str()));
        live.is_some_and(|(_, _, turn)| {
            let holder = turn.intent.as_ref().map(|intent| &intent.holder);
            turn.session_id.is_none() || holder == Some(&builder.snapshot.holder)
        })
    };
    let same = builder.state.requests.values().filter(|request| {
        request.is_of_kind(RequestKind::CommandLine)
            && request.subject.as_deref() == Some(subject.as_str())
    });
    same.filter(|request| unstarted(request))
        .filter_map(|request| request.number)
        .min()
        .map(TrackName::of_request)
}
