//! Ends turns: with an outcome, with another attempt, or before they had a session.

use jiff::Timestamp;

use super::session::new_entry;
use super::{pull, request, rest, work_item};
use crate::engine::lookup::slot::SlotRole;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Reason, Verdict};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::{HistoryEntry, Outcome, State, Turn};

/// Records that an attempt failed and the next one may start.
pub(crate) fn retry_turn(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    note: &str,
) {
    let now = builder.now();
    let seq = builder.newest_seq(track);
    let Some(turn) = builder.find_turn_mut(track, slot) else {
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
    turn.approved_plan = None;
    turn.repeated_plan = None;
    turn.not_before = Some(now);
    let turn = turn.clone();
    if let Some(entry) = key.and_then(|key| builder.state.history.get_mut(&key)) {
        entry.outcome = Some(Outcome::Failed);
        entry.finished_at = Some(now);
        entry.note = Some(note.to_owned());
    }
    builder.add_headline(
        format!(
            "attempt {} of {track}#{seq} {}",
            turn.attempt, turn.persona_id
        ),
        Some(&turn.turn),
    );
    let text = format!("the session failed ({note}); it is tried again");
    builder.report_line(
        builder
            .turn_line(
                track,
                slot,
                &turn,
                Verdict::Waiting,
                Reason::RetryPause,
                text,
            )
            .with_until(now),
    );
}

/// Ends a turn: records its outcome and frees its slot.
pub(crate) fn end_turn(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    outcome: Outcome,
    note: Option<String>,
) {
    let now = builder.now();
    let seq = builder.newest_seq(track);
    let pull = builder
        .find_turn(track, slot)
        .and_then(|turn| turn.pr_number);
    if work_item::needs_exchange_to_settle(builder, Some(slot), &outcome, pull) {
        if let Some(turn) = builder.find_turn(track, slot) {
            let text = format!(
                "{}; the exchange is read to settle its work item",
                outcome.describe(pull)
            );
            let verdict = Verdict::Waiting;
            let line = builder.turn_line(track, slot, turn, verdict, Reason::ExchangeUnread, text);
            builder.report_line(line.with_until(builder.now_plus(POLL)));
        }
        return;
    }
    let Some((turn, was)) = close_turn(
        &mut builder.state,
        track,
        slot,
        &outcome,
        note.as_ref(),
        now,
    ) else {
        return;
    };
    rest::record_rest(builder, track, &turn.persona_id, was.as_ref(), &outcome);
    work_item::settle_work_item(builder, Some(slot), &outcome, note.as_deref(), pull);
    builder.add_headline(
        format!("settled {track}#{seq} {} {outcome}", turn.persona_id),
        Some(&turn.turn),
    );
    let text = match note {
        Some(note) => format!("{}: {note}", outcome.describe(pull)),
        None => outcome.describe(pull),
    };
    builder.report_line(builder.turn_line(
        track,
        slot,
        &turn,
        Verdict::Advanced,
        Reason::Finished,
        text,
    ));
}

/// Ends the live turn of a session that a person archived through phileas as cancelled, or as one with an open pull
/// request, which is followed on. Returns its track and the turn. `None`: no live turn has this session. The next tick
/// would record the same; this is for commands that do nothing else. A cancellation does not affect the persona's rest.
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
    let opens_pull = SlotRole::from_slot(&slot).is_none_or(|slot_role| slot_role.opens_pull());
    let outcome = match turn.pr_number {
        Some(_) if opens_pull => Outcome::PrOpen,
        _ => Outcome::Cancelled,
    };
    let (turn, _) = close_turn(state, &track, &slot, &outcome, None, now)?;
    Some((track, turn))
}

/// Frees the slot, and completes the turn's entry and its request. Returns the turn and the outcome that was recorded
/// before.
fn close_turn(
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
        pull::schedule_archiving(state, &entry, now);
    }
    request::finish_request(state, &Some(turn.turn.clone()), outcome, now);
    Some((turn, was))
}

/// Ends a turn that has no session yet. It leaves no history, unless an earlier attempt may have a session: by that entry
/// a later tick archives the session.
pub(crate) fn drop_unstarted(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    text: &str,
) {
    let seq = builder.newest_seq(track);
    builder.track_mut(track).turns.remove(slot);
    let now = builder.now();
    if turn.ambiguous > 0 {
        let key = builder.state.next_history_key();
        let entry = HistoryEntry {
            created_at: turn.listed_empty_at,
            outcome: Some(Outcome::Cancelled),
            finished_at: Some(now),
            note: Some(text.to_owned()),
            ..new_entry(turn, track, slot, seq)
        };
        builder.state.history.insert(key, entry);
    }
    let turn_id = Some(turn.turn.clone());
    request::finish_request(&mut builder.state, &turn_id, &Outcome::Cancelled, now);
    builder.add_headline(
        format!("cancelled {track}#{seq} {}", turn.persona_id),
        Some(&turn.turn),
    );
    builder.report_line(builder.turn_line(
        track,
        slot,
        turn,
        Verdict::Advanced,
        Reason::Finished,
        text,
    ));
}
