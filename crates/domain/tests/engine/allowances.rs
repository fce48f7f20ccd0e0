//! How many sessions one person may ask for within an hour, and what becomes of more.

use phileas_domain::engine::{Reason, SessionState};

use crate::desk::Desk;

/// Two sessions an hour for each person, on one issue for each persona.
fn desk() -> Desk {
    let plan = "[budget]\nrequests_per_actor_hour = 2\nmax_active = 3\ndaily_sessions = 14\n";
    let mut desk = Desk::new(plan, &["a", "b", "c", "d"]);
    desk.writer("ada").writer("eve");
    for number in [6, 7, 8, 9] {
        desk.issue(number, "It is slow", "t");
    }
    desk
}

#[test]
fn what_is_more_than_an_hour_has_room_for_waits_and_is_not_refused() {
    let mut desk = desk();
    desk.label(6, "a", "ada");
    desk.label(7, "b", "ada");
    desk.label(8, "c", "ada");
    desk.label(9, "d", "eve");
    desk.tick();
    assert_eq!(desk.reasons("request:3").last(), Some(&Reason::ActorHour));
    assert_eq!(desk.sessions.len(), 3, "others have an hour of their own");
    let status = desk.status(8);
    assert!(status.contains("waiting.actor_budget"), "{status}");
    desk.minutes(59);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.sessions.len(), 3);
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.sessions.len(), 4);
    assert!(desk.status(8).contains("at work"), "{}", desk.status(8));
}

/// Whoever asked for sessions must be able to say yes to their plans, and to ask how they stand.
#[test]
fn only_sessions_are_counted() {
    let mut desk = desk();
    desk.label(6, "a", "ada");
    desk.label(7, "b", "ada");
    desk.tick();
    desk.minutes(3);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    desk.minutes(1);
    for command in ["status", "explain", "approve"] {
        desk.writes(7, &format!("/phileas {command}"), "ada");
    }
    desk.tick();
    let status = desk.status(7);
    assert!(status.contains("the plan is approved"), "{status}");
    assert!(!status.contains("actor_budget"), "{status}");
}

/// A tick that comes late takes up the wishes of several hours at once.
#[test]
fn the_time_of_the_wish_counts_and_not_that_of_its_picking_up() {
    let mut desk = desk();
    desk.label(6, "a", "ada");
    desk.label(7, "b", "ada");
    desk.hours(1);
    desk.label(8, "c", "ada");
    desk.tick();
    assert_eq!(desk.sessions.len(), 3);
}
