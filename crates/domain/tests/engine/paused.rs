//! While everything is paused, nothing that waits is without a word.

use phileas_domain::engine::{Ask, Reason, SessionState, Verdict};

use crate::desk::{Answering, Desk};

#[test]
fn a_turn_between_two_attempts_has_a_line_of_its_own() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.answering = Answering::Refused;
    desk.tick();
    desk.paused_by_variable = Some("yes".to_owned());
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::PausedVariable]);
    let line = desk.lines.iter().find(|line| line.turn.is_some()).unwrap();
    assert_eq!(line.verdict, Verdict::Paused);
    assert_eq!(line.persona, Some("a".into()));
}

#[test]
fn a_pending_request_has_a_line_and_is_refused_after_a_week() {
    let plan = "cycle = [\"a\"]\n[budget]\nmax_active = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.ask = Ask::Persona("b".into());
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::BudgetActive]);
    desk.ask = Ask::Due;
    desk.paused_by_variable = Some("yes".to_owned());
    desk.hours(1);
    desk.becomes(SessionState::InProgress);
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::PausedVariable]);
    desk.paused_by_variable = None;
    for (days, expected) in [
        (6, vec![Reason::BudgetActive]),
        (1, vec![Reason::RequestOld]),
        (1, vec![]),
    ] {
        desk.hours(24 * days);
        desk.becomes(SessionState::InProgress);
        desk.tick();
        assert_eq!(desk.reasons("request:1"), expected);
    }
    let request = desk.state().requests.values().next().unwrap();
    assert_eq!(request.outcome.as_deref(), Some("refused"));
    assert_eq!(desk.sessions.len(), 1);
}
