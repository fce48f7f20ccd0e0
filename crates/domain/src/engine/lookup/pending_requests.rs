//! Requests for a persona that have no session yet.

use jiff::Timestamp;

use crate::engine::input::request_kind::PENDING;
use crate::engine::output::builder::Draft;
use crate::model::{PersonaId, TrackName};
use crate::state::{RequestState, State};

/// Stands before the persona's id in a request's subject.
pub(crate) const PERSONA_SUBJECT: &str = "persona:";

/// A request that was taken up and not yet started.
pub(crate) struct Pending {
    pub(crate) key: String,
    pub(crate) persona: PersonaId,
    pub(crate) track: TrackName,
    pub(crate) created_at: Option<Timestamp>,
}

/// Requests that were taken up and not yet started.
pub(crate) fn pending(draft: &Draft<'_>) -> Vec<Pending> {
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
