//! Tests that people are reminded once of a pull request without a review.

use phileas_domain::engine::{Effect, Reason};
use phileas_domain::model::PullNumber;

use crate::support::scenario::Scenario;

const PULL: PullNumber = PullNumber(1);

/// A pull request that has waited for a minute less than three days.
fn waiting() -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.minutes(3 * 24 * 60 - 1);
    scenario
}

fn reminders(scenario: &Scenario) -> usize {
    let is_one = |effect: &&Effect| matches!(effect, Effect::RemindPeople { .. });
    scenario.effects.iter().filter(is_one).count()
}

#[test]
fn people_are_reminded_after_three_days_and_once() {
    let mut scenario = waiting();
    scenario.tick();
    assert_eq!(reminders(&scenario), 0);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(reminders(&scenario), 1);
    assert!(scenario.all_reasons().contains(&Reason::Reminded));
    let (on, text) = scenario.comments.values().next().unwrap();
    assert_eq!(*on, 1);
    assert!(text.contains("`a`") && text.ends_with("<!-- phileas:reminder -->\n"));
    assert!(!text.contains('@') && !text.starts_with('/'));
    for _ in 0..5 {
        scenario.hours(24);
        scenario.tick();
        assert_eq!((reminders(&scenario), scenario.session_reads), (0, 0));
    }
}

#[test]
fn a_reminder_that_was_lost_is_written_again_twice() {
    let mut scenario = waiting();
    scenario.lost = vec!["remind_people"];
    scenario.minutes(1);
    let mut count = 0;
    for _ in 0..8 {
        scenario.tick();
        count += reminders(&scenario);
        scenario.minutes(15);
    }
    assert_eq!(count, 3);
}

#[test]
fn reviewed_draft_and_paused_pull_requests_get_no_reminder() {
    type Change = fn(&mut Scenario);
    let changes: [Change; 4] = [
        |scenario| scenario.pulls.get_mut(&PULL).unwrap().reviewed = true,
        |scenario| {
            let pull = scenario.pulls.get_mut(&PULL).unwrap();
            pull.draft = true;
            scenario.sessions.clear();
        },
        |scenario| scenario.close(PULL),
        |scenario| scenario.paused_by_variable = Some("1".to_owned()),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut scenario = waiting();
        scenario.minutes(1);
        change(&mut scenario);
        scenario.tick();
        assert_eq!(reminders(&scenario), 0, "{at}");
    }
}
