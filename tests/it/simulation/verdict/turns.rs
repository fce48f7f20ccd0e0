//! The turns: those that were announced, and those whose sessions there are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::chain::CommitFacts;
use super::sessions::Marked;
use super::{Judge, PATIENCE, entries};

impl Judge<'_> {
    /// Each turn that was announced has an entry or is under way, and its session is known.
    pub(super) fn turns(&mut self, state: &Value, told: &CommitFacts, ours: &[&Marked<'_>]) {
        let empty = serde_json::Map::new();
        let tracks = state["tracks"].as_object().unwrap_or(&empty);
        let entries = entries(state);
        let recorded: BTreeSet<(String, u64)> = entries
            .iter()
            .filter_map(|entry| {
                let track = entry["track"].as_str()?.to_owned();
                Some((track, entry["seq"].as_u64()?))
            })
            .collect();
        let (mut under_way, mut expected, mut live) =
            (BTreeSet::new(), told.announced.clone(), BTreeMap::new());
        for (name, track) in tracks {
            let seq = track["seq"].as_u64().unwrap_or_default();
            expected.extend((1..=seq).map(|seq| (name.clone(), seq)));
            let turns = track["turns"].as_object().unwrap_or(&empty);
            if !turns.is_empty() {
                under_way.insert((name.clone(), seq));
            }
            for turn in turns.values() {
                if let Some(id) = turn["turn"].as_str() {
                    live.insert(
                        id.to_owned(),
                        turn["session_id"].as_str().map(str::to_owned),
                    );
                }
            }
        }
        let withdrawn = withdrawn(state, ours);
        for (track, seq) in expected {
            let turn = (track, seq);
            // Jules refused to create a session; the commit says so, and the track goes on.
            let mut began = ours.iter().map(|one| (one.track, one.seq));
            let has_session = began.any(|(track, seq)| track == turn.0 && seq == turn.1);
            let given_up = told.given_up.contains(&turn) && !has_session;
            let is_told = given_up || withdrawn.contains(&turn.0);
            if !recorded.contains(&turn) && !under_way.contains(&turn) && !is_told {
                self.find(format!("turn {} of track {} is lost", turn.1, turn.0));
            }
        }
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for entry in &entries {
            known.extend(entry["session_id"].as_str());
            let duplicates = entry["duplicates"].as_array();
            known.extend(duplicates.into_iter().flatten().filter_map(Value::as_str));
        }
        known.extend(live.values().flatten().map(String::as_str));
        let end = self.world.now();
        for one in ours {
            let young = end.duration_since(one.at) < PATIENCE;
            if !young && !known.contains(one.session.id.as_str()) {
                let (id, turn) = (&one.session.id, one.turn);
                self.find(format!("session {id} of turn {turn} is in no ledger"));
            }
        }
    }
}

/// The tracks of requests that were withdrawn for a reason that people are told, before any session of theirs began.
fn withdrawn(state: &Value, ours: &[&Marked<'_>]) -> BTreeSet<String> {
    let requests = state["requests"].as_object().into_iter().flatten();
    requests
        .map(|(_, request)| request)
        .filter(|request| request["outcome"] == "cancelled" && request["reason"].is_string())
        .filter(|request| ours.iter().all(|one| request["turn"] != one.turn))
        .filter_map(|request| Some(format!("request:{}", request["number"].as_u64()?)))
        .collect()
}

#[test]
fn what_was_withdrawn_before_it_began_is_not_lost() {
    let state = |outcome: &str, reason: Value| {
        serde_json::json!({"requests": {
            "x": {"outcome": outcome, "reason": reason, "turn": "a", "number": 3}
        }})
    };
    let reason = || Value::from("refused.content_changed");
    let tracks = |state: &Value, ours: &[&Marked<'_>]| withdrawn(state, ours).len();
    assert_eq!(tracks(&state("cancelled", reason()), &[]), 1);
    assert_eq!(tracks(&state("cancelled", Value::Null), &[]), 0);
    assert_eq!(tracks(&state("dispatched", reason()), &[]), 0);
    let session = phileas_world::books::Session {
        prompt: "phileas-turn: a.1 repository=7 track=request:3 seq=1".to_owned(),
        created_at: "2026-01-05T06:00:00Z".parse().ok(),
        ..Default::default()
    };
    let began = super::sessions::marked(&session).unwrap();
    assert_eq!(tracks(&state("cancelled", reason()), &[&began]), 0);
}
