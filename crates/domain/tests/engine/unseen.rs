//! A session that a listing names and that Jules does not show by itself, while a turn's session is sought.

use phileas_domain::engine::{Outage, Reason, SessionState, go_on};
use phileas_domain::model::SessionId;
use phileas_domain::state::Outcome;

use crate::desk::{Answering, Desk};

/// Nobody came to create the session, and somebody has made another from the same repository meanwhile.
fn sought() -> Desk {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.prompts_hidden = true;
    desk.answering = Answering::Lost;
    desk.tick();
    let stranger = desk.sessions.last_mut().unwrap();
    stranger.id = SessionId::from("777");
    stranger.title = "Mend the roof".to_owned();
    stranger.prompt = Some("Mend the roof.".to_owned());
    stranger.state = SessionState::InProgress;
    let outage = Outage {
        detail: "500".to_owned(),
        retry_at: None,
        credential: false,
    };
    desk.unread.insert("777".into(), outage);
    desk.answering = Answering::Session;
    desk
}

fn called(desk: &mut Desk) {
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::Ambiguous]);
    assert_eq!((desk.sessions.len(), desk.notices.len()), (1, 1));
}

#[test]
fn after_an_hour_a_person_is_called() {
    let mut desk = sought();
    desk.minutes(74);
    desk.tick();
    assert_eq!((desk.sessions.len(), desk.notices.len()), (1, 0));
    let said = &desk.line("default").detail;
    assert!(said.contains("session 777 may be its own, and cannot be read: 500"));
    desk.minutes(1);
    desk.tick();
    assert_eq!((desk.sessions.len(), desk.notices.len()), (1, 1));
    let turn = desk.turn("default").turn.clone();
    let said = &desk.line("default").detail;
    for word in ["retry", "cancel"] {
        let way = format!("`phileas session {word} {turn}`");
        assert!(said.contains(&way), "{said}");
    }
}

#[test]
fn what_can_be_read_again_settles_it() {
    let mut desk = sought();
    called(&mut desk);
    desk.unread.clear();
    desk.minutes(1);
    desk.tick();
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2, "the stranger's is none of ours");
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
}

#[test]
fn a_person_may_go_on_without_it() {
    let mut desk = sought();
    called(&mut desk);
    let mut state = desk.state().clone();
    let track = state.tracks.get_mut("default").unwrap();
    go_on(track.turns.get_mut("").unwrap());
    desk.set_state(state);
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    assert!(desk.sessions[1].title.ends_with(".2]"));
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
}

#[test]
fn a_person_may_end_the_turn() {
    let mut desk = sought();
    called(&mut desk);
    desk.cancel_first();
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::Cancelled), None]);
    assert!(
        desk.notes()[0].starts_with("whether session 777 is its own nobody knows"),
        "{:?}",
        desk.notes()
    );
    assert_eq!(desk.personas_run(), ["a", "b"], "the track goes on");
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
}

/// It was the turn's own after all, and is seen a while after the turn was ended.
#[test]
fn what_shows_itself_after_the_end_is_archived() {
    let mut desk = sought();
    let intent = desk.turn("default").clone();
    called(&mut desk);
    desk.cancel_first();
    desk.minutes(1);
    desk.tick();
    let own = &mut desk.sessions[0];
    own.title = format!("a: default [phileas:{}.{}]", intent.turn, intent.attempt);
    desk.unread.clear();
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.state().history[&0].duplicates, ["777".into()]);
    assert!(desk.sessions[0].archived);
}

#[test]
fn who_cancels_is_not_heard_before_it_was_tried_for_an_hour() {
    let mut desk = sought();
    desk.minutes(20);
    desk.tick();
    desk.cancel_first();
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.outcomes(), [None; 0]);
    desk.hours(1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Cancelled));
}

/// What a person was called for is settled, and whoever follows the old issue takes nothing from the next attempt.
#[test]
fn the_next_attempt_is_nobodys_affair() {
    let mut desk = sought();
    called(&mut desk);
    desk.unread.clear();
    desk.answering = Answering::Dies;
    desk.minutes(1);
    desk.tick();
    desk.minutes(1);
    desk.tick();
    let turn = desk.turn("default").clone();
    assert!(turn.intent.is_some() && turn.warned_at.is_none());
    let mut after = turn.clone();
    go_on(&mut after);
    assert_eq!(after.intent, turn.intent);
}

/// So many that asking for all would take longer than a tick may.
#[test]
fn not_all_of_many_are_asked_for() {
    let mut desk = sought();
    for n in 0..200 {
        let id = format!("9{n:03}");
        let mut stranger = desk.sessions[0].clone();
        stranger.id = id.as_str().into();
        desk.sessions.push(stranger);
        desk.unread
            .insert(id.as_str().into(), desk.unread["777"].clone());
    }
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(desk.notices.len(), 1);
}
