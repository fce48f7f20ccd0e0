//! Questions and plans of a session: who answers them, and when.

use jiff::SignedDuration;
use phileas_domain::engine::{ActivityKind, Effect, Reason, SessionState, Verdict};
use phileas_domain::model::SessionId;

use crate::desk::Desk;

const WAITING: Verdict = Verdict::Waiting;

/// A session that has just asked something.
fn asks() -> (Desk, SessionId) {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    let id = desk.becomes(SessionState::AwaitingUserFeedback);
    (desk, id)
}

/// Which standard answers a session got.
fn answers(desk: &Desk, id: &SessionId) -> Vec<String> {
    let told = desk.told(id).into_iter();
    told.filter_map(|line| Some(line.split_once('/')?.1.to_owned()))
        .collect()
}

#[test]
fn an_answer_has_a_quarter_of_an_hour_before_the_next_one() {
    let (mut desk, id) = asks();
    desk.tick();
    assert_eq!(
        desk.line("default").detail,
        "it asked something and gets standard answer 1 of 2"
    );
    for (seconds, left) in [(0, 60), (14 * 60 + 30, 30), (29, 1)] {
        desk.tick_after(seconds);
        let waits = (WAITING, Reason::SessionAsked, Some(left));
        assert_eq!(desk.says("default"), waits);
        assert_eq!(desk.line("default").detail, "it was given answer 1 of 2");
        assert_eq!(answers(&desk, &id), ["q1"]);
    }
    desk.tick_after(1);
    assert_eq!(answers(&desk, &id), ["q1", "q2"]);
}

#[test]
fn a_new_question_is_answered_once_the_state_is_no_older() {
    let (mut desk, id) = asks();
    desk.tick();
    desk.seconds(1);
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.tick_after(3 * 60 - 1);
    assert_eq!(answers(&desk, &id), ["q1"]);
    desk.tick_after(1);
    assert_eq!(answers(&desk, &id), ["q1", "q2"]);
    desk.seconds(1);
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.tick_after(3 * 60);
    assert_eq!(answers(&desk, &id), ["q1", "q2"]);
    assert_eq!(desk.says("default").1, Reason::PersonAnswer);
    assert_eq!(desk.notices.len(), 1);
}

/// The state lags behind the log: what the session says when it goes on is no question.
#[test]
fn a_session_that_goes_on_and_says_so_is_not_answered_again() {
    let (mut desk, id) = asks();
    desk.tick();
    desk.seconds(30);
    let now = desk.now;
    let text = "Thank you, I go on with the first.".to_owned();
    desk.say(&id, now, ActivityKind::AgentMessaged(text));
    desk.tick_after(60);
    let waits = (WAITING, Reason::SessionAsked, Some(60));
    assert_eq!(desk.says("default"), waits);
    desk.becomes(SessionState::InProgress);
    for _ in 0..5 {
        desk.tick_after(60);
    }
    assert_eq!(answers(&desk, &id), ["q1"]);
    assert_eq!(desk.notices.len(), 0);
}

/// A tick that loses a race decides once more on what it has read, and minutes may have gone by.
#[test]
fn a_session_that_was_looked_at_long_ago_is_not_answered_again() {
    let (mut desk, id) = asks();
    desk.tick();
    desk.seconds(1);
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.listing_age = SignedDuration::from_secs(1);
    desk.tick_after(3 * 60);
    assert_eq!(answers(&desk, &id), ["q1"]);
    desk.tick_after(1);
    assert_eq!(answers(&desk, &id), ["q1", "q2"]);
}

#[test]
fn an_answer_that_was_lost_is_sent_again_after_a_quarter_of_an_hour() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    let id = desk.becomes(SessionState::InProgress);
    let now = desk.now;
    // What somebody said before is not the answer that was lost.
    let text = "Be quick.".to_owned();
    desk.say(&id, now, ActivityKind::UserMessaged(text));
    desk.minutes(5);
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.lost = vec!["send_message"];
    desk.tick();
    desk.lost.clear();
    desk.tick_after(15 * 60 - 1);
    let waits = (WAITING, Reason::SessionAsked, Some(1));
    assert_eq!(desk.says("default"), waits);
    assert_eq!(desk.sending(), 0);
    desk.tick_after(1);
    assert_eq!(answers(&desk, &id), ["q1"]);
    assert_eq!(desk.turn("default").repeats, 1);
}

