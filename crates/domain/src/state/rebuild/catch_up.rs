//! Adds missed sessions to a readable ledger that is older than Jules' listing.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::facts::{RebuildProposal, SessionFact};
use super::from_sessions::{
    close_unfollowed, rebuild_from_sessions, restart_comment_cursor, session_outcome,
};
use crate::model::{Marker, RepositoryId, TrackName, TurnId};
use crate::state::{HistoryEntry, Outcome, State, TrackState};

/// Proposes the state that follows from an older one and the sessions of one repository. Existing entries stay. `nonce` is
/// used only if the older state has no genesis.
#[must_use]
pub fn catch_up(
    before: &State,
    repository_id: RepositoryId,
    now: Timestamp,
    nonce: String,
    facts: &[SessionFact],
) -> RebuildProposal {
    let nonce = before
        .genesis
        .as_ref()
        .map_or(nonce, |genesis| genesis.nonce.clone());
    // Sessions older than the oldest entry in the state are archived.
    let begins = before
        .history
        .first_key_value()
        .and_then(|(_, entry)| entry.created_at)
        .unwrap_or(Timestamp::MIN);
    let unknown = facts
        .iter()
        .filter(|fact| before.entry_of_session(&fact.session_id).is_none())
        .filter(|fact| fact.created_at >= begins);
    let (mut awaited, mut missed): (Vec<_>, Vec<_>) =
        unknown.partition(|fact| waiting_turn(before, fact).is_some());
    loop {
        let mut proposal =
            add_missed_sessions(before, repository_id, now, nonce.clone(), &missed, facts);
        // A turn with a later turn is over, so its session would not be found by the marker.
        let (left, overtaken): (Vec<_>, Vec<_>) = awaited.into_iter().partition(|fact| {
            waiting_turn(before, fact).is_some_and(|turn| proposal.state.live_turn(turn).is_some())
        });
        if overtaken.is_empty() {
            let genesis = before.genesis.as_ref();
            let doubtful = missed
                .iter()
                .filter(|fact| genesis.is_some_and(|one| !is_made_by(&one.nonce, fact)));
            proposal.notes.extend(doubtful.map(|fact| {
                format!(
                    "session {}: this ledger did not make its marker, so it may be forged; check the session before you \
                     accept the proposal",
                    fact.session_id
                )
            }));
            proposal.notes.extend(left.iter().map(|fact| {
                format!(
                    "session {} is left to its turn, which is live and finds it by its marker",
                    fact.session_id
                )
            }));
            return proposal;
        }
        awaited = left;
        missed.extend(overtaken);
    }
}

/// Whether the ledger's nonce makes the marker of a session, where its prompt is shown.
fn is_made_by(nonce: &str, fact: &SessionFact) -> bool {
    let line = fact.prompt.as_deref().and_then(Marker::from_prompt);
    line.is_none_or(|line| line.is_made_by(nonce))
}

/// Adds missed sessions to an older state.
fn add_missed_sessions(
    before: &State,
    repository_id: RepositoryId,
    now: Timestamp,
    nonce: String,
    missed: &[&SessionFact],
    facts: &[SessionFact],
) -> RebuildProposal {
    let missed: Vec<SessionFact> = missed.iter().copied().cloned().collect();
    let RebuildProposal {
        state: found,
        mut notes,
    } = rebuild_from_sessions(repository_id, now, nonce, &missed);
    let mut state = before.clone();
    state.genesis = state.genesis.or(found.genesis);
    let first = state.next_history_key();
    for (key, entry) in found.history {
        state.history.insert(first + key, entry);
    }
    for (name, track) in found.tracks {
        move_track_on(&mut state, &name, track, first, facts, &mut notes);
    }
    for (name, schedule) in found.schedules {
        let known = state.schedules.entry(name).or_default();
        known.last_fired = known.last_fired.max(schedule.last_fired);
    }
    close_unfollowed(&mut state, &mut notes);
    state.budget.created.extend(found.budget.created);
    state.budget.created.sort_unstable();
    let mut caught_up = RebuildProposal { state, notes };
    // A ledger that missed sessions missed commands, too.
    if !missed.is_empty() {
        restart_comment_cursor(&mut caught_up, now);
    }
    caught_up
}

/// The live turn that waits for this session, or for which it is a duplicate.
fn waiting_turn<'s>(before: &'s State, fact: &SessionFact) -> Option<&'s str> {
    let line = fact.prompt.as_deref().and_then(Marker::from_prompt);
    let marker = line
        .map(|line| line.marker)
        .or_else(|| Marker::from_title(&fact.title))?;
    let (_, _, turn) = before.live_turn(marker.turn.as_str())?;
    Some(turn.turn.as_str())
}

/// The number of a track's newest turn once it has the missed entries, which begin at `first`.
fn newest_seq(state: &State, name: &TrackName, first: u64) -> u64 {
    let missed = || {
        let entries = state.history.range(first..).map(|(_, entry)| entry);
        entries.filter(|entry| entry.is_of_track(name))
    };
    let known = state.newest_seq(name);
    let numbered = || missed().filter(|entry| entry.seq.is_some());
    let highest = numbered().filter_map(|entry| entry.seq).max();
    let newest = numbered().filter_map(|entry| entry.created_at).max();
    let with_number: BTreeSet<&TurnId> =
        numbered().filter_map(|entry| entry.turn.as_ref()).collect();
    // Sessions that are identified by their title have no number. Those before a numbered one lie below its number. The
    // others count as further turns, because a repeated number would give a new turn the id of an old one.
    let further: BTreeSet<&TurnId> = missed()
        .filter(|entry| entry.seq.is_none() && entry.created_at >= newest)
        .filter_map(|entry| entry.turn.as_ref())
        .filter(|turn| !with_number.contains(turn))
        .collect();
    highest.unwrap_or_default().max(known) + further.len() as u64
}

/// Moves a track's pointer to its missed turns. A live turn with a later turn is over.
fn move_track_on(
    state: &mut State,
    name: &TrackName,
    found: TrackState,
    first: u64,
    facts: &[SessionFact],
    notes: &mut Vec<String>,
) {
    let seq = newest_seq(state, name, first);
    let track = state.tracks.entry(name.clone()).or_default();
    if seq == track.seq {
        return;
    }
    track.seq = seq;
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
            finish_entry(entry, facts);
        }
    }
}

fn finish_entry(entry: &mut HistoryEntry, facts: &[SessionFact]) {
    let fact = facts
        .iter()
        .find(|fact| entry.session_id.as_ref() == Some(&fact.session_id));
    let end = fact.and_then(|fact| fact.ended);
    entry.pr_number = entry
        .pr_number
        .or_else(|| fact?.pull.map(|(number, _)| number));
    entry.outcome = Some(fact.and_then(session_outcome).unwrap_or(Outcome::Cancelled));
    entry.finished_at = end.map(|end| end.at).or(entry.created_at);
}
