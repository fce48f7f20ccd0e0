//! People are reminded once of a pull request that nobody has reviewed.

use phileas_domain::engine::{Effect, Reason};
use phileas_domain::model::PullNumber;

use crate::desk::Desk;

const PULL: PullNumber = PullNumber(1);

/// A pull request that has waited for a minute less than three days.
fn waiting() -> Desk {
    let mut desk = Desk::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.minutes(3 * 24 * 60 - 1);
    desk
}

fn reminders(desk: &Desk) -> usize {
    let is_one = |effect: &&Effect| matches!(effect, Effect::RemindPeople { .. });
    desk.effects.iter().filter(is_one).count()
}

#[test]
fn people_are_reminded_after_three_days_and_once() {
    let mut desk = waiting();
    desk.tick();
    assert_eq!(reminders(&desk), 0);
    desk.minutes(1);
    desk.tick();
    assert_eq!(reminders(&desk), 1);
    assert!(desk.all_reasons().contains(&Reason::Reminded));
    let (on, text) = desk.comments.values().next().unwrap();
    assert_eq!(*on, 1);
    assert!(text.contains("`a`") && text.ends_with("<!-- phileas:reminder -->\n"));
    assert!(!text.contains('@') && !text.starts_with('/'));
    for _ in 0..5 {
        desk.hours(24);
        desk.tick();
        assert_eq!((reminders(&desk), desk.looks), (0, 0));
    }
}

#[test]
fn a_reminder_that_was_lost_is_written_again_twice() {
    let mut desk = waiting();
    desk.lost = vec!["remind_people"];
    desk.minutes(1);
    let mut count = 0;
    for _ in 0..8 {
        desk.tick();
        count += reminders(&desk);
        desk.minutes(15);
    }
    assert_eq!(count, 3);
}

#[test]
fn nobody_is_reminded_of_what_was_reviewed_is_a_draft_or_is_paused() {
    type Change = fn(&mut Desk);
    let changes: [Change; 4] = [
        |desk| desk.pulls.get_mut(&PULL).unwrap().reviewed = true,
        |desk| {
            let pull = desk.pulls.get_mut(&PULL).unwrap();
            pull.draft = true;
            desk.sessions.clear();
        },
        |desk| desk.close(PULL),
        |desk| desk.paused_by_variable = Some("1".to_owned()),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut desk = waiting();
        desk.minutes(1);
        change(&mut desk);
        desk.tick();
        assert_eq!(reminders(&desk), 0, "{at}");
    }
}
