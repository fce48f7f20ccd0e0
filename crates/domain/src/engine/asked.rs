//! What a person asked this run to do becomes a request in the state, and is worked off under the repository's budgets.

use jiff::Timestamp;

use super::draft::Draft;
use super::limits::REQUEST_VALID;
use super::start::{Candidate, Cause, work_of};
use super::wish::{PENDING, REFUSED};
use super::{Ask, Line, Reason, Verdict, binding, layers, step};
use crate::model::{PersonaId, TrackName};
use crate::state::{Outcome, RequestState, State};

/// The kind of a request that a person made by a command.
const BY_COMMAND: &str = "dispatch";
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
        let seat = layers::seat_of(&persona);
        let plan = &draft.snapshot.plan;
        let policy = match &seat {
            Some(seat) => step::policy_of_persona(plan, &track, &seat.persona()),
            None => step::with_persona(plan.defaults.clone(), plan.personas.get(&persona)),
        };
        let policy = binding::of_wish(draft, &track, &persona, policy);
        let work = match &seat {
            Some(seat) => layers::offered_work(draft, seat),
            None => work_of(draft, &persona, &policy, true),
        };
        match work {
            Ok(work) => {
                let due_since = created_at.unwrap_or(draft.snapshot.now);
                candidates.push(Candidate {
                    track,
                    work,
                    beside: Vec::new(),
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
        .filter_map(|(key, request)| {
            let (number, persona) = waits(request)?;
            Some(Pending {
                key: key.clone(),
                persona,
                track: TrackName::of_request(number),
                created_at: request.created_at,
            })
        })
        .collect()
}

/// The numbers of requests that were taken up and not yet started, and who is asked for.
pub fn pending_requests(state: &State) -> impl Iterator<Item = (u64, PersonaId)> {
    state.requests.values().filter_map(waits)
}

fn waits(request: &RequestState) -> Option<(u64, PersonaId)> {
    if request.outcome.as_deref() != Some(PENDING) {
        return None;
    }
    Some((request.number?, asked_for(request)?))
}

/// Who a request asks for.
#[must_use]
pub fn asked_for(request: &RequestState) -> Option<PersonaId> {
    let named = || request.subject.as_deref()?.strip_prefix(PERSONA_SUBJECT);
    let own = request.persona.clone();
    own.or_else(|| named().map(PersonaId::from))
}

/// Writes this run's wish into the state, once: the key names the run, so that later rounds and retries see it.
fn take_up(draft: &mut Draft<'_>) {
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
            let text = format!("`{persona}` is asked for already, as {track}; this wish joins it");
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
