//! Tests questions and plans of a session: who answers them, and when.

use jiff::SignedDuration;
use phileas_domain::engine::{ActivityKind, Effect, Reason, SessionState, Verdict};
use phileas_domain::model::SessionId;

use crate::support::scenario::Scenario;

const WAITING: Verdict = Verdict::Waiting;

/// A session that has just asked a question.
fn asks() -> (Scenario, SessionId) {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let id = scenario.becomes(SessionState::AwaitingUserFeedback);
    (scenario, id)
}

/// Which standard answers a session got.
fn answers(scenario: &Scenario, id: &SessionId) -> Vec<String> {
    let told = scenario.messages_to(id).into_iter();
    told.filter_map(|line| Some(line.split_once('/')?.1.to_owned()))
        .collect()
}

#[test]
fn an_answer_has_a_quarter_of_an_hour_before_the_next_one() {
    let (mut scenario, id) = asks();
    scenario.tick();
    assert_eq!(
        scenario.line("default").detail,
        "it asked a question and gets standard answer 1 of 2"
    );
    for (seconds, left) in [(0, 60), (14 * 60 + 30, 30), (29, 1)] {
        scenario.tick_after(seconds);
        let waits = (WAITING, Reason::SessionAsked, Some(left));
        assert_eq!(scenario.line_facts("default"), waits);
        assert_eq!(
            scenario.line("default").detail,
            "it was given answer 1 of 2"
        );
        assert_eq!(answers(&scenario, &id), ["q1"]);
    }
    scenario.tick_after(1);
    assert_eq!(answers(&scenario, &id), ["q1", "q2"]);
}

#[test]
fn a_new_question_is_answered_once_the_state_is_no_older() {
    let (mut scenario, id) = asks();
    scenario.tick();
    scenario.seconds(1);
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.tick_after(3 * 60 - 1);
    assert_eq!(answers(&scenario, &id), ["q1"]);
    scenario.tick_after(1);
    assert_eq!(answers(&scenario, &id), ["q1", "q2"]);
    scenario.seconds(1);
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.tick_after(3 * 60);
    assert_eq!(answers(&scenario, &id), ["q1", "q2"]);
    assert_eq!(scenario.line_facts("default").1, Reason::PersonAnswer);
    assert_eq!(scenario.notices.len(), 1);
}

/// The state lags behind the activities: a message of a continuing session is no question.
#[test]
fn a_session_that_goes_on_and_says_so_is_not_answered_again() {
    let (mut scenario, id) = asks();
    scenario.tick();
    scenario.seconds(30);
    let now = scenario.now;
    let text = "Thank you, I go on with the first.".to_owned();
    scenario.add_activity(&id, now, ActivityKind::AgentMessaged(text));
    scenario.tick_after(60);
    let waits = (WAITING, Reason::SessionAsked, Some(60));
    assert_eq!(scenario.line_facts("default"), waits);
    scenario.becomes(SessionState::InProgress);
    for _ in 0..5 {
        scenario.tick_after(60);
    }
    assert_eq!(answers(&scenario, &id), ["q1"]);
    assert_eq!(scenario.notices.len(), 0);
}

/// A tick that loses a race decides once more on what it has read, and minutes may have gone by.
#[test]
fn a_session_that_was_read_long_ago_is_not_answered_again() {
    let (mut scenario, id) = asks();
    scenario.tick();
    scenario.seconds(1);
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.listing_age = SignedDuration::from_secs(1);
    scenario.tick_after(3 * 60);
    assert_eq!(answers(&scenario, &id), ["q1"]);
    scenario.tick_after(1);
    assert_eq!(answers(&scenario, &id), ["q1", "q2"]);
}

#[test]
fn an_answer_that_was_lost_is_sent_again_after_a_quarter_of_an_hour() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    let id = scenario.becomes(SessionState::InProgress);
    let now = scenario.now;
    // An earlier message of a person is not the lost answer.
    let text = "Be quick.".to_owned();
    scenario.add_activity(&id, now, ActivityKind::UserMessaged(text));
    scenario.minutes(5);
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.lost = vec!["send_message"];
    scenario.tick();
    scenario.lost.clear();
    scenario.tick_after(15 * 60 - 1);
    let waits = (WAITING, Reason::SessionAsked, Some(1));
    assert_eq!(scenario.line_facts("default"), waits);
    assert_eq!(scenario.sending(), 0);
    scenario.tick_after(1);
    assert_eq!(answers(&scenario, &id), ["q1"]);
    assert_eq!(scenario.turn("default").repeats, 1);
}

