//! Messages that do not arrive are sent again, however seldom somebody looks.

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::state::Outcome;

use crate::desk::Desk;

fn sent(desk: &Desk) -> usize {
    let message = |effect: &&Effect| matches!(effect, Effect::SendMessage { .. });
    desk.effects.iter().filter(message).count()
}

/// A session in this state, seen three hours later for the first time; the first message to it is lost.
fn unheard(state: SessionState) -> Desk {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.tick();
    desk.minutes(10);
    desk.becomes(state);
    desk.hours(3);
    desk.lost = vec!["send_message"];
    desk.tick();
    assert_eq!(sent(&desk), 1);
    desk
}

#[test]
fn a_reminder_that_was_lost_is_sent_again_an_hour_later() {
    let mut desk = unheard(SessionState::Completed);
    desk.lost.clear();
    desk.hours(1);
    desk.tick();
    assert_eq!(sent(&desk), 1);
    assert_eq!(desk.outcomes(), [None]);
    desk.hours(1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::NoOutput));
    let note = desk.state().history[&0].note.clone().unwrap();
    assert!(note.contains("also after a reminder"), "{note}");
}

#[test]
fn a_reminder_that_never_arrives_is_given_up_at_last() {
    let mut desk = unheard(SessionState::Completed);
    let mut again = 0;
    for _ in 0..12 {
        desk.hours(1);
        desk.tick();
        again += sent(&desk);
    }
    assert!(again > 2, "sent again {again} times");
    let note = desk.state().history[&0].note.clone().unwrap();
    assert!(note.contains("did not arrive"), "{note}");
}

#[test]
fn an_answer_that_was_lost_is_sent_again_an_hour_later() {
    let mut desk = unheard(SessionState::AwaitingUserFeedback);
    desk.lost.clear();
    desk.hours(1);
    desk.tick();
    assert_eq!(sent(&desk), 1);
    assert_eq!(desk.reasons("default"), [Reason::SessionAsked]);
    assert!(desk.notices.is_empty());
}
