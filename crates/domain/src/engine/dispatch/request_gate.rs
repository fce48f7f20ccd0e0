//! Checks a request again right before its session starts: its content, its actor and the labels must be unchanged.

use super::candidate::{Candidate, waiting_line};
use crate::engine::input::commands::HOLD;
use crate::engine::input::subject::Subject;
use crate::engine::lookup::permissions::may_write;
use crate::engine::lookup::request_origin::{dashboard_request, request_actor, thread_request};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{POLL, PULL_POLL};
use crate::engine::output::report::{Line, Reason};
use crate::model::TrackName;

/// Blocks a candidate by the label `phileas:hold`.
pub(crate) fn hold_line(builder: &DecisionBuilder<'_>, candidate: &Candidate) -> Option<Line> {
    let thread = thread_request(builder, &candidate.track)?.thread?;
    let labels = builder.snapshot.labelled.get(&thread)?;
    labels
        .contains(HOLD)
        .then(|| held_line(builder, candidate, thread))
}

fn held_line(builder: &DecisionBuilder<'_>, candidate: &Candidate, thread: u64) -> Line {
    let text = format!("#{thread} carries the label `phileas:hold`");
    waiting_line(candidate, Reason::SubjectHeld, text).with_until(builder.now_plus(PULL_POLL))
}

/// Like [`hold_line`], by the subject that was read again: the first read lists only recently updated subjects.
pub(crate) fn reread_hold_line(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Option<Line> {
    let thread = thread_request(builder, &candidate.track)?.thread?;
    let subject = builder.snapshot.subjects.get(&thread)?.as_ref()?;
    // A closed subject is refused, not held.
    (subject.open && subject.labels.contains(HOLD)).then(|| held_line(builder, candidate, thread))
}

/// Blocks a candidate while its subject or its actor's permission must be read.
pub(crate) fn unread_line(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Option<Line> {
    if let Some(request) = dashboard_request(builder, &candidate.track) {
        let actor = request_actor(request)?;
        return match may_write(builder, &actor) {
            Some(_) => None,
            None => Some(unread_actor_line(builder, candidate)),
        };
    }
    let request = thread_request(builder, &candidate.track)?;
    let thread = request.thread?;
    let actor = request_actor(request);
    let text = if !builder.snapshot.subjects.contains_key(&thread) {
        builder.reads.subjects.insert(thread);
        format!("#{thread} is read again before anything starts")
    } else if actor.is_some_and(|actor| may_write(builder, &actor).is_none()) {
        return Some(unread_actor_line(builder, candidate));
    } else {
        return None;
    };
    Some(waiting_line(candidate, Reason::RequestUnread, text).with_until(builder.now_plus(POLL)))
}

fn unread_actor_line(builder: &DecisionBuilder<'_>, candidate: &Candidate) -> Line {
    let text = "the permission of its actor is read again";
    waiting_line(candidate, Reason::RequestUnread, text).with_until(builder.now_plus(POLL))
}

/// The current content that a request is bound to. `None`: the track is bound to none.
///
/// # Errors
///
/// Why it may not start: the content was changed, is closed or gone, or the actor is no longer authorized.
pub(crate) fn bound_subject<'s>(
    builder: &mut DecisionBuilder<'s>,
    track: &TrackName,
) -> Result<Option<&'s Subject>, (Reason, String)> {
    let gone = || {
        let text = "its actor is no longer authorized".to_owned();
        (Reason::ActorPermission, text)
    };
    if let Some(actor) = dashboard_request(builder, track).map(request_actor) {
        let may = actor.and_then(|actor| may_write(builder, &actor));
        return if may == Some(true) {
            Ok(None)
        } else {
            Err(gone())
        };
    }
    let Some(request) = thread_request(builder, track) else {
        return Ok(None);
    };
    let Some(thread) = request.thread else {
        return Ok(None);
    };
    let (digest, actor) = (request.digest.clone(), request_actor(request));
    let snapshot = builder.snapshot;
    let subject = snapshot.subjects.get(&thread).and_then(Option::as_ref);
    let Some(subject) = subject.filter(|subject| subject.open) else {
        let text = format!("#{thread} was closed or is gone");
        return Err((Reason::SubjectClosed, text));
    };
    if Some(subject.digest()) != digest {
        let text = format!("#{thread} was changed after the request");
        return Err((Reason::ContentChanged, text));
    }
    if actor.and_then(|actor| may_write(builder, &actor)) != Some(true) {
        return Err(gone());
    }
    Ok(Some(subject))
}
