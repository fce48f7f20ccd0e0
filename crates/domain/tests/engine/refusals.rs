//! Creates that brought no session: they are no failures of a session, and the persona has seen nothing.

use phileas_domain::engine::{Reason, SessionState};

use crate::desk::{Answering, Desk};

#[test]
fn refused_creates_use_up_no_retry() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.answering = Answering::Refused;
    for _ in 0..2 {
        desk.tick();
        desk.hours(3);
    }
    let refusals = |desk: &Desk| desk.state().tracks["default"].turns[""].refusals;
    assert_eq!(refusals(&desk), 2);
    desk.answering = Answering::Session;
    desk.hours(3);
    desk.tick();
    assert_eq!(refusals(&desk), 0, "they count in a row");
    assert_eq!(desk.notices.len(), 0);
    for expected in [2, 3] {
        desk.minutes(5);
        desk.becomes(SessionState::Failed);
        desk.tick();
        desk.tick();
        assert_eq!(desk.sessions.len(), expected);
    }
    assert_eq!(desk.personas_run(), ["a", "a", "b"]);
}

#[test]
fn a_persona_that_never_started_has_not_seen_the_default_branch() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::Refused;
    desk.tick();
    desk.cancel_first();
    desk.answering = Answering::Session;
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(
        desk.reasons("default").last(),
        Some(&Reason::Unchanged),
        "once it ran, it has"
    );
}

#[test]
fn a_create_that_was_not_sent_is_not_laid_at_jules_door() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::NotSent;
    desk.tick();
    let reasons = desk.reasons("default");
    assert!(reasons.contains(&Reason::NotSent), "{reasons:?}");
    assert!(!reasons.contains(&Reason::JulesUnavailable), "{reasons:?}");
}

#[test]
fn a_refused_persona_is_left_out_and_its_track_goes_on() {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.answering = Answering::TurnRefused;
    desk.tick();
    // Each was asked for once, and is not again before its time.
    let refusals = |desk: &Desk| {
        let personas = &desk.state().personas;
        ["a", "b"].map(|id| personas[id].refusals)
    };
    assert_eq!(refusals(&desk), [1, 1]);
    assert!(desk.state().tracks["default"].turns.is_empty());
    let keys: Vec<&str> = desk.notices.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["persona:a", "persona:b"]);
    desk.minutes(30);
    desk.tick();
    assert_eq!(refusals(&desk), [1, 1]);
    let reasons = desk.reasons("default");
    assert!(reasons.contains(&Reason::PersonaRefused), "{reasons:?}");

    // The pauses grow.
    desk.minutes(31);
    desk.tick();
    assert_eq!(refusals(&desk), [2, 2]);
    desk.minutes(61);
    desk.tick();
    assert_eq!(refusals(&desk), [2, 2]);

    desk.answering = Answering::Session;
    desk.minutes(60);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    assert_eq!(refusals(&desk), [0, 2]);
    desk.tick();
    let keys: Vec<&str> = desk.notices.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["persona:b"]);
}

#[test]
fn a_schedule_keeps_the_turn_that_was_refused() {
    let plan = "[schedules]\na = \"0 8 * * *\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.hours(24);
    desk.answering = Answering::TurnRefused;
    desk.tick();
    assert_eq!(desk.state().tracks["schedule:a"].turns[""].refusals, 1);
    desk.answering = Answering::Session;
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
}
