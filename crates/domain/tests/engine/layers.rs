//! A turn of a kind that this version does not know: a newer one started it, and it alone knows what to do with what
//! comes of it.

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::model::{Slot, TrackName, TurnId};
use phileas_domain::state::Outcome;

use crate::desk::Desk;

#[test]
fn a_turn_of_a_newer_version_is_neither_nudged_nor_ended_nor_tried_again() {
    let plan = "[tracks]\nlayers = [\"a\", \"b\"]\n[defaults]\nretry = 2\n";
    for slot in ["reviewers/taxonomy", "observers"] {
        for state in [SessionState::Completed, SessionState::Failed] {
            let mut desk = Desk::new(plan, &["a", "b"]);
            desk.tick();
            layered(&mut desk, slot);
            desk.becomes(state);
            for _ in 0..4 {
                desk.minutes(40);
                desk.tick();
                assert_eq!(desk.reasons("layers"), [Reason::LayerUnavailable]);
            }
            assert_eq!(desk.outcomes(), [None]);
            assert!(desk.effects.is_empty(), "{:?}", desk.effects);
            // Between two attempts it is not ours to start, either.
            let mut ledger = desk.state().clone();
            let track = ledger.tracks.get_mut("layers").unwrap();
            let turn = track.turns.get_mut(slot).unwrap();
            (turn.session_id, turn.intent, turn.history_key) = (None, None, None);
            turn.attempt += 1;
            ledger.history.get_mut(&0).unwrap().outcome = Some(Outcome::Failed);
            desk.set_state(ledger);
            desk.tick();
            assert_eq!(desk.reasons("layers"), [Reason::LayerUnavailable]);
            assert!(desk.effects.is_empty(), "{:?}", desk.effects);
            desk.cancel_first();
            desk.push();
            desk.tick();
            let starts = |effect: &Effect| matches!(effect, Effect::CreateSession(_));
            assert!(desk.effects.iter().any(starts), "a person may end it");
        }
    }
}

/// The live turn becomes one of another kind, as a newer version would write it.
fn layered(desk: &mut Desk, slot: &str) {
    let name = TrackName::from("layers");
    let mut state = desk.state().clone();
    let genesis = state.genesis.clone().unwrap();
    let track = state.tracks.get_mut("layers").unwrap();
    let mut turn = track.turns.remove("").unwrap();
    let to = Slot::from(slot);
    turn.turn = TurnId::derive(&genesis.nonce, genesis.repository_id, &name, track.seq, &to);
    turn.persona_id = "reviewers/taxonomy".into();
    track.persona_id = Some("reviewers/taxonomy".into());
    let steps = "[tracks]\nlayers = [\"layer:reviewers\", \"b\"]\n[defaults]\nretry = 2\n";
    desk.files
        .insert(".jules/schedules.toml".to_owned(), steps.to_owned());
    track.turns.insert(to, turn);
    desk.set_state(state);
}
