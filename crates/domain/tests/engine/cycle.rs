//! Cycles: whose turn it is.

use phileas_domain::engine::{Reason, SessionState};
use phileas_domain::model::{PersonaId, TrackName};
use phileas_domain::state::{HistoryEntry, Outcome, State, TrackState};

use crate::desk::Desk;

const THREE: &str = "cycle = [\"a\", \"b\", \"c\"]\n[budget]\ndaily_sessions = 100\nkey_daily = 100\nmax_open_pulls = 50\n";

#[test]
fn a_cycle_goes_round_and_keeps_its_history() {
    let mut desk = Desk::new(THREE, &["a", "b", "c"]);
    for _ in 0..4 {
        desk.tick();
        desk.minutes(20);
        let number = desk.opens_pull();
        desk.tick();
        desk.minutes(30);
        desk.merge(number);
    }
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b", "c", "a", "b"]);
    assert_eq!(
        desk.state().history.keys().copied().collect::<Vec<_>>(),
        [0, 1, 2, 3, 4]
    );
    let outcomes: Vec<_> = desk.outcomes().into_iter().flatten().collect();
    assert_eq!(outcomes, vec![Outcome::Merged; 4]);
    let track = &desk.state().tracks[&TrackName::from("default")];
    assert_eq!((track.index, track.seq, track.passes), (Some(1), 5, 1));
}

#[test]
fn by_default_the_next_one_starts_when_the_pull_request_is_open() {
    let mut desk = Desk::new(THREE, &["a", "b", "c"]);
    desk.tick();
    assert_eq!(desk.tick().reasons("default"), [Reason::SessionRunning]);
    desk.minutes(20);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b"]);
    assert_eq!(desk.outcomes(), [Some(Outcome::PrOpen), None]);
}

#[test]
fn advance_on_merged_waits_for_people() {
    let mut desk = Desk::new(
        &format!("{THREE}[defaults]\nadvance_on = \"merged\"\n"),
        &["a", "b", "c"],
    );
    desk.tick();
    desk.minutes(20);
    let number = desk.opens_pull();
    assert_eq!(desk.tick().reasons("default"), [Reason::PrOpen]);
    desk.hours(5);
    desk.close(number);
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::Rejected), None]);
    assert_eq!(desk.personas_run(), ["a", "b"]);
}

#[test]
fn a_persona_may_stand_in_a_cycle_twice() {
    let plan = THREE.replace("\"b\", \"c\"", "\"b\", \"a\", \"c\"");
    let mut desk = Desk::new(&plan, &["a", "b", "c"]);
    for _ in 0..5 {
        desk.tick();
        desk.minutes(20);
        desk.opens_pull();
        desk.push();
    }
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b", "a", "c", "a", "b"]);
}

#[test]
fn a_broken_persona_stops_its_slot_only() {
    let mut desk = Desk::new(THREE, &["a", "c"]);
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "c"]);
    assert!(
        desk.reasons("default").contains(&Reason::PersonaInvalid),
        "{:?}",
        desk.lines
    );
}

#[test]
fn the_pointer_survives_the_removal_of_its_persona() {
    let mut desk = Desk::new(THREE, &["a", "b", "c"]);
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    // `b` ran last at index 1; the step that now stands there is next.
    desk.files.insert(
        ".jules/schedules.toml".to_owned(),
        THREE.replace("\"b\", ", ""),
    );
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b", "c"]);
}

#[test]
fn an_older_programs_ledger_goes_on_after_its_last_persona() {
    let mut desk = Desk::new(THREE, &["a", "b", "c"]);
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
    desk.set_state(state);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b", "c"]);
    assert_eq!(desk.state().tracks[&TrackName::from("default")].seq, 3);
}

#[test]
fn nothing_runs_twice_on_an_unmoved_branch() {
    let mut desk = Desk::new(THREE, &["a", "b", "c"]);
    for _ in 0..3 {
        desk.tick();
        desk.minutes(20);
        desk.opens_pull();
    }
    assert!(desk.tick().reasons("default").contains(&Reason::Unchanged));
    desk.push();
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b", "c", "a"]);
}

#[test]
fn a_persona_whose_work_nobody_takes_rests_longer_each_time() {
    let mut desk = Desk::new(
        &THREE.replace("[\"a\", \"b\", \"c\"]", "[\"a\", \"b\"]"),
        &["a", "b"],
    );
    let mut order = String::new();
    for _ in 0..24 {
        desk.tick();
        desk.minutes(20);
        let persona = desk
            .state()
            .history
            .last_key_value()
            .unwrap()
            .1
            .persona_id
            .to_string();
        order.push_str(&persona);
        let number = desk.opens_pull();
        desk.tick();
        if persona == "a" {
            desk.close(number)
        } else {
            desk.merge(number)
        }
        desk.push();
        let _ = desk.becomes(SessionState::Queued);
        // Only the session that the extra tick started is live; let it end the same way.
        let persona = desk
            .state()
            .history
            .last_key_value()
            .unwrap()
            .1
            .persona_id
            .to_string();
        order.push_str(&persona);
        let number = desk.opens_pull();
        desk.tick();
        if persona == "a" {
            desk.close(number)
        } else {
            desk.merge(number)
        }
        desk.push();
    }
    // Three unwanted turns in a row, then rests of growing length.
    let runs: Vec<usize> = order
        .split('a')
        .map(str::len)
        .filter(|length| *length > 0)
        .collect();
    assert!(runs.iter().max() > Some(&1), "{order}");
    assert!(
        desk.state().personas[&PersonaId::from("a")].empty_streak >= 3,
        "{order}"
    );
}

#[test]
fn a_track_with_a_start_time_makes_one_pass_a_start() {
    let plan = "[tracks.night]\nsteps = [\"a\", \"b\"]\nstart = \"0 3 * * *\"\n[budget]\ndaily_sessions = 50\nkey_daily = 99\nmax_open_pulls = 50\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    assert_eq!(desk.tick().reasons("night"), [Reason::NotDue]);
    desk.hours(4);
    for _ in 0..2 {
        desk.tick();
        desk.minutes(20);
        desk.opens_pull();
        desk.push();
    }
    assert_eq!(desk.tick().reasons("night").last(), Some(&Reason::NotDue));
    assert_eq!(desk.personas_run(), ["a", "b"]);
    desk.hours(24);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b", "a"]);
}
