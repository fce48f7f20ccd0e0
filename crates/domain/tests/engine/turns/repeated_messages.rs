//! Tests that undelivered messages are sent again, however rare the ticks are.

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

fn sent(scenario: &Scenario) -> usize {
    let message = |effect: &&Effect| matches!(effect, Effect::SendMessage { .. });
    scenario.effects.iter().filter(message).count()
}

/// A session in this state, seen three hours later for the first time; the first message to it is lost.
fn unheard(state: SessionState) -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.tick();
    scenario.minutes(10);
    scenario.becomes(state);
    scenario.hours(3);
    scenario.lost = vec!["send_message"];
    scenario.tick();
    assert_eq!(sent(&scenario), 1);
    scenario
}

#[test]
fn a_reminder_that_was_lost_is_sent_again_an_hour_later() {
    let mut scenario = unheard(SessionState::Completed);
    scenario.lost.clear();
    scenario.hours(1);
    scenario.tick();
    assert_eq!(sent(&scenario), 1);
    assert_eq!(scenario.outcomes(), [None]);
    scenario.hours(1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::NoOutput));
    let note = scenario.state().history[&0].note.clone().unwrap();
    assert!(note.contains("also after a reminder"), "{note}");
}

#[test]
fn a_reminder_that_never_arrives_is_given_up_at_last() {
    let mut scenario = unheard(SessionState::Completed);
    let mut again = 0;
    for _ in 0..12 {
        scenario.hours(1);
        scenario.tick();
        again += sent(&scenario);
    }
    assert!(again > 2, "sent again {again} times");
    let note = scenario.state().history[&0].note.clone().unwrap();
    assert!(note.contains("did not arrive"), "{note}");
}

#[test]
fn an_answer_that_was_lost_is_sent_again_an_hour_later() {
    let mut scenario = unheard(SessionState::AwaitingUserFeedback);
    scenario.lost.clear();
    scenario.hours(1);
    scenario.tick();
    assert_eq!(sent(&scenario), 1);
    assert_eq!(scenario.reasons("default"), [Reason::SessionAsked]);
    assert!(scenario.notices.is_empty());
}
