//! Notices that a turn needs a person.

use jiff::Timestamp;

use crate::engine::lookup::plan_approval;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::CALL_AGAIN;
use crate::model::{Slot, TrackName};
use crate::state::Turn;

/// Calls a person by an issue, unless one is open. An issue that was decided on and is not there is opened again after
/// a while: its sender died, GitHub refused it, or somebody closed it and settled nothing.
pub(crate) fn call_person(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    detail: &str,
) {
    call_for(draft, (track, slot), turn, detail, None);
}

/// The same, with the plan that waits, by its activity. Another plan than the one that people were shown calls again, by
/// another issue: who approved on the first one would approve what is not shown there.
pub(crate) fn call_for(
    draft: &mut Draft<'_>,
    (track, slot): (&TrackName, &Slot),
    turn: &Turn,
    detail: &str,
    plan: Option<String>,
) {
    let now = draft.now();
    let key = NoticeKey::Turn(turn.turn.clone());
    let is_other_plan = turn.warned_at.is_some() && plan.is_some() && turn.plan_shown != plan;
    let lately = |at: Timestamp| now.duration_since(at) < CALL_AGAIN;
    if !is_other_plan
        && (turn.warned_at.is_some_and(lately)
            || (turn.warned_at.is_some() && draft.is_called(&key)))
    {
        return;
    }
    let seq = draft.seq(track);
    let before = turn.plan_shown.clone();
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.warned_at = Some(now);
        turn.plan_shown = plan.clone();
    }
    let persona = &turn.persona_id;
    let session = turn
        .session_id
        .as_ref()
        .map(|id| format!("\n\nThe session: https://jules.google.com/session/{id}"))
        .unwrap_or_default();
    let plan = plan.and_then(|_| plan_approval::shown(draft, track, turn));
    let plan = plan.map(|text| format!("\n\n{text}")).unwrap_or_default();
    let title = format!("phileas: {persona} waits for a person");
    let body = format!(
        "Turn {seq} of track `{track}` ({persona}): {detail}.{session}{plan}\n\nThe track waits until this is settled; \
         the others go on. `phileas explain` shows where it stands, `phileas session cancel` ends the turn."
    );
    if is_other_plan {
        let comment = match before {
            Some(_) => "Jules made another plan; another issue shows it.",
            None => "Jules made a plan; another issue shows it.",
        };
        draft.call_anew(key, title, body, comment);
    } else {
        draft.call(key, title, body);
    }
    draft.headline(
        format!("called a person for {track}#{seq} {persona}"),
        Some(&turn.turn),
    );
}
