//! Tests which step of a track comes next.

use phileas_domain::engine::{Reason, SessionState};
use phileas_domain::model::{PersonaId, TrackName, TurnId};
use phileas_domain::state::{History, HistoryEntry, Outcome, Pause, State, TrackState, Turn};

use crate::support::scenario::Scenario;

const THREE: &str = "cycle = [\"a\", \"b\", \"c\"]\n[budget]\ndaily_sessions = 100\nkey_daily = 100\nmax_open_pulls = 50\n";

#[test]
fn a_cycle_goes_round_and_keeps_its_history() {
    let mut scenario = Scenario::new(THREE, &["a", "b", "c"]);
    for _ in 0..4 {
        scenario.tick();
        scenario.minutes(20);
        let number = scenario.opens_pull();
        scenario.tick();
        scenario.minutes(30);
        scenario.merge(number);
    }
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b", "c", "a", "b"]);
    assert_eq!(
        scenario.state().history.keys().copied().collect::<Vec<_>>(),
        [0, 1, 2, 3, 4]
    );
    let outcomes: Vec<_> = scenario.outcomes().into_iter().flatten().collect();
    assert_eq!(outcomes, vec![Outcome::Merged; 4]);
    let track = &scenario.state().tracks[&TrackName::from("default")];
    assert_eq!((track.index, track.seq, track.passes), (Some(1), 5, 1));
}

#[test]
fn by_default_the_next_one_starts_when_the_pull_request_is_open() {
    let mut scenario = Scenario::new(THREE, &["a", "b", "c"]);
    scenario.tick();
    assert_eq!(scenario.tick().reasons("default"), [Reason::SessionRunning]);
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b"]);
    assert_eq!(scenario.outcomes(), [Some(Outcome::PrOpen), None]);
}

#[test]
fn advance_on_merged_waits_for_people() {
    let mut scenario = Scenario::new(
        &format!("{THREE}[defaults]\nadvance_on = \"merged\"\n"),
        &["a", "b", "c"],
    );
    scenario.tick();
    scenario.minutes(20);
    let number = scenario.opens_pull();
    assert_eq!(scenario.tick().reasons("default"), [Reason::PrOpen]);
    scenario.hours(5);
    scenario.close(number);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::Rejected), None]);
    assert_eq!(scenario.personas_run(), ["a", "b"]);
}

#[test]
fn a_persona_may_stand_in_a_cycle_twice() {
    let plan = THREE.replace("\"b\", \"c\"", "\"b\", \"a\", \"c\"");
    let mut scenario = Scenario::new(&plan, &["a", "b", "c"]);
    for _ in 0..5 {
        scenario.tick();
        scenario.minutes(20);
        scenario.opens_pull();
        scenario.push();
    }
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b", "a", "c", "a", "b"]);
}

#[test]
fn a_broken_persona_stops_its_slot_only() {
    let mut scenario = Scenario::new(THREE, &["a", "c"]);
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "c"]);
    assert!(
        scenario
            .reasons("default")
            .contains(&Reason::PersonaInvalid),
        "{:?}",
        scenario.lines
    );
}

#[test]
fn the_pointer_survives_the_removal_of_its_persona() {
    let mut scenario = Scenario::new(THREE, &["a", "b", "c"]);
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    // `b` ran last at index 1; the step at that index is next.
    scenario.files.insert(
        ".jules/schedules.toml".to_owned(),
        THREE.replace("\"b\", ", ""),
    );
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b", "c"]);
}

#[test]
fn an_older_programs_ledger_goes_on_after_its_last_persona() {
    let mut scenario = Scenario::new(THREE, &["a", "b", "c"]);
    let mut state = State::default();
    for key in 0..2 {
        let entry = HistoryEntry {
            persona_id: PersonaId::from(if key == 0 { "a" } else { "b" }),
            session_id: Some(format!("99{key}").into()),
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
        state.history.insert(key, entry);
    }
    let track = TrackState {
        persona_id: Some("b".into()),
        session_id: Some("991".into()),
        ..TrackState::default()
    };
    state.tracks.insert("default".into(), track);
    scenario.set_state(state);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b", "c"]);
    assert_eq!(scenario.state().tracks[&TrackName::from("default")].seq, 3);
}

#[test]
fn nothing_runs_twice_on_an_unmoved_branch() {
    let mut scenario = Scenario::new(THREE, &["a", "b", "c"]);
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(20);
        scenario.opens_pull();
    }
    assert!(
        scenario
            .tick()
            .reasons("default")
            .contains(&Reason::Unchanged)
    );
    scenario.push();
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b", "c", "a"]);
}

