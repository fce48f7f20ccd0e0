//! What people read afterwards: the subjects of commits, and the report's lines as a whole.

use jiff::SignedDuration;
use phileas_domain::engine::{Ask, Line, Reason, SessionState, Verdict};
use phileas_domain::model::PullNumber;
use phileas_domain::state::RequestState;

use crate::desk::Desk;

const MERGED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"merged\"\n";

#[test]
fn every_commit_names_the_turn_by_its_number() {
    let mut desk = Desk::new(MERGED, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let first = desk.opens_pull();
    desk.tick();
    desk.merge(first);
    desk.tick();
    desk.minutes(5);
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.tick();
    assert_eq!(
        desk.headlines,
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
    let mut desk = Desk::new(MERGED, &["a", "b"]);
    for _ in 0..2 {
        desk.tick();
        desk.minutes(5);
        let number = desk.opens_pull();
        desk.tick();
        if number == PullNumber(1) {
            desk.merge(number);
        }
    }
    let turn = desk.turn("default");
    let expected = Line {
        track: Some("default".into()),
        seq: Some(2),
        slot: Some("".into()),
        persona: Some("b".into()),
        verdict: Verdict::Waiting,
        reason: Reason::PrOpen,
        turn: Some(turn.turn.clone()),
        session_id: Some(desk.sessions[1].id.clone()),
        pr_number: Some(PullNumber(2)),
        detail: "pull request #2 is neither merged nor closed".to_owned(),
        until: Some(desk.now + SignedDuration::from_mins(30)),
        is_requested: false,
    };
    assert_eq!(desk.lines, [expected]);
}

#[test]
fn a_long_subject_is_cut_to_a_hundred_and_sixty_characters() {
    let ids: Vec<_> = (10..30).map(|n| format!("persona-{n}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let mut desk = Desk::new("", &ids);
    desk.ask = Ask::All;
    desk.tick();
    let subject = &desk.headlines[0];
    assert_eq!(subject.chars().count(), 160, "{subject}");
    assert!(subject.starts_with("request 1 persona-10, request 2 persona-11, "));
    assert!(subject.ends_with('…'));
}

#[test]
fn what_a_person_asks_for_is_written_down_whole() {
    let mut desk = Desk::new("", &["a"]);
    desk.answering = crate::desk::Answering::NotSent;
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    let expected = RequestState {
        kind: "dispatch".to_owned(),
        subject: Some("persona:a".to_owned()),
        outcome: Some("dispatched".to_owned()),
        number: Some(1),
        turn: Some(desk.turn("request:1").turn.clone()),
        created_at: Some(desk.now),
        ..RequestState::default()
    };
    let requests: Vec<_> = desk.state().requests.iter().collect();
    assert_eq!(requests, [(&"ask:test:1:a".to_owned(), &expected)]);
}

#[test]
fn while_a_person_is_waited_for_nothing_is_written() {
    let plan = "cycle = [\"a\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    let commits = desk.headlines.len();
    for _ in 0..5 {
        desk.hours(7);
        desk.tick();
        assert_eq!(desk.says("default").1, Reason::PlanApproval);
    }
    assert_eq!(desk.headlines.len(), commits);
    assert_eq!(desk.notices.len(), 1);
}

#[test]
fn a_person_whose_issue_is_not_there_is_called_again_after_six_hours() {
    let plan = "cycle = [\"a\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    desk.notices.clear();
    desk.tick_after(6 * 3600 - 1);
    assert_eq!(desk.notices.len(), 0);
    desk.tick_after(1);
    assert_eq!(desk.notices.len(), 1);
}
