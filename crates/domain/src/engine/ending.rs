//! How turns end: with an outcome, with another attempt, or before they had a session.

use super::draft::Draft;
use super::{Reason, Verdict, pulls, rest};
use crate::model::{Slot, TrackName};
use crate::state::{Outcome, Turn};

/// The attempt failed, and the next one is to be started.
pub(super) fn retry(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, note: &str) {
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
pub(super) fn end(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    outcome: Outcome,
    note: Option<String>,
) {
    let now = draft.now();
    let seq = draft.seq(track);
    let Some(turn) = draft.track_mut(track).turns.remove(slot) else {
        return;
    };
    let mut was = None;
    if let Some(entry) = turn
        .history_key
        .and_then(|key| draft.state.history.get_mut(&key))
    {
        was = entry.outcome.replace(outcome.clone());
        entry.finished_at = Some(now);
        entry.note.clone_from(&note);
        entry.pr_number = entry.pr_number.or(turn.pr_number);
    }
    rest::learn(draft, track, &turn.persona_id, was.as_ref(), &outcome);
    pulls::finish_request(draft, &Some(turn.turn.clone()), &outcome);
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

/// A turn that ends before it had a session leaves no history.
pub(super) fn drop_unstarted(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    text: &str,
) {
    let seq = draft.seq(track);
    draft.track_mut(track).turns.remove(slot);
    pulls::finish_request(draft, &Some(turn.turn.clone()), &Outcome::Cancelled);
    draft.headline(
        format!("cancelled {track}#{seq} {}", turn.persona_id),
        Some(&turn.turn),
    );
    draft.say(draft.line(track, slot, turn, Verdict::Advanced, Reason::Finished, text));
}
