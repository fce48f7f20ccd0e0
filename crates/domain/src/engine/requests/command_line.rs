//! Requests by the command line or a dispatch input.

use crate::engine::input::request_kind::{BY_COMMAND, PENDING};
use crate::engine::input::snapshot::Ask;
use crate::engine::lookup::pending_requests::PERSONA_SUBJECT;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::REQUEST_VALID;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, TrackName};
use crate::state::RequestState;

/// Writes this run's wish into the state, once: the key names the run, so that later rounds and retries see it.
pub(crate) fn take_up(draft: &mut Draft<'_>) {
    let snapshot = draft.snapshot;
    let personas: Vec<PersonaId> = match &snapshot.ask {
        Ask::Due | Ask::Track(_) | Ask::Enter(_) => return,
        Ask::Persona(id) if !snapshot.plan.personas.contains_key(id) => {
            let text = format!("there is no persona `{id}`");
            let line = Line::repository(Verdict::Refused, Reason::Unknown, text);
            draft.say(line.persona(id).requested());
            return;
        }
        Ask::Persona(id) => vec![id.clone()],
        Ask::All => snapshot
            .plan
            .personas
            .values()
            .filter(|one| one.scheduled)
            .map(|one| one.id.clone())
            .collect(),
    };
    for persona in personas {
        let key = format!("ask:{}:{persona}", snapshot.holder);
        if draft.state.requests.contains_key(&key) {
            continue;
        }
        if let Some(track) = open(draft, &persona) {
            let text =
                format!("`{persona}` is asked for already, as {track}; this request joins it");
            let line = Line::track(&track, Verdict::Skipped, Reason::RequestOpen, text);
            draft.say(line.persona(&persona).requested());
            continue;
        }
        let number = draft.state.next_request_number();
        let request = RequestState {
            kind: BY_COMMAND.to_owned(),
            subject: Some(format!("{PERSONA_SUBJECT}{persona}")),
            outcome: Some(PENDING.to_owned()),
            number: Some(number),
            created_at: Some(snapshot.now),
            ..RequestState::default()
        };
        draft.state.requests.insert(key, request);
        draft.headline(format!("request {number} {persona}"), None);
    }
}

/// The oldest request by a command for a persona that has no session yet, and that is not about to be refused for its
/// age. One that this very run has started counts as well: a later round asks again.
fn open(draft: &Draft<'_>, persona: &PersonaId) -> Option<TrackName> {
    let subject = format!("{PERSONA_SUBJECT}{persona}");
    let now = draft.now();
    let unstarted = |request: &RequestState| {
        if request.outcome.as_deref() == Some(PENDING) {
            let age = request.created_at.map(|at| now.duration_since(at));
            return age.is_none_or(|age| age < REQUEST_VALID);
        }
        let turn = request.turn.as_ref();
        let live = turn.and_then(|turn| draft.state.live_turn(turn.as_str()));
        live.is_some_and(|(_, _, turn)| {
            let holder = turn.intent.as_ref().map(|intent| &intent.holder);
            turn.session_id.is_none() || holder == Some(&draft.snapshot.holder)
        })
    };
    let same = draft.state.requests.values().filter(|request| {
        request.kind == BY_COMMAND && request.subject.as_deref() == Some(subject.as_str())
    });
    same.filter(|request| unstarted(request))
        .filter_map(|request| request.number)
        .min()
        .map(TrackName::of_request)
}
