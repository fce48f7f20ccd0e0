//! Where a request came from, who made it, and which turn it belongs to.

use super::{policy, work_items};
use crate::engine::input::request_kind::{BY_BOX, BY_COMMENT, BY_LABEL, REFUSED};
use crate::engine::input::subject::Actor;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::model::{PersonaId, TrackName};
use crate::plan::{PlanApproval, Policy};
use crate::state::RequestState;

/// The request of a track that somebody made on an issue or pull request.
pub(crate) fn of_track<'d>(draft: &'d Draft<'_>, track: &TrackName) -> Option<&'d RequestState> {
    let number = track.request_number()?;
    let mut requests = draft.state.requests.values();
    let dashboard = draft.state.dashboard_issue;
    requests.find(|request| {
        // What the dashboard says is nobody's wish: who asks on it for a persona asks for that and no more.
        request.number == Some(number)
            && [BY_LABEL, BY_COMMENT].contains(&request.kind.as_str())
            && (request.thread.is_none() || request.thread != dashboard)
    })
}

/// The request of a track that was made on the dashboard issue, by a box or by a comment: it is bound to its actor alone.
pub(crate) fn of_dashboard<'d>(
    draft: &'d Draft<'_>,
    track: &TrackName,
) -> Option<&'d RequestState> {
    let number = track.request_number()?;
    let mut requests = draft.state.requests.values();
    let dashboard = draft.state.dashboard_issue;
    requests.find(|request| {
        request.number == Some(number)
            && (request.kind == BY_BOX || (dashboard.is_some() && request.thread == dashboard))
    })
}

/// What applies to a turn. Whoever may write can start a session on a text that others wrote, so its plan is looked at
/// by a person, unless the persona itself says otherwise on the default branch.
pub(crate) fn policy_of(
    draft: &Draft<'_>,
    track: &TrackName,
    index: Option<u64>,
    persona: &PersonaId,
) -> Policy {
    let policy = policy::policy_of(&draft.snapshot.plan, track, index, persona);
    of_wish(draft, track, persona, policy)
}

/// Whether a track is a person's word for a work item.
///
/// That person has read the whole of it: the issue shows the item, why it came back, and the findings that it was made
/// of, and the request's digest covers them all. `layers::speak` gives the session that very text, and nothing else that
/// agents or strangers wrote, so there is no plan that somebody would have to look at once more. Whoever attaches
/// anything further there must put it into the issue, too.
pub(crate) fn lets_through(draft: &Draft<'_>, track: &TrackName) -> bool {
    of_track(draft, track).is_some_and(|request| request.persona.as_ref().is_some_and(is_offer))
}

/// A policy with what applies to requests of labels and comments.
pub(crate) fn of_wish(
    draft: &Draft<'_>,
    track: &TrackName,
    persona: &PersonaId,
    mut policy: Policy,
) -> Policy {
    let own = draft.snapshot.plan.personas.get(persona);
    let says_itself = own.is_some_and(|persona| persona.plan_approval.is_some());
    if of_track(draft, track).is_some()
        && !lets_through(draft, track)
        && !says_itself
        && policy.plan_approval == PlanApproval::Auto
    {
        policy.plan_approval = PlanApproval::Writers;
    }
    policy
}

fn is_offer(asked: &PersonaId) -> bool {
    work_items::seat_of(asked).is_some()
}

pub(crate) fn actor_of(request: &RequestState) -> Option<Actor> {
    let login = request.actor.as_deref()?;
    Some(Actor {
        login: login.into(),
        id: request.actor_id,
        bot: login.ends_with("[bot]"),
    })
}

/// The newest request for a session on an issue or pull request: the one that `retry` asks for again.
pub(crate) fn newest_of<'d>(draft: &'d Draft<'_>, subject: &str) -> Option<&'d RequestState> {
    let requests = draft.state.requests.values();
    requests
        .filter(|request| request.subject.as_deref() == Some(subject))
        // Whom a stranger named is nobody's wish, so a writer's `retry` does not start it.
        .filter(|request| request.persona.is_some() && !is_of_a_stranger(request))
        .max_by_key(|request| request.number)
}

/// Whether a refusal is about who asks, not about what is asked for: such a wish counts as never made.
pub(crate) fn is_about_the_actor(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::ActorPermission | Reason::ActorUnknown | Reason::ActorBot | Reason::ActorSelf
    )
}

/// Whether a request was made by somebody who may not ask.
pub(crate) fn is_of_a_stranger(request: &RequestState) -> bool {
    let mut reasons = Reason::ALL.iter();
    request.outcome.as_deref() == Some(REFUSED)
        && reasons.any(|reason| {
            is_about_the_actor(*reason) && request.reason.as_deref() == Some(reason.code())
        })
}