/// As two merged ledgers may have it.
#[test]
fn an_answer_that_was_not_counted_begins_with_the_first() {
    let (mut scenario, id) = asks();
    let mut state = scenario.state().clone();
    let turn = state.tracks.get_mut("default").unwrap().turns.get_mut("");
    turn.unwrap().nudged_at = Some(scenario.now);
    scenario.set_state(state);
    scenario.tick();
    assert_eq!(answers(&scenario, &id), ["q1"]);
}

#[test]
fn an_answer_that_is_never_delivered_is_sent_seven_times_and_then_opens_a_notice() {
    let (mut scenario, _) = asks();
    scenario.lost = vec!["send_message"];
    for count in 1..=7 {
        scenario.tick();
        assert_eq!(scenario.sending(), 1, "the {count}. time");
        scenario.minutes(15);
    }
    scenario.tick();
    assert_eq!(scenario.sending(), 0);
    let line = scenario.line("default");
    assert_eq!(line.reason, Reason::PersonAnswer);
    assert_eq!(
        line.detail,
        "it asked a question, and the standard answer does not arrive"
    );
}

#[test]
fn a_persons_answer_has_a_quarter_of_an_hour_too() {
    let (mut scenario, id) = asks();
    scenario.seconds(1);
    let now = scenario.now;
    let text = "Take the first.".to_owned();
    scenario.add_activity(&id, now, ActivityKind::UserMessaged(text));
    for (seconds, left) in [(0, 60), (14 * 60 + 59, 1)] {
        scenario.tick_after(seconds);
        let waits = (WAITING, Reason::SessionAsked, Some(left));
        assert_eq!(scenario.line_facts("default"), waits);
        assert_eq!(scenario.line("default").detail, "a person has answered it");
        assert_eq!(scenario.sending(), 0);
    }
    scenario.tick_after(1);
    assert_eq!(scenario.sending(), 1);
}

#[test]
fn what_a_person_said_before_the_question_does_not_answer_it() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let id = scenario.becomes(SessionState::InProgress);
    let now = scenario.now;
    scenario.add_activity(&id, now, ActivityKind::UserMessaged("Be quick.".to_owned()));
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.tick();
    assert_eq!(scenario.sending(), 1);
}

#[test]
fn a_plan_is_approved_again_when_it_was_made_again() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let id = scenario.becomes(SessionState::AwaitingPlanApproval);
    let approves = [Effect::ApprovePlan { session: id }];
    scenario.tick();
    assert_eq!(scenario.effects, approves);
    // Approved in the same second; the session's state lags behind.
    scenario.tick();
    assert_eq!(scenario.effects, []);
    assert_eq!(scenario.line_facts("default").1, Reason::SessionRunning);
    scenario.seconds(1);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    assert_eq!(scenario.effects, approves);
}

#[test]
fn a_plan_that_the_log_does_not_show_yet_is_approved() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let id = scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.activities.remove(&id);
    scenario.tick();
    assert_eq!(scenario.effects, [Effect::ApprovePlan { session: id }]);
}

#[test]
fn a_plan_that_phileas_may_not_approve_waits_for_a_person_in_jules() {
    for (word, said) in [
        ("writers", "a person with write access"),
        ("never", "approval in Jules itself"),
    ] {
        let plan = format!("cycle = [\"a\"]\n[defaults]\nplan_approval = \"{word}\"\n");
        let mut scenario = Scenario::new(&plan, &["a"]);
        scenario.tick();
        let create = scenario.created_sessions();
        assert!(create[0].require_plan_approval);
        scenario.minutes(5);
        scenario.becomes(SessionState::AwaitingPlanApproval);
        scenario.tick();
        let line = scenario.line("default");
        assert_eq!(line.reason, Reason::PlanApproval);
        assert!(line.detail.contains(said), "{}", line.detail);
        assert_eq!(scenario.notices.len(), 1);
    }
}
