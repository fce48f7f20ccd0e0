//! A session that was created or adopted, in the state.

use jiff::Timestamp;

use crate::engine::input::session::Session;
use crate::engine::output::builder::Draft;
use crate::model::{Marker, Slot, TrackName};
use crate::prompt;
use crate::state::{Extra, HistoryEntry, Intent, Turn};

/// What the history says of a turn that has no session yet.
pub(crate) fn entry_of(turn: &Turn, track: &TrackName, slot: &Slot, seq: u64) -> HistoryEntry {
    HistoryEntry {
        persona_id: turn.persona_id.clone(),
        session_id: None,
        pr_number: None,
        created_at: None,
        track: Some(track.clone()),
        turn: Some(turn.turn.clone()),
        seq: Some(seq),
        slot: Some(slot.clone()),
        attempt: Some(turn.attempt),
        base_sha: turn.base_sha.clone(),
        outcome: None,
        finished_at: None,
        duplicates: Vec::new(),
        note: None,
        extra: Extra::new(),
    }
}

/// Makes a session the turn's own: in the turn, in its track, in the history and in the budget.
pub(crate) fn own(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
    session: &Session,
    word: &str,
) {
    let key = draft.state.next_history_key();
    let Some(state) = draft.state.tracks.get_mut(track) else {
        return;
    };
    let seq = state.seq;
    let Some(turn) = state.turns.get_mut(slot) else {
        return;
    };
    turn.refusals = 0;
    turn.refusal = None;
    state.refused.remove(&turn.persona_id);
    turn.session_id = Some(session.id.clone());
    turn.history_key = Some(key);
    // A session that is taken without an intent of this process still has a holder from now on.
    turn.intent.get_or_insert_with(|| Intent {
        created_at: session.created_at,
        not_after: session.created_at,
        holder: draft.snapshot.holder.clone(),
        prompt_sha256: session
            .prompt
            .as_deref()
            .map(prompt::sha256)
            .unwrap_or_default(),
        extra: Extra::new(),
    });
    state.session_id = Some(session.id.clone());
    state.updated_at = Some(draft.snapshot.now);
    let entry = HistoryEntry {
        session_id: Some(session.id.clone()),
        created_at: Some(session.created_at),
        attempt: Some(marker.attempt),
        ..entry_of(turn, track, slot, seq)
    };
    let headline = format!("{word} {track}#{seq} {}", turn.persona_id);
    let turn_id = turn.turn.clone();
    // Who never got a session has not seen this head.
    if let Some(base) = &turn.base_sha {
        let (persona, base) = (turn.persona_id.clone(), base.clone());
        state.base_shas.insert(persona, base);
    }
    draft.state.history.insert(key, entry);
    spend(draft, session.created_at);
    draft.headline(headline, Some(&turn_id));
}

fn spend(draft: &mut Draft<'_>, at: Timestamp) {
    let created = &mut draft.state.budget.created;
    let place = created.partition_point(|known| *known <= at);
    created.insert(place, at);
}
