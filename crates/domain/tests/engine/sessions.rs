//! Sessions: questions, silence, endings without a result.

use phileas_domain::engine::{ActivityKind, Effect, PullState, Reason, SessionState};
use phileas_domain::state::Outcome;

use crate::desk::Desk;

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

fn messages(desk: &Desk) -> usize {
    desk.activities
        .values()
        .flatten()
        .filter(|activity| matches!(activity.kind, ActivityKind::UserMessaged(_)))
        .count()
}

#[test]
fn a_question_gets_two_answers_and_then_a_person() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    for expected in 1..=2 {
        desk.becomes(SessionState::AwaitingUserFeedback);
        // What it says after an answer is a question only if its state still says so when it lags no more.
        desk.minutes(3);
        desk.tick();
        assert_eq!(messages(&desk), expected);
        // The state lags behind the answer; nothing is said twice.
        desk.minutes(2);
        desk.tick();
        assert_eq!(messages(&desk), expected);
        desk.becomes(SessionState::InProgress);
        desk.minutes(3);
        desk.tick();
    }
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.minutes(3);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::PersonAnswer]);
    assert_eq!((messages(&desk), desk.notices.len()), (2, 1));
    for _ in 0..20 {
        desk.hours(5);
        desk.tick();
    }
    assert_eq!(
        (messages(&desk), desk.notices.len()),
        (2, 1),
        "waiting for a person is never stuck"
    );
    desk.becomes(SessionState::InProgress);
    desk.tick();
    desk.tick();
    assert_eq!(
        desk.notices.len(),
        0,
        "once a person answered, the issue is closed"
    );
}

#[test]
fn an_answer_that_was_committed_and_never_sent_is_sent_once() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let id = desk.becomes(SessionState::AwaitingUserFeedback);
    desk.answering = crate::desk::Answering::Dies;
    desk.tick();
    assert_eq!(messages(&desk), 0);
    desk.answering = crate::desk::Answering::Session;
    desk.minutes(5);
    desk.tick();
    assert_eq!(messages(&desk), 0, "the sender may still be at it");
    desk.minutes(15);
    desk.tick();
    assert_eq!(messages(&desk), 1);
    let text = desk.activities[&id]
        .iter()
        .find_map(|activity| match &activity.kind {
            ActivityKind::UserMessaged(text) => Some(text.clone()),
            _ => None,
        });
    assert!(text.unwrap().ends_with("/q1"));
}

#[test]
fn an_ending_without_a_result_is_reminded_of_once() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(10);
    desk.becomes(SessionState::Completed);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::SessionReminded]);
    desk.minutes(2);
    desk.tick();
    assert_eq!(messages(&desk), 1);
    desk.minutes(20);
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::NoOutput), None]);
    assert_eq!(desk.personas_run(), ["a", "b"]);
}

#[test]
fn a_plan_is_approved_or_waits_for_people() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    let id = desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    assert!(desk.effects.contains(&Effect::ApprovePlan {
        session: id.clone()
    }));
    let now = desk.now;
    desk.minutes(1);
    desk.say(
        &id,
        now + jiff::SignedDuration::from_secs(1),
        ActivityKind::PlanApproved,
    );
    desk.tick();
    assert_eq!(
        desk.effects,
        [],
        "the state lags behind; the activity is the proof"
    );

    let mut desk = Desk::new(
        &format!("{ONE}[defaults]\nplan_approval = \"writers\"\n"),
        &["a", "b"],
    );
    desk.tick();
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::PlanApproval]);
    assert_eq!(desk.notices.len(), 1);
}

#[test]
fn silence_is_measured_not_age() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    let id = desk.becomes(SessionState::InProgress);
    for _ in 0..30 {
        desk.minutes(19);
        let now = desk.now;
        desk.say(&id, now, ActivityKind::Progress);
        assert_eq!(desk.tick().reasons("default"), [Reason::SessionRunning]);
    }
    desk.minutes(25);
    assert_eq!(desk.tick().reasons("default"), [Reason::SessionStuck]);
    desk.hours(6);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Stuck));
    assert!(
        desk.effects
            .contains(&Effect::ArchiveSession { session: id })
    );
}

#[test]
fn a_pull_request_counts_more_than_a_state_that_never_changes() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    let session = desk.sessions.last_mut().unwrap();
    session.state = SessionState::InProgress;
    session.pulls.clear();
    desk.tick();
    assert_eq!(
        desk.outcomes()[0],
        Some(Outcome::PrOpen),
        "found by the session's id in its branch"
    );
}

#[test]
fn a_branch_in_a_fork_proves_nothing() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let number = desk.opens_pull();
    let pull = desk.pulls.get_mut(&number).unwrap();
    pull.same_repository = false;
    let session = desk.sessions.last_mut().unwrap();
    session.state = SessionState::InProgress;
    session.pulls.clear();
    session.has_changes = false;
    assert_eq!(desk.tick().reasons("default"), [Reason::SessionRunning]);
}

#[test]
fn an_unknown_state_is_waited_for_and_named() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.becomes(SessionState::Unknown("DREAMING".to_owned()));
    desk.tick();
    assert!(
        desk.lines
            .iter()
            .any(|line| line.detail.contains("DREAMING"))
    );
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn a_rejected_pull_request_that_is_merged_after_all_counts_as_merged() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(20);
    let number = desk.opens_pull();
    desk.tick();
    desk.close(number);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Rejected));
    desk.pulls.get_mut(&number).unwrap().state = PullState::Merged;
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn a_session_that_a_person_deleted_ends_its_turn() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.hours(1);
    desk.sessions.clear();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Cancelled));
}

#[test]
fn a_persons_answer_keeps_the_standard_one_back() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let id = desk.becomes(SessionState::AwaitingUserFeedback);
    desk.minutes(1);
    let now = desk.now;
    let text = "Take the first.\n\nphileas-message: 0123456789ab.1/person-5".to_owned();
    desk.say(&id, now, ActivityKind::UserMessaged(text));
    desk.tick();
    assert_eq!(messages(&desk), 1, "the state may lag behind the answer");
    assert_eq!(desk.reasons("default"), [Reason::SessionAsked]);
    desk.minutes(16);
    desk.tick();
    assert_eq!(messages(&desk), 2, "the answer did not settle it");
}

#[test]
fn a_reminder_that_was_committed_and_never_sent_is_sent_once() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(10);
    desk.becomes(SessionState::Completed);
    desk.answering = crate::desk::Answering::Dies;
    desk.tick();
    desk.answering = crate::desk::Answering::Session;
    assert_eq!(messages(&desk), 0);
    desk.minutes(16);
    desk.tick();
    assert_eq!(messages(&desk), 1);
    desk.minutes(16);
    desk.tick();
    assert_eq!(messages(&desk), 1);
    assert_eq!(desk.outcomes()[0], Some(Outcome::NoOutput));
}
