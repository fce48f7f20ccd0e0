//! Tests a session with a turn's marker that does not match the intent: a person decides, and the decision is executed.

use phileas_domain::engine::{Effect, Reason, SessionState, resume_turn};
use phileas_domain::state::Outcome;

use crate::support::scenario::{Answering, Scenario};

/// The answer to the create was lost, and the session that is found has another prompt.
fn held() -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.answering = Answering::Lost;
    scenario.tick();
    let session = scenario.sessions.last_mut().unwrap();
    let prompt = session.prompt.take().unwrap();
    session.prompt = Some(format!("Be kind.\n{prompt}"));
    session.state = SessionState::InProgress;
    scenario.answering = Answering::Session;
    scenario.minutes(20);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::Ambiguous]);
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (1, 1));
    scenario
}

#[test]
fn cancelling_archives_it_and_ends_the_turn() {
    let mut scenario = held();
    scenario.cancel_first();
    scenario.lost = vec!["archive_session"];
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
    assert_eq!(scenario.personas_run(), ["a", "b"], "the track goes on");
    scenario.lost.clear();
    scenario.minutes(1);
    scenario.tick();
    assert!(
        scenario.sessions[0].archived,
        "also when no process did it at first"
    );
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
}

#[test]
fn letting_the_turn_go_on_takes_it_for_its_own() {
    // Also after two days, when no other listing reaches back as far.
    for days in [0, 2] {
        let mut scenario = held();
        scenario.hours(24 * days);
        scenario.becomes(SessionState::InProgress);
        let mut state = scenario.state().clone();
        let track = state.tracks.get_mut("default").unwrap();
        resume_turn(track.turns.get_mut("").unwrap());
        scenario.set_state(state);
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(scenario.reasons("default"), [Reason::FoundByMarker]);
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(scenario.sessions.len(), 1, "nothing is started twice");
        assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
        scenario.opens_pull();
        scenario.tick();
        assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
    }
}

#[test]
fn the_notice_names_both_ways_out() {
    let mut scenario = held();
    scenario.notices.clear();
    scenario.hours(7);
    scenario.tick();
    let turn = scenario.state().tracks["default"].turns[""].turn.clone();
    let said = scenario.effects.iter().find_map(|effect| match effect {
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
