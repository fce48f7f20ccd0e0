//! Tests how the end of a session is assessed, and how long a pull request or an answer is waited for.

use phileas_domain::engine::{ActivityKind, Reason, SessionState, Verdict, end_cancelled};
use phileas_domain::model::SessionId;
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

const WAITING: Verdict = Verdict::Waiting;

/// A session of the only persona that has just ended and was not read yet.
fn ended(settings: &str, changes: bool) -> (Scenario, SessionId) {
    let plan = format!("cycle = [\"a\"]\n[defaults]\nskip_unchanged = true\n{settings}");
    let mut scenario = Scenario::new(&plan, &["a"]);
    scenario.tick();
    scenario.minutes(10);
    let id = scenario.becomes(SessionState::Completed);
    scenario.sessions[0].has_changes = changes;
    (scenario, id)
}

fn first(scenario: &Scenario) -> (Option<Outcome>, Option<&str>) {
    let entry = &scenario.state().history[&0];
    (entry.outcome.clone(), entry.note.as_deref())
}

#[test]
fn a_pull_request_is_waited_for_ten_minutes_before_the_reminder() {
    for in_the_log_alone in [false, true] {
        let (mut scenario, id) = ended("", !in_the_log_alone);
        let log = scenario.activities.get_mut(&id).unwrap();
        log.last_mut().unwrap().has_changes = in_the_log_alone;
        scenario.tick();
        assert_eq!(
            scenario.line_facts("default"),
            (WAITING, Reason::SessionRunning, Some(600))
        );
        scenario.tick_after(599);
        assert_eq!(
            scenario.line_facts("default"),
            (WAITING, Reason::SessionRunning, Some(1))
        );
        assert!(scenario.messages_to(&id).is_empty());
        scenario.tick_after(1);
        assert_eq!(
            scenario.line_facts("default"),
            (WAITING, Reason::SessionReminded, Some(60))
        );
        assert_eq!(scenario.messages_to(&id).len(), 1);
    }
}

#[test]
fn a_reminder_has_a_quarter_of_an_hour() {
    for (changes, outcome, note) in [
        (
            false,
            Outcome::NoOutput,
            "it ended without changes, also after a reminder",
        ),
        (true, Outcome::Completed, "changes without a pull request"),
    ] {
        let (mut scenario, id) = ended("", changes);
        scenario.tick_after(600);
        assert_eq!(scenario.messages_to(&id).len(), 1);
        scenario.tick_after(899);
        assert_eq!(
            scenario.line_facts("default"),
            (WAITING, Reason::SessionReminded, Some(1))
        );
        scenario.tick_after(1);
        assert_eq!(first(&scenario), (Some(outcome), Some(note)));
        assert_eq!(scenario.state().history[&0].finished_at, Some(scenario.now));
        assert_eq!(scenario.messages_to(&id).len(), 1, "it is said once");
    }
}

#[test]
fn who_was_reminded_and_ends_with_changes_has_ten_minutes_for_the_pull_request() {
    let (mut scenario, id) = ended("", false);
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::Completed);
    scenario.sessions[0].has_changes = true;
    scenario.tick();
    assert_eq!(
        scenario.line_facts("default"),
        (WAITING, Reason::SessionRunning, Some(600))
    );
    scenario.tick_after(599);
    assert_eq!(scenario.outcomes(), [None]);
    scenario.tick_after(1);
    let note = "changes without a pull request";
    assert_eq!(first(&scenario), (Some(Outcome::Completed), Some(note)));
    assert_eq!(scenario.messages_to(&id).len(), 1);
}

#[test]
fn who_was_reminded_and_ends_again_with_nothing_has_nothing_to_show() {
    let (mut scenario, _) = ended("", false);
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::Completed);
    scenario.tick();
    let note = "it ended without changes, also after a reminder";
    assert_eq!(first(&scenario), (Some(Outcome::NoOutput), Some(note)));
}

