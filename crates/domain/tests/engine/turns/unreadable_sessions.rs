//! Tests a listed session that Jules does not show by its id, while a turn's session is searched.

use phileas_domain::engine::{Outage, Reason, SessionState, resume_turn};
use phileas_domain::model::SessionId;
use phileas_domain::state::Outcome;

use crate::support::scenario::{Answering, Scenario};

/// The session was never created, and a person started another one from the same repository.
fn sought() -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.prompts_hidden = true;
    scenario.answering = Answering::Lost;
    scenario.tick();
    let foreign = scenario.sessions.last_mut().unwrap();
    foreign.id = SessionId::from("777");
    foreign.title = "Fix the roof".to_owned();
    foreign.prompt = Some("Fix the roof.".to_owned());
    foreign.state = SessionState::InProgress;
    let outage = Outage {
        detail: "500".to_owned(),
        retry_at: None,
        credential: false,
    };
    scenario.unread.insert("777".into(), outage);
    scenario.answering = Answering::Session;
    scenario
}

fn called(scenario: &mut Scenario) {
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::Ambiguous]);
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (1, 1));
}

#[test]
fn after_an_hour_a_notice_is_opened() {
    let mut scenario = sought();
    scenario.minutes(74);
    scenario.tick();
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (1, 0));
    let said = &scenario.line("default").detail;
    assert!(said.contains("session 777 may be its own, and cannot be read: 500"));
    scenario.minutes(1);
    scenario.tick();
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (1, 1));
    let turn = scenario.turn("default").turn.clone();
    let said = &scenario.line("default").detail;
    for word in ["retry", "cancel"] {
        let way = format!("`phileas session {word} {turn}`");
        assert!(said.contains(&way), "{said}");
    }
}

#[test]
fn what_can_be_read_again_settles_it() {
    let mut scenario = sought();
    called(&mut scenario);
    scenario.unread.clear();
    scenario.minutes(1);
    scenario.tick();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        scenario.sessions.len(),
        2,
        "the foreign session is none of ours"
    );
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
}

#[test]
fn a_person_may_go_on_without_it() {
    let mut scenario = sought();
    called(&mut scenario);
    let mut state = scenario.state().clone();
    let track = state.tracks.get_mut("default").unwrap();
    resume_turn(track.turns.get_mut("").unwrap());
    scenario.set_state(state);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    assert!(scenario.sessions[1].title.ends_with(".2]"));
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
}

#[test]
fn a_person_may_end_the_turn() {
    let mut scenario = sought();
    called(&mut scenario);
    scenario.cancel_first();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::Cancelled), None]);
    assert!(
        scenario.notes()[0].starts_with("whether session 777 is its own is not known"),
        "{:?}",
        scenario.notes()
    );
    assert_eq!(scenario.personas_run(), ["a", "b"], "the track goes on");
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
}

/// It was the turn's own after all, and is seen a while after the turn was ended.
#[test]
fn what_shows_itself_after_the_end_is_archived() {
    let mut scenario = sought();
    let intent = scenario.turn("default").clone();
    called(&mut scenario);
    scenario.cancel_first();
    scenario.minutes(1);
    scenario.tick();
    let own = &mut scenario.sessions[0];
    own.title = format!("a: default [phileas:{}.{}]", intent.turn, intent.attempt);
    scenario.unread.clear();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.state().history[&0].duplicates, ["777".into()]);
    assert!(scenario.sessions[0].archived);
}

#[test]
fn a_cancel_takes_effect_only_after_an_hour_of_attempts() {
    let mut scenario = sought();
    scenario.minutes(20);
    scenario.tick();
    scenario.cancel_first();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [None; 0]);
    scenario.hours(1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
}

/// The cause of the notice is settled; following the old notice does not affect the next attempt.
#[test]
fn the_next_attempt_is_nobodys_affair() {
    let mut scenario = sought();
    called(&mut scenario);
    scenario.unread.clear();
    scenario.answering = Answering::Dies;
    scenario.minutes(1);
    scenario.tick();
    scenario.minutes(1);
    scenario.tick();
    let turn = scenario.turn("default").clone();
    assert!(turn.intent.is_some() && turn.warned_at.is_none());
    let mut after = turn.clone();
    resume_turn(&mut after);
    assert_eq!(after.intent, turn.intent);
}

/// So many that asking for all would take longer than a tick may.
#[test]
fn not_all_of_many_are_read() {
    let mut scenario = sought();
    for n in 0..200 {
        let id = format!("9{n:03}");
        let mut foreign = scenario.sessions[0].clone();
        foreign.id = id.as_str().into();
        scenario.sessions.push(foreign);
        scenario
            .unread
            .insert(id.as_str().into(), scenario.unread["777"].clone());
    }
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(scenario.notices.len(), 1);
}
