//! A ledger that can be read and is older than what Jules shows: it is kept, and what it missed is added.

use jiff::Timestamp;

use super::{Rebuilt, SessionFact, close_unfollowed, rebuild};
use crate::model::{RepositoryId, TrackName};
use crate::state::{HistoryEntry, Outcome, State, TrackState};

/// Proposes the state that follows from an older one and the sessions of one repository. Nothing that is written is
/// taken back; `nonce` serves only where the older state was never born.
#[must_use]
pub fn catch_up(
    before: &State,
    repository_id: RepositoryId,
    now: Timestamp,
    nonce: String,
    facts: &[SessionFact],
) -> Rebuilt {
    let nonce = before
        .genesis
        .as_ref()
        .map_or(nonce, |genesis| genesis.nonce.clone());
    // What is older than the oldest entry at hand stands in the archive.
    let begins = before
        .history
        .first_key_value()
        .and_then(|(_, entry)| entry.created_at)
        .unwrap_or(Timestamp::MIN);
    let missed: Vec<SessionFact> = facts
        .iter()
        .filter(|fact| before.entry_of_session(&fact.session_id).is_none())
        .filter(|fact| fact.created_at >= begins)
        .cloned()
        .collect();
    let Rebuilt {
        state: found,
        mut notes,
    } = rebuild(repository_id, now, nonce, &missed);
    let mut state = before.clone();
    state.genesis = state.genesis.or(found.genesis);
    let first = state.next_history_key();
    for (key, entry) in found.history {
        state.history.insert(first + key, entry);
    }
    for (name, track) in found.tracks {
        advance(&mut state, &name, track, first, facts, &mut notes);
    }
    for (name, schedule) in found.schedules {
        let known = state.schedules.entry(name).or_default();
        known.last_fired = known.last_fired.max(schedule.last_fired);
    }
    close_unfollowed(&mut state, &mut notes);
    state.budget.created.extend(found.budget.created);
    state.budget.created.sort_unstable();
    Rebuilt { state, notes }
}

/// Moves a track on to what it missed. A turn that was live before is over: another one came after it.
fn advance(
    state: &mut State,
    name: &TrackName,
    found: TrackState,
    first: u64,
    facts: &[SessionFact],
    notes: &mut Vec<String>,
) {
    let track = state.tracks.entry(name.clone()).or_default();
    if found.seq <= track.seq {
        // Known by their titles only, these sessions say nothing of their place; they count as further turns.
        track.seq += found.seq;
    } else {
        track.seq = found.seq;
    }
    track.persona_id = found.persona_id;
    track.session_id = found.session_id;
    track.pr_number = found.pr_number;
    track.updated_at = track.updated_at.max(found.updated_at);
    let over = std::mem::take(&mut track.turns);
    if found.seq == track.seq {
        track.turns = found.turns;
        for turn in track.turns.values_mut() {
            turn.history_key = turn.history_key.map(|key| first + key);
        }
    }
    for turn in over.into_values() {
        let entry = turn
            .history_key
            .and_then(|key| state.history.get_mut(&key))
            .filter(|entry| entry.outcome.is_none());
        if let Some(entry) = entry {
            notes.push(format!(
                "turn {} of `{name}` was live and is over",
                turn.turn
            ));
            finish(entry, facts);
        }
    }
}

fn finish(entry: &mut HistoryEntry, facts: &[SessionFact]) {
    let fact = facts
        .iter()
        .find(|fact| entry.session_id.as_ref() == Some(&fact.session_id));
    let end = fact.and_then(|fact| fact.ended);
    entry.pr_number = entry
        .pr_number
        .or_else(|| fact?.pull.map(|(number, _)| number));
    entry.outcome = Some(
        fact.and_then(super::outcome_of)
            .unwrap_or(Outcome::Cancelled),
    );
    entry.finished_at = end.map(|end| end.at).or(entry.created_at);
}
