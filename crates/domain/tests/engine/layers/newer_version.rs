//! Tests a turn of a newer version's slot: only that version follows it.

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::model::{Slot, TrackName, TurnId};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

#[test]
fn a_turn_of_a_newer_version_is_neither_nudged_nor_ended_nor_tried_again() {
    let plan = "[tracks]\nlayers = [\"a\", \"b\"]\n[defaults]\nretry = 2\n";
    for slot in ["reviewers/taxonomy", "observers"] {
        for state in [SessionState::Completed, SessionState::Failed] {
            let mut scenario = Scenario::new(plan, &["a", "b"]);
            scenario.tick();
            layered(&mut scenario, slot);
            scenario.becomes(state);
            for _ in 0..4 {
                scenario.minutes(40);
                scenario.tick();
                assert_eq!(scenario.reasons("layers"), [Reason::LayerUnavailable]);
            }
            assert_eq!(scenario.outcomes(), [None]);
            assert!(scenario.effects.is_empty(), "{:?}", scenario.effects);
            // Between two attempts it is not ours to start, either.
            let mut ledger = scenario.state().clone();
            let track = ledger.tracks.get_mut("layers").unwrap();
            let turn = track.turns.get_mut(slot).unwrap();
            (turn.session_id, turn.intent, turn.history_key) = (None, None, None);
            turn.attempt += 1;
            ledger.history.get_mut(&0).unwrap().outcome = Some(Outcome::Failed);
            scenario.set_state(ledger);
            scenario.tick();
            assert_eq!(scenario.reasons("layers"), [Reason::LayerUnavailable]);
            assert!(scenario.effects.is_empty(), "{:?}", scenario.effects);
            scenario.cancel_first();
            scenario.push();
            scenario.tick();
            let starts = |effect: &Effect| matches!(effect, Effect::CreateSession(_));
            assert!(scenario.effects.iter().any(starts), "a person may end it");
        }
    }
}

/// The live turn becomes one of another kind, as a newer version would write it.
fn layered(scenario: &mut Scenario, slot: &str) {
    let name = TrackName::from("layers");
    let mut state = scenario.state().clone();
    let genesis = state.genesis.clone().unwrap();
    let track = state.tracks.get_mut("layers").unwrap();
    let mut turn = track.turns.remove("").unwrap();
    let to = Slot::from(slot);
    turn.turn = TurnId::derive(&genesis.nonce, genesis.repository_id, &name, track.seq, &to);
    turn.persona_id = "reviewers/taxonomy".into();
    track.persona_id = Some("reviewers/taxonomy".into());
    let steps = "[tracks]\nlayers = [\"layer:reviewers\", \"b\"]\n[defaults]\nretry = 2\n";
    scenario
        .files
        .insert(".jules/schedules.toml".to_owned(), steps.to_owned());
    track.turns.insert(to, turn);
    scenario.set_state(state);
}
