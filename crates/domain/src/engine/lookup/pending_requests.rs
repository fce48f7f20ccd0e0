//! Pending requests for a session.

use jiff::Timestamp;

use crate::engine::output::builder::DecisionBuilder;
use crate::model::{PersonaId, TrackName};
use crate::state::{RequestState, State};

/// Prefix of the persona's id in a request's subject.
pub(crate) const PERSONA_SUBJECT: &str = "persona:";

/// An accepted request that has not started.
pub(crate) struct PendingRequest {
    pub(crate) key: String,
    pub(crate) persona: PersonaId,
    pub(crate) track: TrackName,
    pub(crate) created_at: Option<Timestamp>,
}

/// Returns the accepted requests that have not started.
pub(crate) fn waiting_requests(builder: &DecisionBuilder<'_>) -> Vec<PendingRequest> {
    let requests = builder.state.requests.iter();
    requests
        .filter_map(|(key, request)| {
            let (number, persona) = waiting_persona(request)?;
            Some(PendingRequest {
                key: key.clone(),
                persona,
                track: TrackName::of_request(number),
                created_at: request.created_at,
            })
        })
        .collect()
}

/// Returns the numbers and personas of the accepted requests that have not started.
pub fn pending_requests(state: &State) -> impl Iterator<Item = (u64, PersonaId)> {
    state.requests.values().filter_map(waiting_persona)
}

fn waiting_persona(request: &RequestState) -> Option<(u64, PersonaId)> {
    if !request.is_pending() {
        return None;
    }
    Some((request.number?, requested_persona(request)?))
}

/// The persona that a request asks for.
#[must_use]
pub fn requested_persona(request: &RequestState) -> Option<PersonaId> {
    let named = || request.subject.as_deref()?.strip_prefix(PERSONA_SUBJECT);
    let own = request.persona.clone();
    own.or_else(|| named().map(PersonaId::from))
}
