//! Who goes first where not everybody can: attempts that were begun, then what people ask for, then what is due.

use jiff::SignedDuration;
use phileas_domain::engine::{Ask, Checks, Reason, SessionState, Verdict};
use phileas_domain::state::{RequestState, State};

use crate::desk::{Answering, Desk};

const ONE_PLACE: &str = "[tracks]\nearly = [\"a\", \"c\"]\nlate = [\"b\"]\n[defaults]\nretry = 1\n[budget]\nmax_active = 1\n";

#[test]
fn an_attempt_that_was_begun_goes_before_what_is_due() {
    let mut desk = Desk::new(ONE_PLACE, &["a", "b", "c"]);
    desk.ask = Ask::Track("late".into());
    desk.tick();
    desk.ask = Ask::Due;
    desk.minutes(5);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert_eq!(desk.personas_run(), ["b", "b"]);
    assert_eq!(desk.reasons("early"), [Reason::BudgetActive]);
}

#[test]
fn what_a_person_asked_for_goes_before_what_is_due() {
    let mut desk = Desk::new(ONE_PLACE, &["a", "b", "c"]);
    desk.tick();
    desk.ask = Ask::Persona("c".into());
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    desk.ask = Ask::Due;
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "c"]);
    assert_eq!(desk.says("request:1").1, Reason::DueRequest);
}

#[test]
fn the_second_attempt_at_a_request_is_a_persons_wish_too() {
    let plan = "[defaults]\nretry = 1\n[gate]\nmain_red = \"critical_only\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.checks = Checks::Red;
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    desk.ask = Ask::Due;
    desk.minutes(5);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "a"]);
}

#[test]
fn one_commit_announces_three_sessions() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\nthree = [\"c\"]\nfour = [\"d\"]\n[budget]\nmax_active = 9\ntier = \"pro\"\n";
    let mut desk = Desk::new(plan, &["a", "b", "c", "d"]);
    desk.answering = Answering::Dies;
    desk.tick();
    let announced = desk.headlines[0].matches("intent ").count();
    assert_eq!(announced, 3, "{:?}", desk.headlines);
    let left = |line: &&phileas_domain::engine::Line| line.reason == Reason::NextCommit;
    assert_eq!(desk.lines.iter().filter(left).count(), 1);
}

#[test]
fn while_paused_a_turn_under_way_says_how_it_is_and_not_that_it_is_paused() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.paused_by_variable = Some("yes".to_owned());
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::SessionRunning]);
}

/// A request that ended then, with its empty track.
fn finished(state: &mut State, number: u64, ago: SignedDuration, desk: &Desk) {
    let request = RequestState {
        kind: "dispatch".to_owned(),
        number: Some(number),
        finished_at: Some(desk.now - ago),
        ..RequestState::default()
    };
    state.requests.insert(format!("ask:{number}"), request);
    let name = format!("request:{number}");
    state.tracks.entry(name.as_str().into()).or_default().seq = 1;
}

#[test]
fn requests_are_remembered_for_thirty_days_and_the_newest_for_good() {
    let mut desk = Desk::new("", &["a"]);
    let month = SignedDuration::from_hours(30 * 24);
    let mut state = State::default();
    finished(&mut state, 1, month, &desk);
    finished(&mut state, 2, month - SignedDuration::from_secs(1), &desk);
    finished(&mut state, 3, month * 2, &desk);
    desk.set_state(state);
    desk.tick();
    let keys: Vec<_> = desk.state().requests.keys().map(String::as_str).collect();
    assert_eq!(keys, ["ask:2", "ask:3"]);
    let tracks: Vec<_> = desk
        .state()
        .tracks
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(tracks, ["request:2", "request:3"]);
}

#[test]
fn a_request_that_could_not_start_for_a_week_is_refused_then_and_not_before() {
    let mut desk = Desk::new(ONE_PLACE, &["a", "b", "c"]);
    desk.tick();
    let now = desk.now;
    desk.ask = Ask::Persona("c".into());
    desk.tick();
    desk.ask = Ask::Due;
    let id = desk.becomes(SessionState::InProgress);
    for left in [1, 0] {
        desk.now = now + SignedDuration::from_secs(7 * 24 * 3600 - left);
        let at = desk.now;
        desk.say(&id, at, phileas_domain::engine::ActivityKind::Progress);
        desk.tick();
        let (verdict, reason, _) = desk.says("request:1");
        let expected = match left {
            0 => (Verdict::Refused, Reason::RequestOld),
            _ => (Verdict::Waiting, Reason::BudgetActive),
        };
        assert_eq!((verdict, reason), expected);
    }
}
