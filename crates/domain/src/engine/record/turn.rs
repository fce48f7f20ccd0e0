//! How turns end: with an outcome, with another attempt, or before they had a session.

use jiff::Timestamp;

use super::{pull, request, rest, work_item};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Reason, Verdict};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::{Outcome, State, Turn};

/// The attempt failed, and the next one is to be started.
pub(crate) fn retry(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, note: &str) {
    let now = draft.now();
    let seq = draft.seq(track);
    let Some(turn) = draft.turn_mut(track, slot) else {
        return;
    };
    let key = turn.history_key.take();
    turn.attempt += 1;
    turn.failures += 1;
    turn.session_id = None;
    turn.intent = None;
    turn.pr_number = None;
    turn.nudges = 0;
    turn.nudged_at = None;
    turn.reminded_at = None;
    turn.repeats = 0;
    turn.not_before = Some(now);
    let turn = turn.clone();
    if let Some(entry) = key.and_then(|key| draft.state.history.get_mut(&key)) {
        entry.outcome = Some(Outcome::Failed);
        entry.finished_at = Some(now);
        entry.note = Some(note.to_owned());
    }
    draft.headline(
        format!(
            "attempt {} of {track}#{seq} {}",
            turn.attempt, turn.persona_id
        ),
        Some(&turn.turn),
    );
    let text = format!("the session failed ({note}); it is tried again");
    draft.say(
        draft
            .line(
                track,
                slot,
                &turn,
                Verdict::Waiting,
                Reason::RetryPause,
                text,
            )
            .until(now),
    );
}

/// The turn is over: its outcome is written down and its slot freed.
pub(crate) fn end(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    outcome: Outcome,
    note: Option<String>,
) {
    let now = draft.now();
    let seq = draft.seq(track);
    let pull = draft.turn(track, slot).and_then(|turn| turn.pr_number);
    if work_item::settles_later(draft, Some(slot), &outcome, pull) {
        if let Some(turn) = draft.turn(track, slot) {
            let text = format!("outcome {outcome}; the exchange is read to settle its work item");
            let verdict = Verdict::Waiting;
            let line = draft.line(track, slot, turn, verdict, Reason::ExchangeUnread, text);
            draft.say(line.until(draft.after(POLL)));
        }
        return;
    }
    let Some((turn, was)) = close(&mut draft.state, track, slot, &outcome, note.as_ref(), now)
    else {
        return;
    };
    rest::learn(draft, track, &turn.persona_id, was.as_ref(), &outcome);
    work_item::settle(draft, Some(slot), &outcome, note.as_deref(), pull);
    draft.headline(
        format!("settled {track}#{seq} {} {outcome}", turn.persona_id),
        Some(&turn.turn),
    );
    let text = match note {
        Some(note) => format!("outcome {outcome}: {note}"),
        None => format!("outcome {outcome}"),
    };
    draft.say(draft.line(
        track,
        slot,
        &turn,
        Verdict::Advanced,
        Reason::Finished,
        text,
    ));
}

/// Ends the live turn of a session that a person has archived by phileas, as a cancelled one; answers with its track and
/// the turn. `None`: no live turn has this session. It is what the next tick would write, for whoever has stopped the
/// session and looks at nothing else; persons' wishes teach nothing about a persona, so its rest stays as it is.
pub fn end_cancelled(
    state: &mut State,
    session: &SessionId,
    now: Timestamp,
) -> Option<(TrackName, Turn)> {
    let (track, slot, turn) = state.live_turn(session.as_str())?;
    if turn.session_id.as_ref() != Some(session) {
        return None;
    }
    let (track, slot) = (track.clone(), slot.clone());
    let (turn, _) = close(state, &track, &slot, &Outcome::Cancelled, None, now)?;
    Some((track, turn))
}

/// Frees the slot, and completes the turn's entry and the request that asked for it. Answers with the turn and the
/// outcome that was written before.
fn close(
    state: &mut State,
    track: &TrackName,
    slot: &Slot,
    outcome: &Outcome,
    note: Option<&String>,
    now: Timestamp,
) -> Option<(Turn, Option<Outcome>)> {
    let known = state.tracks.get_mut(track)?;
    let turn = known.turns.remove(slot)?;
    known.updated_at = Some(now);
    let mut was = None;
    if let Some(entry) = turn.history_key.and_then(|key| state.history.get_mut(&key)) {
        was = entry.outcome.replace(outcome.clone());
        entry.finished_at = Some(now);
        entry.note = note.cloned();
        entry.pr_number = entry.pr_number.or(turn.pr_number);
        let entry = entry.clone();
        pull::note(state, &entry, now);
    }
    request::finish_request(state, &Some(turn.turn.clone()), outcome, now);
    Some((turn, was))
}

/// A turn that ends before it had a session leaves no history.
pub(crate) fn drop_unstarted(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    text: &str,
) {
    let seq = draft.seq(track);
    draft.track_mut(track).turns.remove(slot);
    let now = draft.now();
    let turn_id = Some(turn.turn.clone());
    request::finish_request(&mut draft.state, &turn_id, &Outcome::Cancelled, now);
    draft.headline(
        format!("cancelled {track}#{seq} {}", turn.persona_id),
        Some(&turn.turn),
    );
    draft.say(draft.line(track, slot, turn, Verdict::Advanced, Reason::Finished, text));
}
