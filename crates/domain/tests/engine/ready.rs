//! A draft is marked as ready when its session is done, once.

use phileas_domain::engine::{Checks, Effect, Mergeable, Reason, SessionState};
use phileas_domain::model::PullNumber;

use crate::desk::Desk;

const PULL: PullNumber = PullNumber(1);

/// A session has left a draft, and is done.
fn drafted() -> Desk {
    let mut desk = Desk::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.pulls.get_mut(&PULL).unwrap().draft = true;
    desk
}

fn marks(desk: &Desk) -> usize {
    let is_mark = |effect: &&Effect| matches!(effect, Effect::MarkReady { .. });
    desk.effects.iter().filter(is_mark).count()
}

#[test]
fn a_draft_is_marked_when_its_session_is_done_and_left_when_a_person_turns_it_back() {
    let mut desk = drafted();
    desk.tick();
    desk.tick();
    assert!(!desk.pulls[&PULL].draft);
    assert!(desk.state().pulls[&PULL].ready.as_ref().unwrap().told);
    desk.pulls.get_mut(&PULL).unwrap().draft = true;
    let looks = desk.looks;
    for _ in 0..4 {
        desk.hours(1);
        desk.tick();
        assert_eq!((marks(&desk), desk.looks), (0, looks));
    }
}

#[test]
fn a_mark_that_was_lost_is_made_again_twice() {
    let mut desk = drafted();
    desk.lost = vec!["mark_ready"];
    let mut count = 0;
    for _ in 0..8 {
        desk.tick();
        count += marks(&desk);
        desk.minutes(15);
    }
    assert_eq!(count, 3);
}

/// phileas counts these attempts, so that it must make each of them.
#[test]
fn a_mark_that_github_refuses_is_made_again_twice() {
    let mut desk = drafted();
    desk.refused = vec!["mark_ready"];
    let mut count = 0;
    for _ in 0..8 {
        desk.tick();
        count += marks(&desk);
        desk.minutes(15);
    }
    assert_eq!(count, 3);
}

#[test]
fn what_is_not_done_fails_conflicts_or_is_held_stays_a_draft() {
    type Change = fn(&mut Desk);
    let changes: [Change; 6] = [
        |desk| {
            desk.becomes(SessionState::InProgress);
        },
        |desk| {
            desk.becomes(SessionState::Failed);
        },
        |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending,
        |desk| desk.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Conflicting,
        |desk| desk.pulls.get_mut(&PULL).unwrap().same_repository = false,
        |desk| desk.paused_by_variable = Some("1".to_owned()),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut desk = drafted();
        change(&mut desk);
        desk.tick();
        desk.tick();
        assert_eq!(marks(&desk), 0, "{at}");
        assert!(desk.pulls[&PULL].draft, "{at}");
        let waits = desk.all_reasons().contains(&Reason::DraftUnfinished);
        assert_eq!(waits, at < 3, "{at}");
    }
}

/// A draft that phileas cannot end closes the backlog, so a person hears of it.
#[test]
fn a_draft_that_cannot_be_ended_is_a_persons_once() {
    type Change = fn(&mut Desk);
    let changes: [Change; 3] = [
        |desk| {
            desk.becomes(SessionState::Failed);
        },
        |desk| desk.sessions.clear(),
        |desk| desk.lost = vec!["mark_ready"],
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut desk = drafted();
        desk.tick();
        desk.pulls.get_mut(&PULL).unwrap().draft = true;
        let mut state = desk.state().clone();
        if let Some(known) = state.pulls.get_mut(&PULL) {
            known.ready = None;
        }
        desk.set_state(state);
        change(&mut desk);
        for _ in 0..12 {
            desk.tick();
            desk.minutes(15);
        }
        assert_eq!(desk.notices.len(), 1, "{at}: {:?}", desk.lines);
        assert!(
            desk.all_reasons().contains(&Reason::DraftUnfinished),
            "{at}"
        );
        desk.pulls.get_mut(&PULL).unwrap().draft = false;
        desk.tick();
        assert_eq!(desk.notices, [], "{at}");
    }
}

/// Nothing waits in silence: checks that nobody ever reports keep a draft for ever.
#[test]
fn a_draft_whose_checks_never_end_is_told_and_people_reminded() {
    let mut desk = drafted();
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
    desk.tick();
    desk.tick();
    assert!(desk.all_reasons().contains(&Reason::DraftUnfinished));
    assert_eq!(desk.looks, 0);
    desk.hours(3 * 24);
    desk.tick();
    assert!(desk.all_reasons().contains(&Reason::Reminded));
}

/// It was said before GitHub had answered, also where GitHub refused it.
#[test]
fn that_it_is_ready_is_said_when_github_has_done_it() {
    let mut desk = drafted();
    desk.lost = vec!["mark_ready"];
    for _ in 0..8 {
        desk.tick();
        assert!(!desk.all_reasons().contains(&Reason::DraftReady));
        desk.minutes(15);
    }
    let mut desk = drafted();
    let mut said = false;
    for _ in 0..3 {
        desk.tick();
        said |= desk.all_reasons().contains(&Reason::DraftReady);
    }
    assert!(said && !desk.pulls[&PULL].draft);
}
