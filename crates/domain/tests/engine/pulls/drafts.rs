//! Tests that a draft is marked as ready once, when its session is done.

use phileas_domain::engine::{Checks, Effect, Mergeable, Reason, SessionState};
use phileas_domain::model::PullNumber;

use crate::support::scenario::Scenario;

const PULL: PullNumber = PullNumber(1);

/// A session has left a draft, and is done.
fn drafted() -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.pulls.get_mut(&PULL).unwrap().draft = true;
    scenario
}

fn marks(scenario: &Scenario) -> usize {
    let is_mark = |effect: &&Effect| matches!(effect, Effect::MarkReady { .. });
    scenario.effects.iter().filter(is_mark).count()
}

#[test]
fn a_draft_is_marked_when_its_session_is_done_and_left_when_a_person_turns_it_back() {
    let mut scenario = drafted();
    scenario.tick();
    scenario.tick();
    assert!(!scenario.pulls[&PULL].draft);
    assert!(
        scenario.state().pulls[&PULL]
            .draft_ready
            .as_ref()
            .unwrap()
            .notified
    );
    scenario.pulls.get_mut(&PULL).unwrap().draft = true;
    let looks = scenario.session_reads;
    for _ in 0..4 {
        scenario.hours(1);
        scenario.tick();
        assert_eq!((marks(&scenario), scenario.session_reads), (0, looks));
    }
}

#[test]
fn a_mark_that_was_lost_is_made_again_twice() {
    let mut scenario = drafted();
    scenario.lost = vec!["mark_ready"];
    let mut count = 0;
    for _ in 0..8 {
        scenario.tick();
        count += marks(&scenario);
        scenario.minutes(15);
    }
    assert_eq!(count, 3);
}

/// phileas counts these attempts, so that it must make each of them.
#[test]
fn a_mark_that_github_refuses_is_made_again_twice() {
    let mut scenario = drafted();
    scenario.refused = vec!["mark_ready"];
    let mut count = 0;
    for _ in 0..8 {
        scenario.tick();
        count += marks(&scenario);
        scenario.minutes(15);
    }
    assert_eq!(count, 3);
}

#[test]
fn what_is_not_done_fails_conflicts_or_is_held_stays_a_draft() {
    type Change = fn(&mut Scenario);
    let changes: [Change; 6] = [
        |scenario| {
            scenario.becomes(SessionState::InProgress);
        },
        |scenario| {
            scenario.becomes(SessionState::Failed);
        },
        |scenario| scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending,
        |scenario| scenario.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Conflicting,
        |scenario| scenario.pulls.get_mut(&PULL).unwrap().same_repository = false,
        |scenario| scenario.paused_by_variable = Some("1".to_owned()),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut scenario = drafted();
        change(&mut scenario);
        scenario.tick();
        scenario.tick();
        assert_eq!(marks(&scenario), 0, "{at}");
        assert!(scenario.pulls[&PULL].draft, "{at}");
        let waits = scenario.all_reasons().contains(&Reason::DraftUnfinished);
        assert_eq!(waits, at < 3, "{at}");
    }
}

/// A draft that phileas cannot mark as ready fills the backlog, so a notice is opened.
#[test]
fn a_draft_that_cannot_be_ended_is_a_persons_once() {
    type Change = fn(&mut Scenario);
    let changes: [Change; 3] = [
        |scenario| {
            scenario.becomes(SessionState::Failed);
        },
        |scenario| scenario.sessions.clear(),
        |scenario| scenario.lost = vec!["mark_ready"],
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut scenario = drafted();
        scenario.tick();
        scenario.pulls.get_mut(&PULL).unwrap().draft = true;
        let mut state = scenario.state().clone();
        if let Some(known) = state.pulls.get_mut(&PULL) {
            known.draft_ready = None;
        }
        scenario.set_state(state);
        change(&mut scenario);
        for _ in 0..12 {
            scenario.tick();
            scenario.minutes(15);
        }
        assert_eq!(scenario.notices.len(), 1, "{at}: {:?}", scenario.lines);
        assert!(
            scenario.all_reasons().contains(&Reason::DraftUnfinished),
            "{at}"
        );
        scenario.pulls.get_mut(&PULL).unwrap().draft = false;
        scenario.tick();
        assert_eq!(scenario.notices, [], "{at}");
    }
}

/// Nothing waits without a line: checks that never end keep a draft forever.
#[test]
fn a_draft_whose_checks_never_end_is_reported_and_people_are_reminded() {
    let mut scenario = drafted();
    scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
    scenario.tick();
    scenario.tick();
    assert!(scenario.all_reasons().contains(&Reason::DraftUnfinished));
    assert_eq!(scenario.session_reads, 0);
    scenario.hours(3 * 24);
    scenario.tick();
    assert!(scenario.all_reasons().contains(&Reason::Reminded));
}

/// It was reported before GitHub answered, even where GitHub refused.
#[test]
fn that_it_is_ready_is_said_when_github_has_done_it() {
    let mut scenario = drafted();
    scenario.lost = vec!["mark_ready"];
    for _ in 0..8 {
        scenario.tick();
        assert!(!scenario.all_reasons().contains(&Reason::DraftReady));
        scenario.minutes(15);
    }
    let mut scenario = drafted();
    let mut said = false;
    for _ in 0..3 {
        scenario.tick();
        said |= scenario.all_reasons().contains(&Reason::DraftReady);
    }
    assert!(said && !scenario.pulls[&PULL].draft);
}
