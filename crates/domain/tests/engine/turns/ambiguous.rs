//! Tests turns that may have a session, and sessions whose origin is unknown.

use phileas_domain::engine::{Effect, Reason, RunRequest, Session, SessionState, Verdict};
use phileas_domain::model::SessionId;
use phileas_domain::state::Outcome;

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\"]\n";
const TWO: &str = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nabandon_after = \"72h\"\n";

fn archives(scenario: &Scenario) -> Vec<&SessionId> {
    let archived = scenario.effects.iter().filter_map(|effect| match effect {
        Effect::ArchiveSession { session } => Some(session),
        _ => None,
    });
    archived.collect()
}

/// A session with a marker of phileas.
fn bearing(like: &Session, id: &str, line: &str) -> Session {
    Session {
        id: id.into(),
        title: "work".to_owned(),
        prompt: Some(format!("Work.\n\n{line}")),
        ..like.clone()
    }
}

#[test]
fn for_two_minutes_an_announced_turn_is_left_to_the_process_that_announced_it() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.answering = Answering::Dies;
    scenario.tick();
    scenario.tick_after(119);
    let other = (Verdict::Waiting, Reason::OtherHolder, Some(1));
    assert_eq!(scenario.line_facts("default"), other);
    assert_eq!(scenario.line("default").detail, "test:1 is starting it");
    scenario.tick_after(1);
    let held = (Verdict::Held, Reason::Ambiguous, Some(13 * 60));
    assert_eq!(scenario.line_facts("default"), held);
    scenario.tick_after(13 * 60 - 1);
    let held = (Verdict::Held, Reason::Ambiguous, Some(60));
    assert_eq!(scenario.line_facts("default"), held);
    assert_eq!(scenario.turn("default").attempt, 1);
    scenario.tick_after(1);
    assert_eq!(scenario.turn("default").attempt, 2);
    assert_eq!(scenario.turn("default").listed_empty_at, Some(scenario.now));
}

#[test]
fn the_process_that_announced_a_turn_does_not_wait_for_itself() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.answering = Answering::Dies;
    scenario.tick();
    // It is run again under the same name, as GitHub does.
    scenario.run -= 1;
    scenario.tick();
    assert_eq!(scenario.line_facts("default").1, Reason::Ambiguous);
}

#[test]
fn a_session_of_another_turn_is_not_taken_for_a_look_alike() {
    let mut scenario = Scenario::new(TWO, &["a", "b"]);
    scenario.answering = Answering::LostBefore;
    scenario.ask = RunRequest::Track("one".into());
    scenario.tick();
    scenario.answering = Answering::Session;
    scenario.ask = RunRequest::Due;
    scenario.tick();
    let gone = "phileas-turn: 0123456789ab.1 repository=42 track=request:7 seq=1 slot= persona=a";
    let other = bearing(&scenario.sessions[0], "77", gone);
    scenario.sessions.push(other);
    scenario.minutes(16);
    scenario.tick();
    assert_eq!(scenario.turn("one").attempt, 2);
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
}

#[test]
fn a_second_session_is_archived_also_while_another_turn_is_in_the_dark() {
    let mut scenario = Scenario::new(TWO, &["a", "b"]);
    scenario.ask = RunRequest::Track("one".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    assert_eq!(scenario.turn("two").session_id, None);
    let mut double = scenario.sessions[0].clone();
    double.id = "2000".into();
    scenario.sessions.push(double);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(archives(&scenario), [&SessionId::from("2000")]);
    let entry = &scenario.state().history[&0];
    assert_eq!(entry.duplicates, [SessionId::from("2000")]);
}

#[test]
fn a_session_that_was_given_up_is_archived_for_a_day_and_nothing_else_is() {
    let mut scenario = Scenario::new(TWO, &["a", "b"]);
    scenario.tick();
    for session in &mut scenario.sessions {
        session.state = SessionState::InProgress;
    }
    scenario.lost = vec!["archive_session"];
    scenario.minutes(5);
    scenario.cancel_first();
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::Cancelled), None]);
    let given_up = scenario.sessions[0].id.clone();
    scenario.tick_after(24 * 3600 - 1);
    assert_eq!(archives(&scenario), [&given_up], "the other one is at work");
    let untouched = |scenario: &mut Scenario| {
        scenario.tick();
        assert_eq!(scenario.effects, []);
    };
    scenario.sessions[0].archived = true;
    untouched(&mut scenario);
    scenario.sessions[0].archived = false;
    scenario.sessions[0].state = SessionState::Completed;
    untouched(&mut scenario);
    scenario.sessions[0].state = SessionState::InProgress;
    scenario.seconds(1);
    untouched(&mut scenario);
}

/// Jules may list a session as live after its pull request; its work is not to be stopped.
#[test]
fn a_session_whose_turn_ended_well_is_not_archived() {
    let mut scenario = Scenario::new(TWO, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull_of(0);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
    for session in &mut scenario.sessions {
        session.state = SessionState::InProgress;
    }
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.effects, []);
}

#[test]
fn a_session_does_not_count_as_gone_before_a_listing_of_a_quarter_of_an_hour_later() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.tick();
    let created = scenario.sessions.remove(0);
    scenario.tick_after(15 * 60 - 1);
    assert_eq!(
        scenario.line("default").detail,
        "the session is not in Jules' listing yet"
    );
    assert_eq!(scenario.outcomes(), [None]);
    scenario.tick_after(1);
    assert_eq!(scenario.outcomes(), [Some(Outcome::Cancelled)]);
    assert_eq!(scenario.notes(), ["the session is gone from Jules"]);
    assert!(scenario.effects.is_empty(), "there is no {}", created.id);
}
