//! Sessions of which a listing does not say whose they are, and those among them that Jules does not show.
//!
//! A listing may leave prompts out, and a title may have been changed. Such a session is looked at by itself. Where Jules
//! does not show it, for longer than [`UNREAD_PATIENCE`], a person decides about the turn whose session it may be.

use jiff::Timestamp;

use crate::engine::lookup::waiting_turns::held;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{POLL, PULL_POLL, UNREAD_PATIENCE};
use crate::engine::record::session::entry_of;
use crate::engine::record::{notice, turn};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::{HistoryEntry, Outcome, Turn};

/// All that a complete listing leaves open is sessions that Jules does not show: each may be the turn's.
pub(crate) fn behind_doors(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    sessions: &[SessionId],
    settled_at: Timestamp,
) {
    let Some(one) = sessions.first() else {
        return;
    };
    let outage = draft.snapshot.unread.get(one);
    let why = outage.map_or("it was not answered", |outage| outage.detail.as_str());
    let others = match sessions.len() - 1 {
        0 => String::new(),
        others => format!(" (and {others} more)"),
    };
    let soon = outage
        .and_then(|outage| outage.retry_at)
        .unwrap_or_else(|| draft.after(POLL));
    let patience = settled_at.checked_add(UNREAD_PATIENCE);
    if turn.warned_at.is_none() && patience.is_ok_and(|patience| draft.now() < patience) {
        let text = format!(
            "session {one}{others} may be its own, and cannot be read: {why}; it is tried again"
        );
        draft.say(held(draft, track, slot, turn, text).until(soon));
        return;
    }
    if turn.cancel {
        let note = format!(
            "whether session {one}{others} is its own nobody knows, since it cannot be read; look at it at Jules"
        );
        end_unseen(draft, track, slot, note);
        return;
    }
    let text = format!(
        "session {one}{others} may be its own, and Jules does not show it: {why}; a person decides: \
         `phileas session retry {id}` goes on without it, `phileas session cancel {id}` ends the turn",
        id = turn.turn
    );
    notice::call_person(draft, track, slot, turn, &text);
    let until = soon.max(draft.after(PULL_POLL));
    draft.say(held(draft, track, slot, turn, text).until(until));
}

/// Ends a turn as cancelled of which nobody knows whether it has a session. It is written down, so that the session is
/// archived should it show itself.
pub(crate) fn end_unseen(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, note: String) {
    let key = draft.state.next_history_key();
    let seq = draft.seq(track);
    let Some(turn) = draft.turn_mut(track, slot) else {
        return;
    };
    turn.history_key = Some(key);
    let entry = HistoryEntry {
        created_at: turn.intent.as_ref().map(|intent| intent.created_at),
        ..entry_of(turn, track, slot, seq)
    };
    draft.state.history.insert(key, entry);
    turn::end(draft, track, slot, Outcome::Cancelled, Some(note));
}
