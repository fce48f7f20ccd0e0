//! A session that bears a turn's marker and is not the announced one: a person decides, and what they decide happens.

use phileas_domain::engine::{Effect, Reason, SessionState, go_on};
use phileas_domain::state::Outcome;

use crate::desk::{Answering, Desk};

/// The answer to the create was lost, and the session that is found has another prompt.
fn held() -> Desk {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.answering = Answering::Lost;
    desk.tick();
    let session = desk.sessions.last_mut().unwrap();
    let prompt = session.prompt.take().unwrap();
    session.prompt = Some(format!("Be kind.\n{prompt}"));
    session.state = SessionState::InProgress;
    desk.answering = Answering::Session;
    desk.minutes(20);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::Ambiguous]);
    assert_eq!((desk.sessions.len(), desk.notices.len()), (1, 1));
    desk
}

#[test]
fn cancelling_archives_it_and_ends_the_turn() {
    let mut desk = held();
    desk.cancel_first();
    desk.lost = vec!["archive_session"];
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Cancelled));
    assert_eq!(desk.personas_run(), ["a", "b"], "the track goes on");
    desk.lost.clear();
    desk.minutes(1);
    desk.tick();
    assert!(
        desk.sessions[0].archived,
        "also when nobody came to do it at first"
    );
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
}

#[test]
fn letting_the_turn_go_on_takes_it_for_its_own() {
    // Also after two days, when nothing else would look back as far.
    for days in [0, 2] {
        let mut desk = held();
        desk.hours(24 * days);
        desk.becomes(SessionState::InProgress);
        let mut state = desk.state().clone();
        let track = state.tracks.get_mut("default").unwrap();
        go_on(track.turns.get_mut("").unwrap());
        desk.set_state(state);
        desk.minutes(1);
        desk.tick();
        assert_eq!(desk.reasons("default"), [Reason::FoundByMarker]);
        desk.minutes(1);
        desk.tick();
        assert_eq!(desk.sessions.len(), 1, "nothing is started twice");
        assert!(desk.notices.is_empty(), "{:?}", desk.notices);
        desk.opens_pull();
        desk.tick();
        assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
    }
}

#[test]
fn a_person_is_told_both_ways_out() {
    let mut desk = held();
    desk.notices.clear();
    desk.hours(7);
    desk.tick();
    let turn = desk.state().tracks["default"].turns[""].turn.clone();
    let said = desk.effects.iter().find_map(|effect| match effect {
        Effect::OpenNotice { body, .. } => Some(body.clone()),
        _ => None,
    });
    let said = said.unwrap();
    for word in ["retry", "cancel"] {
        assert!(
            said.contains(&format!("phileas session {word} {turn}")),
            "{said}"
        );
    }
}
