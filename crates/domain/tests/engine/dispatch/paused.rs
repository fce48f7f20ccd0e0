//! Tests that everything that waits has a line while the repository is paused.

use phileas_domain::engine::{Reason, RunRequest, SessionState, Verdict};

use crate::support::scenario::{Answering, Scenario};

#[test]
fn a_turn_between_two_attempts_has_a_line_of_its_own() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.answering = Answering::Refused;
    scenario.tick();
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::PausedVariable]);
    let line = scenario
        .lines
        .iter()
        .find(|line| line.turn.is_some())
        .unwrap();
    assert_eq!(line.verdict, Verdict::Paused);
    assert_eq!(line.persona, Some("a".into()));
}

#[test]
fn a_pending_request_has_a_line_and_is_refused_after_a_week() {
    let plan = "cycle = [\"a\"]\n[budget]\nmax_active = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.ask = RunRequest::Persona("b".into());
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::BudgetActive]);
    scenario.ask = RunRequest::Due;
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.hours(1);
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::PausedVariable]);
    scenario.paused_by_variable = None;
    for (days, expected) in [
        (6, vec![Reason::BudgetActive]),
        (1, vec![Reason::RequestOld]),
        (1, vec![]),
    ] {
        scenario.hours(24 * days);
        scenario.becomes(SessionState::InProgress);
        scenario.tick();
        assert_eq!(scenario.reasons("request:1"), expected);
    }
    let request = scenario.state().requests.values().next().unwrap();
    assert_eq!(request.outcome.as_deref(), Some("refused"));
    assert_eq!(scenario.sessions.len(), 1);
}
