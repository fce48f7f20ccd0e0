//! The rules of a single state.

use std::collections::BTreeMap;

use super::violation::Violation;
use crate::model::{SessionId, Slot, TrackName, TurnId};
use crate::state::{State, Turn};

/// All rules that a state violates.
#[must_use]
pub fn check_state(state: &State) -> Vec<Violation> {
    let mut broken = Vec::new();
    check_history_keys(state, &mut broken);
    check_amendments(state, &mut broken);
    check_sessions(state, &mut broken);
    check_turns(state, &mut broken);
    check_budget(state, &mut broken);
    broken
}

/// Keys are consecutive. The first one may be any number, because lower keys are archived.
fn check_history_keys(state: &State, broken: &mut Vec<Violation>) {
    let keys = state.history.keys();
    for (before, after) in keys.clone().zip(keys.skip(1)) {
        if after - before != 1 {
            let detail =
                format!("history goes from {before} to {after}; its keys must follow each other");
            broken.push(Violation::new(
                "history_consecutive",
                ["history", &after.to_string()],
                detail,
            ));
        }
    }
    if state.history.contains_key(&u64::MAX) {
        let detail = "no entry can follow the last key there is";
        let path = ["history", &u64::MAX.to_string()];
        broken.push(Violation::new("history_consecutive", path, detail));
    }
}

/// Amendments are for archived entries only. An entry in the file is changed in place.
fn check_amendments(state: &State, broken: &mut Vec<Violation>) {
    let first = state.history.first_key_value().map_or(0, |(key, _)| *key);
    for key in state.amendments.keys().filter(|key| **key >= first) {
        let detail = format!(
            "the amendment {key} speaks of no archived entry; the archive ends before {first}"
        );
        let path = ["amendments", &key.to_string()];
        broken.push(Violation::new("amendment_archived", path, detail));
    }
}

/// An entry that names a session.
#[derive(Clone, Copy)]
struct Claim<'s> {
    key: u64,
    turn: Option<&'s TurnId>,
    /// The entry names it as a duplicate.
    duplicate: bool,
}

/// A session belongs to one turn, and is the main session of one entry.
fn check_sessions(state: &State, broken: &mut Vec<Violation>) {
    let mut claims: BTreeMap<&SessionId, Claim<'_>> = BTreeMap::new();
    for (key, entry) in &state.history {
        let own = entry.session_id.iter().map(|session| (session, false));
        let found = entry.duplicates.iter().map(|session| (session, true));
        for (session, duplicate) in own.chain(found) {
            let claim = Claim {
                key: *key,
                turn: entry.turn.as_ref(),
                duplicate,
            };
            match claims.get(session) {
                Some(other) if claims_clash(*other, claim) => {
                    let detail = format!(
                        "session {session} belongs to the entries {} and {key}",
                        other.key
                    );
                    let path = ["history", &key.to_string(), "session_id"];
                    broken.push(Violation::new("session_unique", path, detail));
                }
                // An entry's own session takes precedence over a duplicate.
                Some(other) if !other.duplicate => {}
                _ => {
                    claims.insert(session, claim);
                }
            }
        }
    }
    let mut live: BTreeMap<&SessionId, &TurnId> = BTreeMap::new();
    for (track, slot, turn) in live_turns(state) {
        if let Some(session) = &turn.session_id {
            let id = &turn.turn;
            let mut say = |detail| {
                let path = [
                    "tracks",
                    track.as_str(),
                    "turns",
                    slot.as_str(),
                    "session_id",
                ];
                broken.push(Violation::new("session_unique", path, detail));
            };
            if let Some(other) = live.insert(session, id) {
                say(format!(
                    "session {session} belongs to the turns {other} and {id}"
                ));
            }
            if let Some(claim) = claims.get(session)
                && Some(claim.key) != turn.history_key
            {
                say(format!(
                    "session {session} belongs to the turn {id} and to the entry {}",
                    claim.key
                ));
            }
        }
    }
}

fn claims_clash(one: Claim<'_>, other: Claim<'_>) -> bool {
    match (one.turn, other.turn) {
        // Entries of older programs may repeat each other, which cannot be fixed.
        (None, None) => false,
        (one_turn, other_turn) => one_turn != other_turn || !(one.duplicate || other.duplicate),
    }
}

fn check_turns(state: &State, broken: &mut Vec<Violation>) {
    let first = state.history.first_key_value().map_or(0, |(key, _)| *key);
    for (track, slot, turn) in live_turns(state) {
        let mut say = |rule, key, detail: String| {
            let path = ["tracks", track.as_str(), "turns", slot.as_str(), key];
            broken.push(Violation::new(rule, path, detail));
        };
        let id = &turn.turn;
        let seq = state.tracks[track].seq;
        let derived = state
            .genesis
            .as_ref()
            .map(|genesis| TurnId::derive(&genesis.nonce, genesis.repository_id, track, seq, slot));
        if derived.as_ref() != Some(id) {
            let detail = match derived {
                Some(derived) => {
                    format!("the turn {id} should be {derived}: number {seq} of its track")
                }
                None => format!("the turn {id} lives in a ledger that was never born"),
            };
            say("turn_derived", "turn", detail);
        }
        if turn.attempt == 0 {
            say(
                "attempt_counted",
                "attempt",
                "attempts count from 1".to_owned(),
            );
        }
        let Some(session) = &turn.session_id else {
            continue;
        };
        if turn.intent.is_none() {
            let detail = format!("session {session} was created without an intent");
            say("intent_before_session", "session_id", detail);
        }
        match turn.history_key {
            None => say(
                "session_in_history",
                "history_key",
                format!("session {session} is not in the history"),
            ),
            // The entry is archived.
            Some(key) if key < first => {}
            Some(key) => {
                let entry = state.history.get(&key);
                if entry.is_none_or(|entry| entry.session_id.as_ref() != Some(session)) {
                    let detail = format!("entry {key} does not hold session {session}");
                    say("session_in_history", "history_key", detail);
                }
            }
        }
    }
}

fn check_budget(state: &State, broken: &mut Vec<Violation>) {
    if !state.budget.created.is_sorted() {
        let detail = "the times at which sessions were started are not in order";
        broken.push(Violation::new(
            "budget_sorted",
            ["budget", "created"],
            detail,
        ));
    }
}

fn live_turns(state: &State) -> impl Iterator<Item = (&TrackName, &Slot, &Turn)> {
    state.tracks.iter().flat_map(|(name, track)| {
        let turns = track.turns.iter();
        turns.map(move |(slot, turn)| (name, slot, turn))
    })
}
