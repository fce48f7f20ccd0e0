//! A request of a label or comment stays bound to what it was put on, to who put it there, and to the gate, until its
//! session is started: everything is looked at once more right before.

use super::admission::may_write;
use super::draft::Draft;
use super::limits::{POLL, PULL_POLL};
use super::start::{Candidate, wait};
use super::subject::{Actor, Subject};
use super::wish::{BY_BOX, BY_COMMENT, BY_LABEL, HOLD};
use super::{Line, Reason, layers, step};
use crate::model::{PersonaId, TrackName};
use crate::plan::{PlanApproval, Policy};
use crate::state::RequestState;

/// The request of a track that somebody made on an issue or pull request.
fn of_track<'d>(draft: &'d Draft<'_>, track: &TrackName) -> Option<&'d RequestState> {
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
fn of_dashboard<'d>(draft: &'d Draft<'_>, track: &TrackName) -> Option<&'d RequestState> {
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
pub(super) fn policy_of(
    draft: &Draft<'_>,
    track: &TrackName,
    index: Option<u64>,
    persona: &PersonaId,
) -> Policy {
    let policy = step::policy_of(&draft.snapshot.plan, track, index, persona);
    of_wish(draft, track, persona, policy)
}

/// Whether a track is a person's word for a work item.
///
/// That person has read the whole of it: the issue shows the item, why it came back, and the findings that it was made
/// of, and the request's digest covers them all. `layers::speak` gives the session that very text, and nothing else that
/// agents or strangers wrote, so there is no plan that somebody would have to look at once more. Whoever attaches
/// anything further there must put it into the issue, too.
pub(super) fn lets_through(draft: &Draft<'_>, track: &TrackName) -> bool {
    of_track(draft, track).is_some_and(|request| request.persona.as_ref().is_some_and(is_offer))
}

/// A policy with what applies to requests of labels and comments.
pub(super) fn of_wish(
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

/// Whether the label `phileas:hold` stands in the way.
pub(super) fn on_hold(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let thread = of_track(draft, &candidate.track)?.thread?;
    let labels = draft.snapshot.labelled.get(&thread)?;
    labels
        .contains(HOLD)
        .then(|| held(draft, candidate, thread))
}

fn is_offer(asked: &PersonaId) -> bool {
    layers::seat_of(asked).is_some()
}

fn held(draft: &Draft<'_>, candidate: &Candidate, thread: u64) -> Line {
    let text = format!("#{thread} carries the label `phileas:hold`");
    wait(candidate, Reason::SubjectHeld, text).until(draft.after(PULL_POLL))
}

/// The same, by what was read once more: only what was touched last is listed with its labels.
pub(super) fn still_on_hold(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let thread = of_track(draft, &candidate.track)?.thread?;
    let subject = draft.snapshot.subjects.get(&thread)?.as_ref()?;
    // One that was closed waits for nobody.
    (subject.open && subject.labels.contains(HOLD)).then(|| held(draft, candidate, thread))
}

/// Whether what it is about, and what its actor may do, are still to be read.
pub(super) fn unread(draft: &mut Draft<'_>, candidate: &Candidate) -> Option<Line> {
    if let Some(request) = of_dashboard(draft, &candidate.track) {
        let actor = actor_of(request)?;
        return match may_write(draft, &actor) {
            Some(_) => None,
            None => Some(unread_actor(draft, candidate)),
        };
    }
    let request = of_track(draft, &candidate.track)?;
    let thread = request.thread?;
    let actor = actor_of(request);
    let text = if !draft.snapshot.subjects.contains_key(&thread) {
        draft.needs.subjects.insert(thread);
        format!("#{thread} is read once more before anything starts")
    } else if actor.is_some_and(|actor| may_write(draft, &actor).is_none()) {
        return Some(unread_actor(draft, candidate));
    } else {
        return None;
    };
    Some(wait(candidate, Reason::RequestUnread, text).until(draft.after(POLL)))
}

fn unread_actor(draft: &Draft<'_>, candidate: &Candidate) -> Line {
    let text = "what its actor may do is looked at once more";
    wait(candidate, Reason::RequestUnread, text).until(draft.after(POLL))
}

pub(super) fn actor_of(request: &RequestState) -> Option<Actor> {
    let login = request.actor.as_deref()?;
    Some(Actor {
        login: login.into(),
        id: request.actor_id,
        bot: login.ends_with("[bot]"),
    })
}

/// The content that a request is bound to, as it is now. `None`: the track is bound to nothing.
///
/// # Errors
///
/// Why nothing may start: the content was changed, is closed or gone, or its actor may not ask any more.
pub(super) fn content<'s>(
    draft: &mut Draft<'s>,
    track: &TrackName,
) -> Result<Option<&'s Subject>, (Reason, String)> {
    let gone = || {
        let text = "who asked for it may not do so any more".to_owned();
        (Reason::ActorPermission, text)
    };
    if let Some(actor) = of_dashboard(draft, track).map(actor_of) {
        let may = actor.and_then(|actor| may_write(draft, &actor));
        return if may == Some(true) {
            Ok(None)
        } else {
            Err(gone())
        };
    }
    let Some(request) = of_track(draft, track) else {
        return Ok(None);
    };
    let Some(thread) = request.thread else {
        return Ok(None);
    };
    let (digest, actor) = (request.digest.clone(), actor_of(request));
    let snapshot = draft.snapshot;
    let subject = snapshot.subjects.get(&thread).and_then(Option::as_ref);
    let Some(subject) = subject.filter(|subject| subject.open) else {
        let text = format!("#{thread} was closed or is gone");
        return Err((Reason::SubjectClosed, text));
    };
    if Some(subject.digest()) != digest {
        let text = format!("#{thread} was changed after it was asked for");
        return Err((Reason::ContentChanged, text));
    }
    if actor.and_then(|actor| may_write(draft, &actor)) != Some(true) {
        return Err(gone());
    }
    Ok(Some(subject))
}

/// Writes down why a turn was given up before it had a session.
pub(super) fn note_refusal(draft: &mut Draft<'_>, track: &TrackName, reason: Reason) {
    let number = track.request_number();
    let mut requests = draft.state.requests.values_mut();
    if let Some(request) = requests.find(|one| number.is_some() && one.number == number) {
        request.reason = Some(reason.code().to_owned());
    }
}
