//! The origin of a track's request: its thread, its actor, and the policy that follows from it.

use super::{policy, work_items};
use crate::engine::input::subject::Actor;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::{PersonaId, TrackName};
use crate::plan::{PlanApproval, Policy};
use crate::state::{RequestKind, RequestState};

/// The request of a track that was made on an issue or pull request.
pub(crate) fn thread_request<'d>(
    builder: &'d DecisionBuilder<'_>,
    track: &TrackName,
) -> Option<&'d RequestState> {
    let number = track.request_number()?;
    let mut requests = builder.state.requests.values();
    let dashboard = builder.state.dashboard_issue;
    requests.find(|request| {
        // The dashboard's text is not part of a request: a request on it asks for the persona alone.
        request.number == Some(number)
            && request.is_on_thread()
            && (request.thread.is_none() || request.thread != dashboard)
    })
}

/// The request of a track that was made on the dashboard issue, by a checkbox or a comment. It is bound to its actor
/// alone.
pub(crate) fn dashboard_request<'d>(
    builder: &'d DecisionBuilder<'_>,
    track: &TrackName,
) -> Option<&'d RequestState> {
    let number = track.request_number()?;
    let mut requests = builder.state.requests.values();
    let dashboard = builder.state.dashboard_issue;
    requests.find(|request| {
        request.number == Some(number)
            && (request.is_of_kind(RequestKind::Checkbox)
                || (dashboard.is_some() && request.thread == dashboard))
    })
}

/// The policy of a turn. Any account with write access can start a session on a text that others wrote, so a person
/// approves its plan, unless the persona's own file says otherwise.
pub(crate) fn turn_policy(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    persona: &PersonaId,
) -> Policy {
    let state = builder.state.tracks.get(track);
    let index = state.and_then(|state| state.index);
    let policy = policy::policy_of(&builder.snapshot.plan, track, index, persona);
    request_policy(builder, track, persona, policy)
}

/// Whether a track is a person's approval of a work item.
///
/// That person has read all of it: the issue shows the item, why it came back, and the findings that it was made from,
/// and the request's digest covers them all. `build_layer_prompt` gives the session that text and no other text of
/// agents or unauthorized users, so its plan needs no further approval. Any further attachment must appear in the
/// issue, too.
pub(crate) fn is_approved_work_item(builder: &DecisionBuilder<'_>, track: &TrackName) -> bool {
    thread_request(builder, track)
        .is_some_and(|request| request.persona.as_ref().is_some_and(is_work_item))
}

/// Applies the rules for requests by labels and comments to a policy.
pub(crate) fn request_policy(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    persona: &PersonaId,
    mut policy: Policy,
) -> Policy {
    let own = builder.snapshot.plan.personas.get(persona);
    let says_itself = own.is_some_and(|persona| persona.plan_approval.is_some());
    if thread_request(builder, track).is_some()
        && !is_approved_work_item(builder, track)
        && !says_itself
        && policy.plan_approval == PlanApproval::Auto
    {
        policy.plan_approval = PlanApproval::Writers;
    }
    policy
}

fn is_work_item(asked: &PersonaId) -> bool {
    work_items::implementer_role(asked).is_some()
}

pub(crate) fn request_actor(request: &RequestState) -> Option<Actor> {
    let login = request.actor.as_deref()?;
    Some(Actor {
        login: login.into(),
        id: request.actor_id,
        bot: login.ends_with("[bot]"),
    })
}

/// The newest request for a session on an issue or pull request: the one that `retry` repeats.
pub(crate) fn newest_request<'d>(
    builder: &'d DecisionBuilder<'_>,
    subject: &str,
) -> Option<&'d RequestState> {
    let requests = builder.state.requests.values();
    requests
        .filter(|request| request.subject.as_deref() == Some(subject))
        // Skip requests of unauthorized users, so that a writer's `retry` does not start them.
        .filter(|request| request.persona.is_some() && !is_unauthorized(request))
        .max_by_key(|request| request.number)
}

/// Whether a refusal concerns the actor, not the request: such a request counts as never made.
pub(crate) fn is_about_actor(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::ActorPermission | Reason::ActorUnknown | Reason::ActorBot | Reason::ActorSelf
    )
}

/// Whether an unauthorized user made a request.
pub(crate) fn is_unauthorized(request: &RequestState) -> bool {
    let reason = request.reason.as_deref().and_then(Reason::from_code);
    request.is_refused() && reason.is_some_and(is_about_actor)
}