#[test]
fn a_reminder_that_never_arrives_is_sent_seven_times() {
    let (mut scenario, _) = ended("", false);
    scenario.lost = vec!["send_message"];
    let mut sent = 0;
    for _ in 0..12 {
        scenario.tick();
        sent += scenario.sending();
        scenario.minutes(15);
    }
    assert_eq!(sent, 7);
    let note = "it ended without changes, and the reminder did not arrive";
    assert_eq!(first(&scenario), (Some(Outcome::NoOutput), Some(note)));
}

#[test]
fn changes_that_shall_stay_in_the_session_end_the_turn_at_once() {
    let none = "automation = \"none\"\n";
    let (mut scenario, id) = ended(none, true);
    scenario.tick();
    let note = "changes kept in the session, as asked";
    assert_eq!(first(&scenario), (Some(Outcome::Completed), Some(note)));
    assert!(scenario.messages_to(&id).is_empty());
    let (mut scenario, id) = ended(none, false);
    scenario.tick();
    assert_eq!(
        scenario.messages_to(&id).len(),
        1,
        "without changes it is still reminded"
    );
}

#[test]
fn where_no_messages_are_wanted_none_is_sent_to_a_session_that_ended() {
    for (changes, seconds, outcome, note) in [
        (false, 0, Outcome::NoOutput, "it ended without changes"),
        (
            true,
            600,
            Outcome::Completed,
            "changes without a pull request",
        ),
    ] {
        let (mut scenario, id) = ended("max_nudges = 0\n", changes);
        scenario.tick();
        scenario.tick_after(seconds);
        assert_eq!(first(&scenario), (Some(outcome), Some(note)));
        assert!(scenario.messages_to(&id).is_empty());
    }
}

#[test]
fn a_session_whose_activities_lack_its_end_ended_when_it_last_changed() {
    let (mut scenario, id) = ended("", true);
    scenario.activities.remove(&id);
    scenario.tick_after(599);
    assert_eq!(
        scenario.line_facts("default"),
        (WAITING, Reason::SessionRunning, Some(1))
    );
    scenario.tick_after(1);
    assert_eq!(scenario.line_facts("default").1, Reason::SessionReminded);
}

#[test]
fn a_failure_is_noted_with_jules_reason() {
    let long = "x".repeat(300);
    let cut = "x".repeat(200);
    for (words, note) in [
        (&["it broke"][..], "it broke"),
        (&["first", "second"], "second"),
        (&["the disk is full", ""], "the disk is full"),
        (&[""], "Jules gives no reason"),
        (&[], "Jules gives no reason"),
        (&["  two\nlines\u{7} "], "two lines"),
        (&[long.as_str()], cut.as_str()),
    ] {
        let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
        scenario.tick();
        scenario.minutes(5);
        let id = scenario.becomes(SessionState::Failed);
        scenario.activities.remove(&id);
        for word in words {
            let now = scenario.now;
            scenario.add_activity(&id, now, ActivityKind::Failed((*word).to_owned()));
        }
        scenario.tick();
        assert_eq!(first(&scenario), (Some(Outcome::Failed), Some(note)));
    }
}

#[test]
fn a_session_that_a_person_stopped_ends_its_turn_and_no_other() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.tick();
    let session = scenario.sessions[0].id.clone();
    let mut state = scenario.state().clone();
    assert_eq!(
        end_cancelled(&mut state, &"elsewhere".into(), scenario.now),
        None
    );
    let (_, _, turn) = state.live_turn(session.as_str()).unwrap();
    let named: SessionId = turn.turn.as_str().into();
    assert_eq!(
        end_cancelled(&mut state, &named, scenario.now),
        None,
        "a turn is not a session"
    );
    assert_eq!(
        state,
        *scenario.state(),
        "nothing is written for a session of others"
    );

    let (track, turn) = end_cancelled(&mut state, &session, scenario.now).unwrap();
    assert_eq!(turn.session_id, Some(session.clone()));
    assert!(state.tracks[&track].turns.is_empty());
    let entry = state
        .history
        .values()
        .find(|entry| entry.session_id.as_ref() == Some(&session));
    let entry = entry.unwrap();
    assert_eq!(entry.outcome, Some(Outcome::Cancelled));
    assert_eq!(entry.finished_at, Some(scenario.now));
    assert_eq!(
        end_cancelled(&mut state, &session, scenario.now),
        None,
        "it has ended"
    );
}
