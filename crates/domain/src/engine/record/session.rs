//! Records a session that was created or adopted.

use jiff::Timestamp;

use crate::engine::input::session::Session;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::{Marker, Slot, TrackName};
use crate::prompt;
use crate::state::{Extra, HistoryEntry, Intent, Turn};

/// A history entry of a turn without a session.
pub(crate) fn new_entry(turn: &Turn, track: &TrackName, slot: &Slot, seq: u64) -> HistoryEntry {
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
        zero_touch: None,
        review_secs: None,
        refused: None,
        prompt: None,
        note: None,
        extra: Extra::new(),
    }
}

/// How many characters of a digest tell the prompts of a persona apart.
const PROMPT_DIGEST_CHARS: usize = 12;

/// Records a session as the turn's own: in the turn, its track, the history and the budget.
pub(crate) fn record_session(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
    session: &Session,
    word: &str,
) {
    let key = builder.state.next_history_key();
    let Some(state) = builder.state.tracks.get_mut(track) else {
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
    // A session that was adopted without an intent gets a holder from now on.
    turn.intent.get_or_insert_with(|| Intent {
        created_at: session.created_at,
        not_after: session.created_at,
        holder: builder.snapshot.holder.clone(),
        prompt_sha256: session
            .prompt
            .as_deref()
            .map(prompt::prompt_sha256)
            .unwrap_or_default(),
        extra: Extra::new(),
    });
    state.session_id = Some(session.id.clone());
    state.updated_at = Some(builder.snapshot.now);
    let personas = &builder.snapshot.plan.personas;
    let prompt = personas.get(&turn.persona_id).map(|persona| {
        let digest = prompt::prompt_sha256(&persona.body);
        digest.chars().take(PROMPT_DIGEST_CHARS).collect()
    });
    let entry = HistoryEntry {
        prompt,
        session_id: Some(session.id.clone()),
        created_at: Some(session.created_at),
        attempt: Some(marker.attempt),
        ..new_entry(turn, track, slot, seq)
    };
    let headline = format!("{word} {track}#{seq} {}", turn.persona_id);
    let turn_id = turn.turn.clone();
    // A persona without a session has not seen this head.
    if let Some(base) = &turn.base_sha {
        let (persona, base) = (turn.persona_id.clone(), base.clone());
        state.base_shas.insert(persona, base);
    }
    builder.state.history.insert(key, entry);
    record_spending(builder, session.created_at);
    builder.add_headline(headline, Some(&turn_id));
}

fn record_spending(builder: &mut DecisionBuilder<'_>, at: Timestamp) {
    let created = &mut builder.state.budget.created;
    let place = created.partition_point(|known| *known <= at);
    created.insert(place, at);
}
