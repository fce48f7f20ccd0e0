//! A request of a label or comment stays bound to what it was put on, to who put it there, and to the gate, until its
//! session is started: everything is looked at once more right before.

use super::candidate::{Candidate, wait};
use crate::engine::input::request_kind::HOLD;
use crate::engine::input::subject::Subject;
use crate::engine::lookup::permissions::may_write;
use crate::engine::lookup::request_origin::{actor_of, of_dashboard, of_track};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{POLL, PULL_POLL};
use crate::engine::output::report::{Line, Reason};
use crate::model::TrackName;

/// Whether the label `phileas:hold` stands in the way.
pub(crate) fn on_hold(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let thread = of_track(draft, &candidate.track)?.thread?;
    let labels = draft.snapshot.labelled.get(&thread)?;
    labels
        .contains(HOLD)
        .then(|| held(draft, candidate, thread))
}

fn held(draft: &Draft<'_>, candidate: &Candidate, thread: u64) -> Line {
    let text = format!("#{thread} carries the label `phileas:hold`");
    wait(candidate, Reason::SubjectHeld, text).until(draft.after(PULL_POLL))
}

/// The same, by what was read once more: only what was touched last is listed with its labels.
pub(crate) fn still_on_hold(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let thread = of_track(draft, &candidate.track)?.thread?;
    let subject = draft.snapshot.subjects.get(&thread)?.as_ref()?;
    // One that was closed waits for nobody.
    (subject.open && subject.labels.contains(HOLD)).then(|| held(draft, candidate, thread))
}

/// Whether what it is about, and what its actor may do, are still to be read.
pub(crate) fn unread(draft: &mut Draft<'_>, candidate: &Candidate) -> Option<Line> {
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

/// The content that a request is bound to, as it is now. `None`: the track is bound to nothing.
///
/// # Errors
///
/// Why nothing may start: the content was changed, is closed or gone, or its actor may not ask any more.
pub(crate) fn content<'s>(
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
