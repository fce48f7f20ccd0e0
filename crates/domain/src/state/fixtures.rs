//! Real state files, and states to break.

use super::codec::load;
use super::{HistoryEntry, Intent, Outcome, State, TrackState, Turn};
use crate::model::{PullNumber, RepositoryId, TurnId};

macro_rules! fixture {
    ($name:ident, $file:literal) => {
        pub(super) const $name: &str =
            include_str!(concat!("../../../../tests/fixtures/state/", $file));
    };
}

fixture!(V1, "v1-flat-last.json");
fixture!(V2, "v2-list.json");
fixture!(V3, "v3-list-tracks.json");
fixture!(V4, "v4-dict.json");
fixture!(V4_AS_V5, "v4-dict.as-v5.json");
fixture!(CORRUPT, "corrupt-conflict-markers.json");

/// Every real file that loads.
pub(super) const REAL: [&str; 4] = [V1, V2, V3, V4];

/// The id of the turn `seq` of the track `default`, in the ledger of [`sound`].
pub(super) fn turn_id(seq: u64) -> TurnId {
    TurnId::derive(
        "9f3c5a0e77b1",
        RepositoryId(7),
        &"default".into(),
        seq,
        &"".into(),
    )
}

/// A ledger with two finished turns and a third one at work.
pub(super) fn sound_state() -> State {
    let at = |text: &str| text.parse().unwrap();
    let born = at("2026-01-05T00:00:00Z");
    let mut state = State::new_ledger(RepositoryId(7), born, "9f3c5a0e77b1".to_owned());
    let blank = load(r#"{"version": 5, "history": {"0": {"persona_id": "a"}}}"#).unwrap();
    for seq in 1..=3 {
        let entry = HistoryEntry {
            session_id: Some(format!("100{seq}").into()),
            created_at: Some(at(&format!("2026-01-05T0{seq}:00:00Z"))),
            track: Some("default".into()),
            turn: Some(turn_id(seq)),
            seq: Some(seq),
            slot: Some("".into()),
            attempt: Some(1),
            ..blank.state.history[&0].clone()
        };
        state.history.insert(seq - 1, entry);
    }
    let first = state.history.get_mut(&0).unwrap();
    first.outcome = Some(Outcome::Merged);
    first.finished_at = Some(at("2026-01-05T01:30:00Z"));
    let second = state.history.get_mut(&1).unwrap();
    second.outcome = Some(Outcome::PrOpen);
    second.pr_number = Some(PullNumber(12));
    let turn = Turn {
        history_key: Some(2),
        intent: Some(Intent {
            created_at: at("2026-01-05T02:59:00Z"),
            not_after: at("2026-01-05T03:09:00Z"),
            holder: "serve:a:1".into(),
            prompt_sha256: "00".repeat(32),
            extra: super::Extra::new(),
        }),
        session_id: Some("1003".into()),
        ..Turn::new(turn_id(3), "a".into())
    };
    let track = TrackState {
        persona_id: Some("a".into()),
        session_id: Some("1003".into()),
        updated_at: Some(at("2026-01-05T03:00:00Z")),
        index: Some(2),
        seq: 3,
        passes: 1,
        turns: [("".into(), turn)].into(),
        ..TrackState::default()
    };
    state.tracks.insert("default".into(), track);
    state.budget.created = vec![at("2026-01-05T02:00:00Z"), at("2026-01-05T03:00:00Z")];
    state
}
