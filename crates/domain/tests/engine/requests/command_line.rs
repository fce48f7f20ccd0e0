//! Tests requests by the command line: one a persona at a time, oldest first, and withdrawn.

use jiff::SignedDuration;
use phileas_domain::engine::{Reason, RunRequest, Verdict, withdraw_request};

use crate::support::scenario::{Answering, Scenario};

/// One place, and `a` holds it.
const FULL: &str = "cycle = [\"a\"]\n[budget]\nmax_active = 1\ndaily_sessions = 14\n";

fn full(personas: &[&str]) -> Scenario {
    let mut scenario = Scenario::new(FULL, personas);
    scenario.tick();
    scenario
}

fn request_persona(scenario: &mut Scenario, persona: &str) {
    scenario.ask = RunRequest::Persona(persona.into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
}

/// How many requests there are for each persona that has one.
fn requests(scenario: &Scenario) -> Vec<(u64, String, String)> {
    let requests = scenario.state().requests.values().map(|one| {
        let outcome = one.outcome.clone().unwrap();
        (one.number.unwrap(), one.subject.clone().unwrap(), outcome)
    });
    let mut requests: Vec<_> = requests.collect();
    requests.sort();
    requests
}

/// The live session opens its pull request, and the next one starts.
fn next(scenario: &mut Scenario) {
    scenario.minutes(5);
    scenario.opens_pull_of(scenario.sessions.len() - 1);
    scenario.tick();
}

#[test]
fn the_same_request_joins_the_pending_one() {
    let mut scenario = full(&["a", "b"]);
    for _ in 0..3 {
        request_persona(&mut scenario, "b");
        scenario.minutes(1);
    }
    assert_eq!(
        requests(&scenario),
        [(1, "persona:b".to_owned(), "pending".to_owned())]
    );
    assert_eq!(
        scenario.reasons("request:1"),
        [Reason::RequestOpen, Reason::BudgetActive]
    );
    let joined = scenario
        .lines
        .iter()
        .find(|line| line.reason == Reason::RequestOpen);
    let joined = joined.unwrap();
    assert_eq!(joined.verdict, Verdict::Skipped);
    assert!(joined.detail.contains("request:1"), "{}", joined.detail);
    for _ in 0..3 {
        next(&mut scenario);
    }
    assert_eq!(scenario.personas_run(), ["a", "b"]);
}

/// The round after the start accepts the request again.
#[test]
fn a_request_that_starts_the_one_it_joins_starts_nothing_else() {
    let mut scenario = full(&["a", "b"]);
    request_persona(&mut scenario, "b");
    scenario.minutes(5);
    scenario.opens_pull();
    request_persona(&mut scenario, "b");
    assert_eq!(scenario.personas_run(), ["a", "b"]);
    assert_eq!(requests(&scenario).len(), 1);
    // Once it is at work, a further request starts another session.
    scenario.minutes(1);
    request_persona(&mut scenario, "b");
    assert_eq!(requests(&scenario).len(), 2);
}

#[test]
fn a_request_joins_one_that_was_announced_and_has_no_session() {
    for answering in [Answering::Refused, Answering::LostBefore] {
        let mut scenario = Scenario::new("", &["a"]);
        scenario.answering = answering;
        for _ in 0..3 {
            request_persona(&mut scenario, "a");
            scenario.minutes(1);
        }
        assert_eq!(requests(&scenario).len(), 1, "{answering:?}");
    }
}

#[test]
fn a_request_for_all_personas_requests_none_twice() {
    let mut scenario = full(&["a", "b", "c"]);
    request_persona(&mut scenario, "b");
    scenario.ask = RunRequest::All;
    for _ in 0..2 {
        scenario.minutes(1);
        scenario.tick();
    }
    let subjects: Vec<_> = requests(&scenario).into_iter().map(|one| one.1).collect();
    assert_eq!(subjects, ["persona:b", "persona:a", "persona:c"]);
}

#[test]
fn a_request_that_is_a_week_old_is_not_joined() {
    let mut scenario = full(&["a", "b"]);
    request_persona(&mut scenario, "b");
    scenario.hours(7 * 24);
    scenario.becomes(phileas_domain::engine::SessionState::InProgress);
    request_persona(&mut scenario, "b");
    let outcomes: Vec<_> = requests(&scenario)
        .into_iter()
        .map(|one| (one.0, one.2))
        .collect();
    assert_eq!(
        outcomes,
        [(1, "refused".to_owned()), (2, "pending".to_owned())]
    );
}

#[test]
fn requests_start_oldest_first_also_beyond_the_ninth() {
    let ids: Vec<String> = (1..=11).map(|n| format!("p{n:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut scenario = full(&[&["a"], &ids[..]].concat());
    // All within one second, which each run divides by its own stopwatch, and against the order of the alphabet.
    for id in ids.iter().rev() {
        request_persona(&mut scenario, id);
        scenario.pass(-SignedDuration::from_millis(1));
    }
    for _ in 0..ids.len() {
        next(&mut scenario);
    }
    assert_eq!(scenario.state().requests.len(), ids.len());
    let expected: Vec<&str> = ["a"].into_iter().chain(ids.iter().rev().copied()).collect();
    assert_eq!(scenario.personas_run(), expected);
}

#[test]
fn a_request_can_be_withdrawn_until_it_is_started() {
    let mut scenario = full(&["a", "b", "c"]);
    request_persona(&mut scenario, "b");
    request_persona(&mut scenario, "c");
    let mut state = scenario.state().clone();
    assert!(withdraw_request(&mut state, 1, scenario.now));
    assert!(!withdraw_request(&mut state, 1, scenario.now), "it is over");
    assert!(
        !withdraw_request(&mut state, 3, scenario.now),
        "there is none"
    );
    scenario.set_state(state);
    next(&mut scenario);
    assert_eq!(scenario.personas_run(), ["a", "c"]);
    assert_eq!(scenario.reasons("request:1"), []);
    let mut state = scenario.state().clone();
    assert!(
        !withdraw_request(&mut state, 2, scenario.now),
        "it is at work"
    );
    let outcomes: Vec<_> = requests(&scenario).into_iter().map(|one| one.2).collect();
    assert_eq!(outcomes, ["cancelled", "dispatched"]);
    // A finished request is not joined.
    request_persona(&mut scenario, "b");
    assert_eq!(requests(&scenario).len(), 3);
}
