//! Tests how long a request is pending, and how long it is kept.

use jiff::SignedDuration;
use phileas_domain::engine::{Reason, RunRequest, SessionState};

use crate::support::scenario::Scenario;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

fn days(days: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * days)
}

#[test]
fn a_request_is_pending_for_at_most_a_week() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[budget]\nmax_active = 1\n", &["a", "b"]);
    scenario.tick();
    scenario.ask = RunRequest::Persona("b".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    scenario.pass(days(7) - SECOND);
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::BudgetActive]);
    scenario.pass(SECOND);
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::RequestOld]);
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn a_finished_request_is_kept_for_thirty_days_and_the_newest_forever() {
    let mut scenario = Scenario::new("", &["a"]);
    let mut finished = Vec::new();
    for _ in 0..2 {
        scenario.ask = RunRequest::Persona("a".into());
        scenario.tick();
        scenario.ask = RunRequest::Due;
        scenario.minutes(5);
        let pull = scenario.opens_pull();
        scenario.merge(pull);
        scenario.tick();
        finished.push(scenario.now);
        scenario.hours(1);
    }
    let known = |scenario: &Scenario| {
        let requests = scenario.state().requests.values();
        let numbers: Vec<_> = requests.filter_map(|one| one.number).collect();
        let tracks: Vec<_> = scenario
            .state()
            .tracks
            .keys()
            .map(ToString::to_string)
            .collect();
        (numbers, tracks)
    };
    let both = (
        vec![1, 2],
        vec!["request:1".to_owned(), "request:2".to_owned()],
    );
    scenario.now = finished[0] + days(30) - SECOND;
    scenario.tick();
    assert_eq!(known(&scenario), both);
    scenario.now = finished[0] + days(30);
    scenario.tick();
    let newest = (vec![2], vec!["request:2".to_owned()]);
    assert_eq!(known(&scenario), newest);
    scenario.now = finished[1] + days(300);
    scenario.tick();
    assert_eq!(known(&scenario), newest);
}
