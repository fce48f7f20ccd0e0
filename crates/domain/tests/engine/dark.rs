//! Turns of which nobody knows whether they have a session, and sessions of which nobody came to say what they are.

use phileas_domain::engine::{Ask, Effect, Reason, Session, SessionState, Verdict};
use phileas_domain::model::SessionId;
use phileas_domain::state::Outcome;

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\"]\n";
const TWO: &str = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nabandon_after = \"72h\"\n";

fn archives(desk: &Desk) -> Vec<&SessionId> {
    let archived = desk.effects.iter().filter_map(|effect| match effect {
        Effect::ArchiveSession { session } => Some(session),
        _ => None,
    });
    archived.collect()
}

/// A session that bears a marker of ours.
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
    let mut desk = Desk::new(ONE, &["a"]);
    desk.answering = Answering::Dies;
    desk.tick();
    desk.tick_after(119);
    let other = (Verdict::Waiting, Reason::OtherHolder, Some(1));
    assert_eq!(desk.says("default"), other);
    assert_eq!(desk.line("default").detail, "test:1 is about to start it");
    desk.tick_after(1);
    let held = (Verdict::Held, Reason::Ambiguous, Some(13 * 60));
    assert_eq!(desk.says("default"), held);
    desk.tick_after(13 * 60 - 1);
    let held = (Verdict::Held, Reason::Ambiguous, Some(60));
    assert_eq!(desk.says("default"), held);
    assert_eq!(desk.turn("default").attempt, 1);
    desk.tick_after(1);
    assert_eq!(desk.turn("default").attempt, 2);
    assert_eq!(desk.turn("default").listed_empty_at, Some(desk.now));
}

#[test]
fn the_process_that_announced_a_turn_does_not_wait_for_itself() {
    let mut desk = Desk::new(ONE, &["a"]);
    desk.answering = Answering::Dies;
    desk.tick();
    // It is run again under the same name, as GitHub does.
    desk.run -= 1;
    desk.tick();
    assert_eq!(desk.says("default").1, Reason::Ambiguous);
}

#[test]
fn a_session_of_another_turn_is_not_taken_for_a_look_alike() {
    let mut desk = Desk::new(TWO, &["a", "b"]);
    desk.answering = Answering::LostBefore;
    desk.ask = Ask::Track("one".into());
    desk.tick();
    desk.answering = Answering::Session;
    desk.ask = Ask::Due;
    desk.tick();
    let gone = "phileas-turn: 0123456789ab.1 repository=42 track=request:7 seq=1 slot= persona=a";
    let other = bearing(&desk.sessions[0], "77", gone);
    desk.sessions.push(other);
    desk.minutes(16);
    desk.tick();
    assert_eq!(desk.turn("one").attempt, 2);
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
}

#[test]
fn a_second_session_is_archived_also_while_another_turn_is_in_the_dark() {
    let mut desk = Desk::new(TWO, &["a", "b"]);
    desk.ask = Ask::Track("one".into());
    desk.tick();
    desk.ask = Ask::Due;
    desk.answering = Answering::LostBefore;
    desk.tick();
    assert_eq!(desk.turn("two").session_id, None);
    let mut double = desk.sessions[0].clone();
    double.id = "2000".into();
    desk.sessions.push(double);
    desk.minutes(1);
    desk.tick();
    assert_eq!(archives(&desk), [&SessionId::from("2000")]);
    let entry = &desk.state().history[&0];
    assert_eq!(entry.duplicates, [SessionId::from("2000")]);
}

#[test]
fn a_session_that_was_given_up_is_archived_for_a_day_and_nothing_else_is() {
    let mut desk = Desk::new(TWO, &["a", "b"]);
    desk.tick();
    for session in &mut desk.sessions {
        session.state = SessionState::InProgress;
    }
    desk.lost = vec!["archive_session"];
    desk.minutes(5);
    desk.cancel_first();
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::Cancelled), None]);
    let given_up = desk.sessions[0].id.clone();
    desk.tick_after(24 * 3600 - 1);
    assert_eq!(archives(&desk), [&given_up], "the other one is at work");
    let untouched = |desk: &mut Desk| {
        desk.tick();
        assert_eq!(desk.effects, []);
    };
    desk.sessions[0].archived = true;
    untouched(&mut desk);
    desk.sessions[0].archived = false;
    desk.sessions[0].state = SessionState::Completed;
    untouched(&mut desk);
    desk.sessions[0].state = SessionState::InProgress;
    desk.seconds(1);
    untouched(&mut desk);
}

/// Jules may go on calling a session live whose pull request is there; its work is not to be stopped.
#[test]
fn a_session_whose_turn_ended_well_is_not_archived() {
    let mut desk = Desk::new(TWO, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull_of(0);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
    for session in &mut desk.sessions {
        session.state = SessionState::InProgress;
    }
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.effects, []);
}

#[test]
fn a_session_is_not_called_gone_before_a_list_of_a_quarter_of_an_hour_later() {
    let mut desk = Desk::new(ONE, &["a"]);
    desk.tick();
    let created = desk.sessions.remove(0);
    desk.tick_after(15 * 60 - 1);
    assert_eq!(
        desk.line("default").detail,
        "the session is not in Jules' listing yet"
    );
    assert_eq!(desk.outcomes(), [None]);
    desk.tick_after(1);
    assert_eq!(desk.outcomes(), [Some(Outcome::Cancelled)]);
    assert_eq!(desk.notes(), ["the session is gone from Jules"]);
    assert!(desk.effects.is_empty(), "there is no {}", created.id);
}
