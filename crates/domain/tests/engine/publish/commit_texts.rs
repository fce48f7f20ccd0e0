//! Tests the subjects of commits, and whole report lines.

use jiff::SignedDuration;
use phileas_domain::engine::{Line, Reason, RunRequest, SessionState, Verdict};
use phileas_domain::model::PullNumber;
use phileas_domain::state::RequestState;

use crate::support::scenario::Scenario;

const MERGED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"merged\"\n";

#[test]
fn every_commit_names_the_turn_by_its_number() {
    let mut scenario = Scenario::new(MERGED, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let first = scenario.opens_pull();
    scenario.tick();
    scenario.merge(first);
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.tick();
    assert_eq!(
        scenario.headlines,
        [
            "intent default#1 a",
            "started default#1 a",
            "pull request #1 of default#1",
            "settled default#1 a merged, intent default#2 b",
            "started default#2 b",
            "answer 1 to default#2 b",
        ]
    );
}

#[test]
fn a_line_about_a_turn_says_all_that_is_known_of_it() {
    let mut scenario = Scenario::new(MERGED, &["a", "b"]);
    for _ in 0..2 {
        scenario.tick();
        scenario.minutes(5);
        let number = scenario.opens_pull();
        scenario.tick();
        if number == PullNumber(1) {
            scenario.merge(number);
        }
    }
    let turn = scenario.turn("default");
    let expected = Line {
        track: Some("default".into()),
        seq: Some(2),
        slot: Some("".into()),
        persona: Some("b".into()),
        verdict: Verdict::Waiting,
        reason: Reason::PrOpen,
        turn: Some(turn.turn.clone()),
        session_id: Some(scenario.sessions[1].id.clone()),
        pr_number: Some(PullNumber(2)),
        detail: "pull request #2 is neither merged nor closed".to_owned(),
        until: Some(scenario.now + SignedDuration::from_mins(30)),
        is_requested: false,
    };
    assert_eq!(scenario.lines, [expected]);
}

#[test]
fn a_long_subject_is_cut_to_a_hundred_and_sixty_characters() {
    let ids: Vec<_> = (10..30).map(|n| format!("persona-{n}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let mut scenario = Scenario::new("", &ids);
    scenario.ask = RunRequest::All;
    scenario.tick();
    let subject = &scenario.headlines[0];
    assert_eq!(subject.chars().count(), 160, "{subject}");
    assert!(subject.starts_with("request 1 persona-10, request 2 persona-11, "));
    assert!(subject.ends_with('…'));
}

#[test]
fn a_persons_request_is_recorded_completely() {
    let mut scenario = Scenario::new("", &["a"]);
    scenario.answering = crate::support::scenario::Answering::NotSent;
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    let expected = RequestState {
        kind: "dispatch".to_owned(),
        subject: Some("persona:a".to_owned()),
        outcome: Some("dispatched".to_owned()),
        number: Some(1),
        turn: Some(scenario.turn("request:1").turn.clone()),
        created_at: Some(scenario.now),
        ..RequestState::default()
    };
    let requests: Vec<_> = scenario.state().requests.iter().collect();
    assert_eq!(requests, [(&"ask:test:1:a".to_owned(), &expected)]);
}

#[test]
fn while_a_person_is_waited_for_nothing_is_written() {
    let plan = "cycle = [\"a\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    let commits = scenario.headlines.len();
    for _ in 0..5 {
        scenario.hours(7);
        scenario.tick();
        assert_eq!(scenario.line_facts("default").1, Reason::PlanApproval);
    }
    assert_eq!(scenario.headlines.len(), commits);
    assert_eq!(scenario.notices.len(), 1);
}

#[test]
fn a_missing_notice_is_opened_again_after_six_hours() {
    let plan = "cycle = [\"a\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    scenario.notices.clear();
    scenario.tick_after(6 * 3600 - 1);
    assert_eq!(scenario.notices.len(), 0);
    scenario.tick_after(1);
    assert_eq!(scenario.notices.len(), 1);
}
