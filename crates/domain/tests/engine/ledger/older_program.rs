//! Tests a ledger of a program without turns: its newest live session is waited for.

use phileas_domain::engine::{Reason, Session, SessionState};
use phileas_domain::state::{HistoryEntry, State, TrackState};

use crate::support::scenario::Scenario;

/// The older program ran `a` last, in the session 991.
fn ledger() -> State {
    let entry = HistoryEntry {
        persona_id: "a".into(),
        session_id: Some("991".into()),
        pr_number: None,
        created_at: None,
        track: None,
        turn: None,
        seq: None,
        slot: None,
        attempt: None,
        base_sha: None,
        outcome: None,
        finished_at: None,
        duplicates: Vec::new(),
        zero_touch: None,
        review_secs: None,
        refused: None,
        prompt: None,
        note: None,
        extra: serde_json::Map::new(),
    };
    let track = TrackState {
        persona_id: Some("a".into()),
        session_id: Some("991".into()),
        ..TrackState::default()
    };
    let mut state = State::default();
    state.history.insert(0, entry);
    state.tracks.insert("default".into(), track);
    state
}

#[test]
fn the_session_of_an_older_program_is_waited_for_until_it_ends() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.set_state(ledger());
    scenario.sessions.push(Session {
        id: "991".into(),
        state: SessionState::InProgress,
        title: "Tidy up".to_owned(),
        prompt: Some("Tidy up.".to_owned()),
        source: "acme/widget".parse().ok(),
        elsewhere: false,
        created_at: scenario.now,
        updated_at: None,
        archived: false,
        pulls: Vec::new(),
        has_changes: false,
    });
    scenario.minutes(10);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::SessionRunning]);
    let line = &scenario.lines[0];
    assert_eq!(
        line.detail,
        "session 991 of an older program is still at work"
    );
    assert_eq!(line.persona, Some("b".into()));
    assert_eq!(
        line.until,
        Some(scenario.now + jiff::SignedDuration::from_mins(1))
    );
    scenario.sessions[0].state = SessionState::Completed;
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b"]);
}
