//! What people ask for by commands: one wish a persona at a time, oldest first, and taken back.

use jiff::SignedDuration;
use phileas_domain::engine::{Ask, Reason, Verdict, withdraw};

use crate::desk::{Answering, Desk};

/// One place, and `a` holds it.
const FULL: &str = "cycle = [\"a\"]\n[budget]\nmax_active = 1\ndaily_sessions = 14\n";

fn full(personas: &[&str]) -> Desk {
    let mut desk = Desk::new(FULL, personas);
    desk.tick();
    desk
}

fn wish(desk: &mut Desk, persona: &str) {
    desk.ask = Ask::Persona(persona.into());
    desk.tick();
    desk.ask = Ask::Due;
}

/// How many requests there are for each persona that has one.
fn requests(desk: &Desk) -> Vec<(u64, String, String)> {
    let requests = desk.state().requests.values().map(|one| {
        let outcome = one.outcome.clone().unwrap();
        (one.number.unwrap(), one.subject.clone().unwrap(), outcome)
    });
    let mut requests: Vec<_> = requests.collect();
    requests.sort();
    requests
}

/// The live session opens its pull request, and whoever is next starts.
fn next(desk: &mut Desk) {
    desk.minutes(5);
    desk.opens_pull_of(desk.sessions.len() - 1);
    desk.tick();
}

#[test]
fn the_same_wish_joins_the_one_that_was_not_started_yet() {
    let mut desk = full(&["a", "b"]);
    for _ in 0..3 {
        wish(&mut desk, "b");
        desk.minutes(1);
    }
    assert_eq!(
        requests(&desk),
        [(1, "persona:b".to_owned(), "pending".to_owned())]
    );
    assert_eq!(
        desk.reasons("request:1"),
        [Reason::RequestOpen, Reason::BudgetActive]
    );
    let joined = desk
        .lines
        .iter()
        .find(|line| line.reason == Reason::RequestOpen);
    let joined = joined.unwrap();
    assert_eq!(joined.verdict, Verdict::Skipped);
    assert!(joined.detail.contains("request:1"), "{}", joined.detail);
    for _ in 0..3 {
        next(&mut desk);
    }
    assert_eq!(desk.personas_run(), ["a", "b"]);
}

/// The round after the one that starts it asks again.
#[test]
fn a_wish_that_starts_the_one_it_joins_starts_nothing_else() {
    let mut desk = full(&["a", "b"]);
    wish(&mut desk, "b");
    desk.minutes(5);
    desk.opens_pull();
    wish(&mut desk, "b");
    assert_eq!(desk.personas_run(), ["a", "b"]);
    assert_eq!(requests(&desk).len(), 1);
    // Once it is at work, whoever asks wants it once more.
    desk.minutes(1);
    wish(&mut desk, "b");
    assert_eq!(requests(&desk).len(), 2);
}

#[test]
fn a_wish_joins_one_that_was_announced_and_has_no_session() {
    for answering in [Answering::Refused, Answering::LostBefore] {
        let mut desk = Desk::new("", &["a"]);
        desk.answering = answering;
        for _ in 0..3 {
            wish(&mut desk, "a");
            desk.minutes(1);
        }
        assert_eq!(requests(&desk).len(), 1, "{answering:?}");
    }
}

#[test]
fn who_asks_for_everybody_asks_for_nobody_twice() {
    let mut desk = full(&["a", "b", "c"]);
    wish(&mut desk, "b");
    desk.ask = Ask::All;
    for _ in 0..2 {
        desk.minutes(1);
        desk.tick();
    }
    let subjects: Vec<_> = requests(&desk).into_iter().map(|one| one.1).collect();
    assert_eq!(subjects, ["persona:b", "persona:a", "persona:c"]);
}

#[test]
fn a_wish_that_is_a_week_old_is_not_joined() {
    let mut desk = full(&["a", "b"]);
    wish(&mut desk, "b");
    desk.hours(7 * 24);
    desk.becomes(phileas_domain::engine::SessionState::InProgress);
    wish(&mut desk, "b");
    let outcomes: Vec<_> = requests(&desk)
        .into_iter()
        .map(|one| (one.0, one.2))
        .collect();
    assert_eq!(
        outcomes,
        [(1, "refused".to_owned()), (2, "pending".to_owned())]
    );
}

#[test]
fn wishes_are_taken_oldest_first_also_beyond_the_ninth() {
    let ids: Vec<String> = (1..=11).map(|n| format!("p{n:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut desk = full(&[&["a"], &ids[..]].concat());
    // All within one second, which each run divides by its own stopwatch, and against the order of the alphabet.
    for id in ids.iter().rev() {
        wish(&mut desk, id);
        desk.pass(-SignedDuration::from_millis(1));
    }
    for _ in 0..ids.len() {
        next(&mut desk);
    }
    assert_eq!(desk.state().requests.len(), ids.len());
    let expected: Vec<&str> = ["a"].into_iter().chain(ids.iter().rev().copied()).collect();
    assert_eq!(desk.personas_run(), expected);
}

#[test]
fn a_wish_can_be_taken_back_until_it_is_started() {
    let mut desk = full(&["a", "b", "c"]);
    wish(&mut desk, "b");
    wish(&mut desk, "c");
    let mut state = desk.state().clone();
    assert!(withdraw(&mut state, 1, desk.now));
    assert!(!withdraw(&mut state, 1, desk.now), "it is over");
    assert!(!withdraw(&mut state, 3, desk.now), "there is none");
    desk.set_state(state);
    next(&mut desk);
    assert_eq!(desk.personas_run(), ["a", "c"]);
    assert_eq!(desk.reasons("request:1"), []);
    let mut state = desk.state().clone();
    assert!(!withdraw(&mut state, 2, desk.now), "it is at work");
    let outcomes: Vec<_> = requests(&desk).into_iter().map(|one| one.2).collect();
    assert_eq!(outcomes, ["cancelled", "dispatched"]);
    // Nobody is joined to a wish that is over.
    wish(&mut desk, "b");
    assert_eq!(requests(&desk).len(), 3);
}