/// As two ledgers that were put together may say.
#[test]
fn an_answer_that_was_not_counted_begins_with_the_first() {
    let (mut desk, id) = asks();
    let mut state = desk.state().clone();
    let turn = state.tracks.get_mut("default").unwrap().turns.get_mut("");
    turn.unwrap().nudged_at = Some(desk.now);
    desk.set_state(state);
    desk.tick();
    assert_eq!(answers(&desk, &id), ["q1"]);
}

#[test]
fn an_answer_that_never_arrives_is_sent_seven_times_and_then_a_person_is_called() {
    let (mut desk, _) = asks();
    desk.lost = vec!["send_message"];
    for count in 1..=7 {
        desk.tick();
        assert_eq!(desk.sending(), 1, "the {count}. time");
        desk.minutes(15);
    }
    desk.tick();
    assert_eq!(desk.sending(), 0);
    let line = desk.line("default");
    assert_eq!(line.reason, Reason::PersonAnswer);
    assert_eq!(
        line.detail,
        "it asked something, and the standard answer does not arrive"
    );
}

#[test]
fn a_persons_answer_has_a_quarter_of_an_hour_too() {
    let (mut desk, id) = asks();
    desk.seconds(1);
    let now = desk.now;
    let text = "Take the first.".to_owned();
    desk.say(&id, now, ActivityKind::UserMessaged(text));
    for (seconds, left) in [(0, 60), (14 * 60 + 59, 1)] {
        desk.tick_after(seconds);
        let waits = (WAITING, Reason::SessionAsked, Some(left));
        assert_eq!(desk.says("default"), waits);
        assert_eq!(desk.line("default").detail, "a person has answered it");
        assert_eq!(desk.sending(), 0);
    }
    desk.tick_after(1);
    assert_eq!(desk.sending(), 1);
}

#[test]
fn what_a_person_said_before_the_question_does_not_answer_it() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    let id = desk.becomes(SessionState::InProgress);
    let now = desk.now;
    desk.say(&id, now, ActivityKind::UserMessaged("Be quick.".to_owned()));
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.tick();
    assert_eq!(desk.sending(), 1);
}

#[test]
fn a_plan_is_approved_again_when_it_was_made_again() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    let id = desk.becomes(SessionState::AwaitingPlanApproval);
    let approves = [Effect::ApprovePlan { session: id }];
    desk.tick();
    assert_eq!(desk.effects, approves);
    // Approved in the same second; Jules' word for its state lags behind.
    desk.tick();
    assert_eq!(desk.effects, []);
    assert_eq!(desk.says("default").1, Reason::SessionRunning);
    desk.seconds(1);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    assert_eq!(desk.effects, approves);
}

#[test]
fn a_plan_that_the_log_does_not_show_yet_is_approved() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    let id = desk.becomes(SessionState::AwaitingPlanApproval);
    desk.activities.remove(&id);
    desk.tick();
    assert_eq!(desk.effects, [Effect::ApprovePlan { session: id }]);
}

#[test]
fn a_plan_that_phileas_may_not_approve_waits_for_a_person_in_jules() {
    for (word, said) in [
        ("writers", "a person with write access"),
        ("never", "approval in Jules itself"),
    ] {
        let plan = format!("cycle = [\"a\"]\n[defaults]\nplan_approval = \"{word}\"\n");
        let mut desk = Desk::new(&plan, &["a"]);
        desk.tick();
        let create = desk.asked_for();
        assert!(create[0].require_plan_approval);
        desk.minutes(5);
        desk.becomes(SessionState::AwaitingPlanApproval);
        desk.tick();
        let line = desk.line("default");
        assert_eq!(line.reason, Reason::PlanApproval);
        assert!(line.detail.contains(said), "{}", line.detail);
        assert_eq!(desk.notices.len(), 1);
    }
}
