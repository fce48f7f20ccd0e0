//! What a person asked this run to do becomes a request in the state, and is worked off under the repository's budgets.

use jiff::Timestamp;

use super::draft::Draft;
use super::limits::REQUEST_VALID;
use super::start::{Candidate, Cause, work_of};
use super::{Ask, Line, Reason, Verdict, step};
use crate::model::{PersonaId, TrackName};
use crate::state::RequestState;

/// The outcome of a request that was taken up and not yet started.
const PENDING: &str = "pending";
/// Stands before the persona's id in a request's subject.
const PERSONA_SUBJECT: &str = "persona:";

pub(super) fn candidates(draft: &mut Draft<'_>) -> Vec<Candidate> {
    take_up(draft);
    let mut candidates = Vec::new();
    for Pending {
        key,
        persona,
        track,
        created_at,
    } in pending(draft)
    {
        let now = draft.now();
        if created_at.is_some_and(|at| now.duration_since(at) >= REQUEST_VALID) {
            let text = "it could not be started for a week; ask again if it is still wanted";
            refuse(
                draft,
                &key,
                &track,
                &persona,
                Reason::RequestOld,
                text.to_owned(),
            );
            continue;
        }
        let plan = &draft.snapshot.plan;
        let policy = step::with_persona(plan.defaults.clone(), plan.personas.get(&persona));
        match work_of(draft, &persona, &policy, true) {
            Ok(work) => {
                let due_since = created_at.unwrap_or(draft.snapshot.now);
                candidates.push(Candidate {
                    track,
                    work,
                    policy,
                    due_since,
                    cause: Cause::Request { key },
                });
            }
            Err((reason, text)) => {
                refuse(draft, &key, &track, &persona, reason, text);
            }
        }
    }
    candidates
}

/// A request that was taken up and not yet started.
pub(super) struct Pending {
    pub(super) key: String,
    pub(super) persona: PersonaId,
    pub(super) track: TrackName,
    pub(super) created_at: Option<Timestamp>,
}

/// Requests that were taken up and not yet started.
pub(super) fn pending(draft: &Draft<'_>) -> Vec<Pending> {
    let requests = draft.state.requests.iter();
    requests
        .filter(|(_, request)| request.outcome.as_deref() == Some(PENDING))
        .filter_map(|(key, request)| {
            let persona = request.subject.as_deref()?.strip_prefix(PERSONA_SUBJECT)?;
            Some(Pending {
                key: key.clone(),
                persona: persona.into(),
                track: TrackName::of_request(request.number?),
                created_at: request.created_at,
            })
        })
        .collect()
}

/// Writes this run's wish into the state, once: the key names the run, so that later rounds and retries see it.
fn take_up(draft: &mut Draft<'_>) {
    let snapshot = draft.snapshot;
    let personas: Vec<PersonaId> = match &snapshot.ask {
        Ask::Due | Ask::Track(_) => return,
        Ask::Persona(id) if !snapshot.plan.personas.contains_key(id) => {
            let text = format!("there is no persona `{id}`");
            draft.say(Line::repository(Verdict::Refused, Reason::Unknown, text).persona(id));
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
        let number = draft.state.next_request_number();
        let request = RequestState {
            kind: "dispatch".to_owned(),
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

/// Ends a request that cannot be fulfilled, and says why; it is said once.
pub(super) fn refuse(
    draft: &mut Draft<'_>,
    key: &str,
    track: &TrackName,
    persona: &PersonaId,
    reason: Reason,
    text: String,
) {
    let now = draft.now();
    if let Some(request) = draft.state.requests.get_mut(key) {
        request.outcome = Some("refused".to_owned());
        request.finished_at = Some(now);
    }
    draft.headline(format!("refused {track} {persona}"), None);
    draft.say(Line::track(track, Verdict::Refused, reason, text).persona(persona));
}
