//! Tests the order of candidates: started attempts, then requests, then what is due.

use jiff::SignedDuration;
use phileas_domain::engine::{Checks, Reason, RunRequest, SessionState, Verdict};
use phileas_domain::state::{RequestState, State};

use crate::support::scenario::{Answering, Scenario};

const ONE_PLACE: &str = "[tracks]\nearly = [\"a\", \"c\"]\nlate = [\"b\"]\n[defaults]\nretry = 1\n[budget]\nmax_active = 1\n";

#[test]
fn an_attempt_that_was_begun_goes_before_what_is_due() {
    let mut scenario = Scenario::new(ONE_PLACE, &["a", "b", "c"]);
    scenario.ask = RunRequest::Track("late".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    scenario.minutes(5);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b", "b"]);
    assert_eq!(scenario.reasons("early"), [Reason::BudgetActive]);
}

#[test]
fn a_persons_request_goes_before_what_is_due() {
    let mut scenario = Scenario::new(ONE_PLACE, &["a", "b", "c"]);
    scenario.tick();
    scenario.ask = RunRequest::Persona("c".into());
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    scenario.ask = RunRequest::Due;
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "c"]);
    assert_eq!(scenario.line_facts("request:1").1, Reason::DueRequest);
}

#[test]
fn the_second_attempt_of_a_request_is_a_persons_request_too() {
    let plan = "[defaults]\nretry = 1\n[gate]\nmain_red = \"critical_only\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.checks = Checks::Failed;
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    scenario.minutes(5);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "a"]);
}

#[test]
fn one_commit_announces_three_sessions() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\nthree = [\"c\"]\nfour = [\"d\"]\n[budget]\nmax_active = 9\ntier = \"pro\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c", "d"]);
    scenario.answering = Answering::Dies;
    scenario.tick();
    let announced = scenario.headlines[0].matches("intent ").count();
    assert_eq!(announced, 3, "{:?}", scenario.headlines);
    let left = |line: &&phileas_domain::engine::Line| line.reason == Reason::NextCommit;
    assert_eq!(scenario.lines.iter().filter(left).count(), 1);
}

#[test]
fn while_paused_a_turn_under_way_says_how_it_is_and_not_that_it_is_paused() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::SessionRunning]);
}

/// A request that ended then, with its empty track.
fn finished(state: &mut State, number: u64, ago: SignedDuration, scenario: &Scenario) {
    let request = RequestState {
        kind: "dispatch".to_owned(),
        number: Some(number),
        finished_at: Some(scenario.now - ago),
        ..RequestState::default()
    };
    state.requests.insert(format!("ask:{number}"), request);
    let name = format!("request:{number}");
    state.tracks.entry(name.as_str().into()).or_default().seq = 1;
}

#[test]
fn requests_are_remembered_for_thirty_days_and_the_newest_for_good() {
    let mut scenario = Scenario::new("", &["a"]);
    let month = SignedDuration::from_hours(30 * 24);
    let mut state = State::default();
    finished(&mut state, 1, month, &scenario);
    finished(
        &mut state,
        2,
        month - SignedDuration::from_secs(1),
        &scenario,
    );
    finished(&mut state, 3, month * 2, &scenario);
    scenario.set_state(state);
    scenario.tick();
    let keys: Vec<_> = scenario
        .state()
        .requests
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys, ["ask:2", "ask:3"]);
    let tracks: Vec<_> = scenario
        .state()
        .tracks
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(tracks, ["request:2", "request:3"]);
}

#[test]
fn a_request_that_could_not_start_for_a_week_is_refused_then_and_not_before() {
    let mut scenario = Scenario::new(ONE_PLACE, &["a", "b", "c"]);
    scenario.tick();
    let now = scenario.now;
    scenario.ask = RunRequest::Persona("c".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    let id = scenario.becomes(SessionState::InProgress);
    for left in [1, 0] {
        scenario.now = now + SignedDuration::from_secs(7 * 24 * 3600 - left);
        let at = scenario.now;
        scenario.add_activity(
            &id,
            at,
            phileas_domain::engine::ActivityKind::Progress {
                title: String::new(),
            },
        );
        scenario.tick();
        let (verdict, reason, _) = scenario.line_facts("request:1");
        let expected = match left {
            0 => (Verdict::Refused, Reason::RequestOld),
            _ => (Verdict::Waiting, Reason::BudgetActive),
        };
        assert_eq!((verdict, reason), expected);
    }
}
