//! Writes a request into the state, and acknowledges it on GitHub.

use jiff::Timestamp;

use super::request::{What, Wish};
use crate::engine::input::request_kind::{BY_BOX, PENDING, REFUSED};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, TrackName};
use crate::state::RequestState;

pub(crate) fn refuse(draft: &mut Draft<'_>, wish: &Wish<'_>, reason: Reason, text: &str) {
    let track = record(draft, wish, |request, now| {
        request.outcome = Some(REFUSED.to_owned());
        request.reason = Some(reason.code().to_owned());
        // What there would have to be is another thing for each command, and so is what was typed.
        let says_more = reason == Reason::NothingToDo || matches!(wish.what, What::Unknown(_));
        request.answer = says_more.then(|| text.to_owned());
        request.finished_at = Some(now);
    });
    draft.headline(format!("refused {track}"), None);
    let text = format!("on #{}: {text}", wish.subject.number);
    draft.say(Line::track(&track, Verdict::Refused, reason, text));
}

pub(crate) fn ask_for(draft: &mut Draft<'_>, wish: &Wish<'_>, persona: &PersonaId) {
    let track = record(draft, wish, |request, _| {
        request.outcome = Some(PENDING.to_owned());
        request.persona = Some(persona.clone());
    });
    draft.headline(format!("{track} {persona}"), None);
}

/// What people see at once: eyes for what was heard, and the label off. Both do no harm when they are done again.
pub(crate) fn acknowledge(draft: &mut Draft<'_>, wish: &Wish<'_>, heard: bool) {
    let thread = wish.subject.number;
    // A box is answered by what the dashboard says afterwards.
    if heard && wish.kind != BY_BOX {
        let comment = wish.comment;
        draft.effect(Effect::AddReaction { thread, comment });
    }
    if let Some(label) = wish.label.clone() {
        draft.effect(Effect::RemoveLabel { thread, label });
    }
}

/// Writes a wish into the state, and answers with its track.
pub(crate) fn record(
    draft: &mut Draft<'_>,
    wish: &Wish<'_>,
    and: impl FnOnce(&mut RequestState, Timestamp),
) -> TrackName {
    let now = draft.now();
    let number = draft.state.next_request_number();
    let subject = wish.subject;
    let is_box = wish.kind == BY_BOX;
    // What the dashboard says is phileas' own, and changes by itself.
    let is_bound = draft.state.dashboard_issue != Some(subject.number);
    let mut same: Vec<_> = draft
        .state
        .requests
        .values()
        .filter(|one| one.subject.as_deref() == Some(subject.id.as_str()))
        .filter_map(|one| Some((one.number, one.comment_id?)))
        .collect();
    same.sort_unstable();
    let mut request = RequestState {
        kind: wish.kind.to_owned(),
        subject: Some(subject.id.clone()),
        digest: is_bound.then(|| subject.digest()),
        actor: wish.actor.map(|actor| actor.login.to_string()),
        actor_id: wish.actor.and_then(|actor| actor.id),
        // The dashboard itself tells of what was asked for by its boxes.
        thread: (!is_box).then_some(subject.number),
        persona: match &wish.what {
            What::Run(persona) => Some(persona.clone()),
            _ => None,
        },
        command: match &wish.what {
            What::Run(_) => None,
            what => Some(what.word().to_owned()),
        },
        number: Some(number),
        comment_id: same.last().map(|(_, id)| *id),
        asked_at: Some(wish.at),
        created_at: Some(now),
        ..RequestState::default()
    };
    and(&mut request, now);
    draft
        .state
        .requests
        .insert(wish.key.clone().into_owned(), request);
    TrackName::of_request(number)
}
