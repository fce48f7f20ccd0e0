//! Tests the limit of sessions that one person may request within an hour.

use phileas_domain::engine::{Reason, SessionState};

use crate::support::scenario::Scenario;

/// Two sessions an hour for each person, on one issue for each persona.
fn scenario() -> Scenario {
    let plan = "[budget]\nrequests_per_actor_hour = 2\nmax_active = 3\ndaily_sessions = 14\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c", "d"]);
    scenario.writer("ada").writer("eve");
    for number in [6, 7, 8, 9] {
        scenario.issue(number, "It is slow", "t");
    }
    scenario
}

#[test]
fn what_is_more_than_an_hour_has_room_for_waits_and_is_not_refused() {
    let mut scenario = scenario();
    scenario.label(6, "a", "ada");
    scenario.label(7, "b", "ada");
    scenario.label(8, "c", "ada");
    scenario.label(9, "d", "eve");
    scenario.tick();
    assert_eq!(
        scenario.reasons("request:3").last(),
        Some(&Reason::ActorHour)
    );
    assert_eq!(
        scenario.sessions.len(),
        3,
        "others have an hour of their own"
    );
    let status = scenario.status(8);
    assert!(status.contains("waiting.actor_budget"), "{status}");
    scenario.minutes(59);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 3);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 4);
    assert!(
        scenario.status(8).contains("at work"),
        "{}",
        scenario.status(8)
    );
}

/// A person at the limit can still approve plans and request the status.
#[test]
fn only_sessions_are_counted() {
    let mut scenario = scenario();
    scenario.label(6, "a", "ada");
    scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.minutes(3);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    scenario.minutes(1);
    for command in ["status", "explain", "approve"] {
        scenario.writes(7, &format!("/phileas {command}"), "ada");
    }
    scenario.tick();
    let status = scenario.status(7);
    assert!(status.contains("the plan is approved"), "{status}");
    assert!(!status.contains("actor_budget"), "{status}");
}

/// A late tick accepts the requests of several hours at once.
#[test]
fn the_time_of_the_request_counts_and_not_that_of_its_acceptance() {
    let mut scenario = scenario();
    scenario.label(6, "a", "ada");
    scenario.label(7, "b", "ada");
    scenario.hours(1);
    scenario.label(8, "c", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 3);
}
