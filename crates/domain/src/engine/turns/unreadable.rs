//! Handles sessions that a listing does not identify and Jules does not show.
//!
//! A listing may omit prompts, and a title may have been changed. Such a session is read by its id. Where Jules does
//! not show it for longer than [`UNREAD_PATIENCE`], a person decides about the turn that may own it.

use jiff::Timestamp;

use crate::engine::lookup::waiting_turns::ambiguous_line;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{POLL, PULL_POLL, UNREAD_PATIENCE};
use crate::engine::record::session::new_entry;
use crate::engine::record::{notice, turn};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::{HistoryEntry, Outcome, Turn};

/// A complete listing leaves only unreadable sessions open: each may be the turn's.
pub(crate) fn wait_for_unreadable(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    sessions: &[SessionId],
    settled_at: Timestamp,
) {
    let Some(one) = sessions.first() else {
        return;
    };
    let outage = builder.snapshot.unread.get(one);
    let why = outage.map_or("it was not answered", |outage| outage.detail.as_str());
    let others = match sessions.len() - 1 {
        0 => String::new(),
        others => format!(" (and {others} more)"),
    };
    let soon = outage
        .and_then(|outage| outage.retry_at)
        .unwrap_or_else(|| builder.now_plus(POLL));
    let patience = settled_at.checked_add(UNREAD_PATIENCE);
    if turn.warned_at.is_none() && patience.is_ok_and(|patience| builder.now() < patience) {
        let text = format!(
            "session {one}{others} may be its own, and cannot be read: {why}; it is tried again"
        );
        builder.report_line(ambiguous_line(builder, track, slot, turn, text).with_until(soon));
        return;
    }
    if turn.cancel {
        let note = format!(
            "whether session {one}{others} is its own is not known, since it cannot be read; look at it at Jules"
        );
        end_without_session(builder, track, slot, note);
        return;
    }
    let text = format!(
        "session {one}{others} may be its own, and Jules does not show it: {why}; a person decides: \
         `phileas session retry {id}` goes on without it, `phileas session cancel {id}` ends the turn",
        id = turn.turn
    );
    notice::open_turn_notice(builder, track, slot, turn, &text);
    let until = soon.max(builder.now_plus(PULL_POLL));
    builder.report_line(ambiguous_line(builder, track, slot, turn, text).with_until(until));
}

/// Ends a turn as cancelled although it may have a session. The history entry lets a later tick archive the session,
/// should it appear.
pub(crate) fn end_without_session(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    note: String,
) {
    let key = builder.state.next_history_key();
    let seq = builder.newest_seq(track);
    let Some(turn) = builder.find_turn_mut(track, slot) else {
        return;
    };
    // The turn may have to wait for the exchange after it got its entry.
    if turn.history_key.is_none() {
        turn.history_key = Some(key);
        let entry = HistoryEntry {
            created_at: turn.intent.as_ref().map(|intent| intent.created_at),
            ..new_entry(turn, track, slot, seq)
        };
        builder.state.history.insert(key, entry);
    }
    turn::end_turn(builder, track, slot, Outcome::Cancelled, Some(note));
}
