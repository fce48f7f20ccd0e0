//! Tests a rolled-back ledger that knows fewer attempts of a turn than Jules shows.

use phileas_domain::engine::{Effect, Reason, SessionState};

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\"]\n[defaults]\nretry = 2\n";

#[test]
fn a_later_attempt_of_an_awaited_turn_is_its_own() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.answering = Answering::Dies;
    scenario.tick();
    let announced = scenario.state().clone();
    // The first attempt came to nothing, and the second was created.
    scenario.answering = Answering::Session;
    for _ in 0..2 {
        scenario.minutes(16);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 1);
    assert!(scenario.sessions[0].title.contains(".2]"));
    scenario.set_state(announced);
    scenario.minutes(16);
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(16);
    }
    assert_eq!(
        scenario.sessions.len(),
        1,
        "no process starts the same attempt twice"
    );
    let turn = scenario.turn("default");
    assert_eq!(turn.session_id.as_ref(), Some(&scenario.sessions[0].id));
    assert_eq!(turn.attempt, 2);
    assert_eq!(scenario.state().history[&0].attempt, Some(2));
}

#[test]
fn a_later_attempt_waits_until_the_known_one_has_ended() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.tick();
    scenario.minutes(1);
    scenario.tick();
    let first = scenario.state().clone();
    scenario.becomes(SessionState::Failed);
    for _ in 0..3 {
        scenario.minutes(16);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 2);
    let second = scenario.sessions[1].id.clone();
    scenario.set_state(first);
    for _ in 0..4 {
        scenario.tick();
        let archived = scenario.effects.iter().any(
            |effect| matches!(effect, Effect::ArchiveSession { session } if *session == second),
        );
        assert!(!archived, "{:?}", scenario.effects);
        scenario.minutes(16);
    }
    assert_eq!(
        scenario.sessions.len(),
        2,
        "no process starts the same attempt twice"
    );
    assert_eq!(scenario.turn("default").session_id.as_ref(), Some(&second));
    assert!(!scenario.all_reasons().contains(&Reason::FoundDuplicate));
}
