//! A ledger that was put back may know fewer attempts of a turn than Jules shows.

use phileas_domain::engine::{Effect, Reason, SessionState};

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\"]\n[defaults]\nretry = 2\n";

#[test]
fn a_later_attempt_of_an_awaited_turn_is_its_own() {
    let mut desk = Desk::new(ONE, &["a"]);
    desk.answering = Answering::Dies;
    desk.tick();
    let announced = desk.state().clone();
    // The first attempt came to nothing, and the second was created.
    desk.answering = Answering::Session;
    for _ in 0..2 {
        desk.minutes(16);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 1);
    assert!(desk.sessions[0].title.contains(".2]"));
    desk.set_state(announced);
    desk.minutes(16);
    for _ in 0..3 {
        desk.tick();
        desk.minutes(16);
    }
    assert_eq!(
        desk.sessions.len(),
        1,
        "nobody starts the same attempt twice"
    );
    let turn = desk.turn("default");
    assert_eq!(turn.session_id.as_ref(), Some(&desk.sessions[0].id));
    assert_eq!(turn.attempt, 2);
    assert_eq!(desk.state().history[&0].attempt, Some(2));
}

#[test]
fn a_later_attempt_waits_until_the_known_one_has_ended() {
    let mut desk = Desk::new(ONE, &["a"]);
    desk.tick();
    desk.minutes(1);
    desk.tick();
    let first = desk.state().clone();
    desk.becomes(SessionState::Failed);
    for _ in 0..3 {
        desk.minutes(16);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 2);
    let second = desk.sessions[1].id.clone();
    desk.set_state(first);
    for _ in 0..4 {
        desk.tick();
        let archived = desk.effects.iter().any(
            |effect| matches!(effect, Effect::ArchiveSession { session } if *session == second),
        );
        assert!(!archived, "{:?}", desk.effects);
        desk.minutes(16);
    }
    assert_eq!(
        desk.sessions.len(),
        2,
        "nobody starts the same attempt twice"
    );
    assert_eq!(desk.turn("default").session_id.as_ref(), Some(&second));
    assert!(!desk.all_reasons().contains(&Reason::FoundDuplicate));
}
