//! The turns: those that were announced, and those whose sessions there are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::sessions::Marked;
use super::{Judge, PATIENCE, entries};

impl Judge<'_> {
    /// Each turn that was announced has an entry or is under way, and its session is known.
    pub(super) fn turns(
        &mut self,
        state: &Value,
        announced: &BTreeSet<(String, u64)>,
        ours: &[&Marked<'_>],
    ) {
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
            (BTreeSet::new(), announced.clone(), BTreeMap::new());
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
        for (track, seq) in expected {
            let turn = (track, seq);
            if !recorded.contains(&turn) && !under_way.contains(&turn) {
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