#[test]
fn a_persona_whose_work_is_not_wanted_rests_longer_each_time() {
    let mut scenario = Scenario::new(
        &THREE.replace("[\"a\", \"b\", \"c\"]", "[\"a\", \"b\"]"),
        &["a", "b"],
    );
    let mut order = String::new();
    for _ in 0..24 {
        scenario.tick();
        scenario.minutes(20);
        let persona = scenario
            .state()
            .history
            .last_key_value()
            .unwrap()
            .1
            .persona_id
            .to_string();
        order.push_str(&persona);
        let number = scenario.opens_pull();
        scenario.tick();
        if persona == "a" {
            scenario.close(number)
        } else {
            scenario.merge(number)
        }
        scenario.push();
        let _ = scenario.becomes(SessionState::Queued);
        // Only the session that the extra tick started is live; end it the same way.
        let persona = scenario
            .state()
            .history
            .last_key_value()
            .unwrap()
            .1
            .persona_id
            .to_string();
        order.push_str(&persona);
        let number = scenario.opens_pull();
        scenario.tick();
        if persona == "a" {
            scenario.close(number)
        } else {
            scenario.merge(number)
        }
        scenario.push();
    }
    // Three unwanted turns in a row, then rests of growing length.
    let runs: Vec<usize> = order
        .split('a')
        .map(str::len)
        .filter(|length| *length > 0)
        .collect();
    assert!(runs.iter().max() > Some(&1), "{order}");
    assert!(
        scenario.state().personas[&PersonaId::from("a")].no_output_streak >= 3,
        "{order}"
    );
}

#[test]
fn a_track_with_a_start_time_makes_one_pass_a_start() {
    let plan = "[tracks.night]\nsteps = [\"a\", \"b\"]\nstart = \"0 3 * * *\"\n[budget]\ndaily_sessions = 50\nkey_daily = 99\nmax_open_pulls = 50\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    assert_eq!(scenario.tick().reasons("night"), [Reason::NotDue]);
    scenario.hours(4);
    for _ in 0..2 {
        scenario.tick();
        scenario.minutes(20);
        scenario.opens_pull();
        scenario.push();
    }
    assert_eq!(
        scenario.tick().reasons("night").last(),
        Some(&Reason::NotDue)
    );
    assert_eq!(scenario.personas_run(), ["a", "b"]);
    scenario.hours(24);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b", "a"]);
}

/// Each track has a turn of the same persona that waits for its session: one of them goes first.
#[test]
fn two_turns_that_wait_for_their_session_do_not_wait_for_each_other() {
    let plan = "[tracks]\nx = [\"a\"]\ny = [\"a\"]\n[defaults]\nskip_unchanged = false\n";
    for paused in [false, true] {
        let mut scenario = Scenario::new(plan, &["a"]);
        scenario.tick();
        let mut state = scenario.state().clone();
        let genesis = state.genesis.clone().unwrap();
        state.history = History::default();
        scenario.sessions.clear();
        for name in ["x", "y"] {
            let track = state.tracks.entry(name.into()).or_default();
            track.seq = 1;
            let (nonce, slot) = (&genesis.nonce, "".into());
            let id = TurnId::derive(nonce, genesis.repository_id, &name.into(), 1, &slot);
            track.turns.insert(slot, Turn::new(id, "a".into()));
        }
        if paused {
            state.tracks.get_mut("x").unwrap().paused = Some(Pause::default());
        }
        scenario.set_state(state);
        scenario.tick();
        let first = if paused { "y" } else { "x" };
        let begun: Vec<_> = scenario
            .state()
            .tracks
            .iter()
            .filter(|(_, track)| track.turns.values().any(|turn| turn.session_id.is_some()))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(begun, [first], "{:#?}", scenario.lines);
    }
}
