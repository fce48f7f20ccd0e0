//! Tests sessions: questions, inactivity, endings without a result.

use phileas_domain::engine::{ActivityKind, Effect, PullState, Reason, SessionState};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

fn messages(scenario: &Scenario) -> usize {
    scenario
        .activities
        .values()
        .flatten()
        .filter(|activity| matches!(activity.kind, ActivityKind::UserMessaged(_)))
        .count()
}

#[test]
fn a_question_gets_two_answers_and_then_a_person() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    for expected in 1..=2 {
        scenario.becomes(SessionState::AwaitingUserFeedback);
        // A message after an answer is a question only if its state still says so when it no longer lags.
        scenario.minutes(3);
        scenario.tick();
        assert_eq!(messages(&scenario), expected);
        // The state lags behind the answer; nothing is sent twice.
        scenario.minutes(2);
        scenario.tick();
        assert_eq!(messages(&scenario), expected);
        scenario.becomes(SessionState::InProgress);
        scenario.minutes(3);
        scenario.tick();
    }
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.minutes(3);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::PersonAnswer]);
    assert_eq!((messages(&scenario), scenario.notices.len()), (2, 1));
    for _ in 0..20 {
        scenario.hours(5);
        scenario.tick();
    }
    assert_eq!(
        (messages(&scenario), scenario.notices.len()),
        (2, 1),
        "waiting for a person is never stuck"
    );
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    scenario.tick();
    assert_eq!(
        scenario.notices.len(),
        0,
        "once a person answered, the issue is closed"
    );
}

#[test]
fn an_answer_that_was_committed_and_never_sent_is_sent_once() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let id = scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.answering = crate::support::scenario::Answering::Dies;
    scenario.tick();
    assert_eq!(messages(&scenario), 0);
    scenario.answering = crate::support::scenario::Answering::Session;
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(messages(&scenario), 0, "the sender may still be at it");
    scenario.minutes(15);
    scenario.tick();
    assert_eq!(messages(&scenario), 1);
    let text = scenario.activities[&id]
        .iter()
        .find_map(|activity| match &activity.kind {
            ActivityKind::UserMessaged(text) => Some(text.clone()),
            _ => None,
        });
    assert!(text.unwrap().ends_with("/q1"));
}

#[test]
fn an_ending_without_a_result_is_reminded_of_once() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(10);
    scenario.becomes(SessionState::Completed);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::SessionReminded]);
    scenario.minutes(2);
    scenario.tick();
    assert_eq!(messages(&scenario), 1);
    scenario.minutes(20);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::NoOutput), None]);
    assert_eq!(scenario.personas_run(), ["a", "b"]);
}

#[test]
fn a_plan_is_approved_or_waits_for_people() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    let id = scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    assert!(scenario.effects.contains(&Effect::ApprovePlan {
        session: id.clone()
    }));
    let now = scenario.now;
    scenario.minutes(1);
    scenario.add_activity(
        &id,
        now + jiff::SignedDuration::from_secs(1),
        ActivityKind::PlanApproved,
    );
    scenario.tick();
    assert_eq!(
        scenario.effects,
        [],
        "the state lags behind; the activity is the proof"
    );

    let mut scenario = Scenario::new(
        &format!("{ONE}[defaults]\nplan_approval = \"writers\"\n"),
        &["a", "b"],
    );
    scenario.tick();
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::PlanApproval]);
    assert_eq!(scenario.notices.len(), 1);
}

#[test]
fn silence_is_measured_not_age() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    let id = scenario.becomes(SessionState::InProgress);
    for _ in 0..30 {
        scenario.minutes(19);
        let now = scenario.now;
        scenario.add_activity(
            &id,
            now,
            ActivityKind::Progress {
                title: String::new(),
            },
        );
        assert_eq!(scenario.tick().reasons("default"), [Reason::SessionRunning]);
    }
    scenario.minutes(25);
    assert_eq!(scenario.tick().reasons("default"), [Reason::SessionStuck]);
    scenario.hours(6);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Stuck));
    assert!(
        scenario
            .effects
            .contains(&Effect::ArchiveSession { session: id })
    );
}

#[test]
fn a_pull_request_counts_more_than_a_state_that_never_changes() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    let session = scenario.sessions.last_mut().unwrap();
    session.state = SessionState::InProgress;
    session.pulls.clear();
    scenario.tick();
    assert_eq!(
        scenario.outcomes()[0],
        Some(Outcome::PrOpen),
        "found by the session's id in its branch"
    );
}

#[test]
fn a_branch_in_a_fork_proves_nothing() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.same_repository = false;
    let session = scenario.sessions.last_mut().unwrap();
    session.state = SessionState::InProgress;
    session.pulls.clear();
    session.has_changes = false;
    assert_eq!(scenario.tick().reasons("default"), [Reason::SessionRunning]);
}

#[test]
fn an_unknown_state_is_waited_for_and_named() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.becomes(SessionState::Unknown("DREAMING".to_owned()));
    scenario.tick();
    assert!(
        scenario
            .lines
            .iter()
            .any(|line| line.detail.contains("DREAMING"))
    );
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn a_rejected_pull_request_that_is_merged_after_all_counts_as_merged() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(20);
    let number = scenario.opens_pull();
    scenario.tick();
    scenario.close(number);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Rejected));
    scenario.pulls.get_mut(&number).unwrap().state = PullState::Merged;
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn a_session_that_a_person_deleted_ends_its_turn() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.hours(1);
    scenario.sessions.clear();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
}

#[test]
fn a_persons_answer_keeps_the_standard_one_back() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let id = scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.minutes(1);
    let now = scenario.now;
    let text = "Take the first.\n\nphileas-message: 0123456789ab.1/person-5".to_owned();
    scenario.add_activity(&id, now, ActivityKind::UserMessaged(text));
    scenario.tick();
    assert_eq!(
        messages(&scenario),
        1,
        "the state may lag behind the answer"
    );
    assert_eq!(scenario.reasons("default"), [Reason::SessionAsked]);
    scenario.minutes(16);
    scenario.tick();
    assert_eq!(messages(&scenario), 2, "the answer did not settle it");
}

#[test]
fn a_reminder_that_was_committed_and_never_sent_is_sent_once() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(10);
    scenario.becomes(SessionState::Completed);
    scenario.answering = crate::support::scenario::Answering::Dies;
    scenario.tick();
    scenario.answering = crate::support::scenario::Answering::Session;
    assert_eq!(messages(&scenario), 0);
    scenario.minutes(16);
    scenario.tick();
    assert_eq!(messages(&scenario), 1);
    scenario.minutes(16);
    scenario.tick();
    assert_eq!(messages(&scenario), 1);
    assert_eq!(scenario.outcomes()[0], Some(Outcome::NoOutput));
}
