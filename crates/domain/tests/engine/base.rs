//! A pull request that conflicts with its base, or is behind it, goes back to its session.

use phileas_domain::engine::{Checks, Effect, Mergeable, Reason};
use phileas_domain::model::PullNumber;

use crate::desk::Desk;

const PULL: PullNumber = PullNumber(1);

fn conflicting() -> Desk {
    let mut desk = Desk::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.minutes(5);
    becomes(&mut desk, "c1", Mergeable::Conflicting);
    desk
}

fn becomes(desk: &mut Desk, commit: &str, mergeable: Mergeable) {
    let pull = desk.pulls.get_mut(&PULL).unwrap();
    pull.head_oid = commit.into();
    pull.mergeable = mergeable;
}

fn words(desk: &Desk) -> Vec<&str> {
    let all = desk.effects.iter();
    all.filter_map(|effect| match effect {
        Effect::TellPull { text, .. } => Some(text.as_str()),
        _ => None,
    })
    .collect()
}

#[test]
fn a_session_is_asked_to_merge_its_base_once_for_each_commit_and_three_times_in_all() {
    let mut desk = conflicting();
    for round in 1..=3 {
        becomes(&mut desk, &format!("c{round}"), Mergeable::Conflicting);
        desk.tick();
        let said = words(&desk);
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("it conflicts with its base"));
        assert!(said[0].ends_with(&format!("phileas-message: pull 1 base c{round}")));
        assert!(desk.all_reasons().contains(&Reason::BaseTold));
        desk.hours(1);
        desk.tick();
        assert_eq!(words(&desk).len(), 0);
    }
    becomes(&mut desk, "c4", Mergeable::Conflicting);
    desk.tick();
    assert_eq!(words(&desk).len(), 0);
    assert_eq!(desk.notices.len(), 1);
    becomes(&mut desk, "c5", Mergeable::Unknown);
    desk.tick();
    assert_eq!(desk.notices.len(), 1, "nobody knows whether it is mended");
    becomes(&mut desk, "c5", Mergeable::Yes);
    desk.tick();
    assert_eq!(desk.notices, []);
}

#[test]
fn what_is_behind_is_asked_to_catch_up_and_what_is_not_known_yet_waits() {
    for (mergeable, count) in [
        (Mergeable::Unknown, 0),
        (Mergeable::Yes, 0),
        (Mergeable::Behind, 1),
    ] {
        let mut desk = conflicting();
        becomes(&mut desk, "c1", mergeable);
        desk.tick();
        assert_eq!((words(&desk).len(), desk.looks), (count, count));
        let is_behind = |text: &&str| text.contains("it is behind its base");
        assert!(words(&desk).iter().all(is_behind));
        // A conflict that is found later belongs to the same commit.
        if count > 0 {
            desk.hours(1);
            becomes(&mut desk, "c1", Mergeable::Conflicting);
            desk.tick();
            assert_eq!(words(&desk).len(), 0);
        }
    }
}

#[test]
fn a_conflict_is_mended_before_the_checks_of_the_same_commit_and_these_before_it_catches_up() {
    for (mergeable, checks, first) in [
        (Mergeable::Conflicting, Checks::Red, "base c1"),
        (Mergeable::Behind, Checks::Red, ""),
        (Mergeable::Behind, Checks::Pending, ""),
        (Mergeable::Behind, Checks::Green, "base c1"),
    ] {
        let mut desk = conflicting();
        becomes(&mut desk, "c1", mergeable);
        desk.pulls.get_mut(&PULL).unwrap().checks = checks;
        desk.tick();
        let said = words(&desk);
        let is_first = |text: &&str| text.ends_with(first);
        assert_eq!(
            said.len(),
            usize::from(!first.is_empty()),
            "{mergeable:?} {checks:?}"
        );
        assert!(said.iter().all(is_first));
    }
}

#[test]
fn a_word_about_a_conflict_whose_sender_died_is_said_again() {
    let mut desk = conflicting();
    desk.lost = vec!["tell_pull"];
    desk.tick();
    desk.lost.clear();
    desk.minutes(15);
    desk.tick();
    assert_eq!(words(&desk).len(), 1);
    let known = desk.state().pulls[&PULL].clone();
    assert_eq!(known.base_rounds, 1);
    assert!(known.base.unwrap().told);
}

/// A replica that lags shows a commit that was spoken of before: nothing is said, and no round is spent.
#[test]
fn a_look_that_lags_behind_does_not_say_the_same_again() {
    let mut desk = conflicting();
    for commit in ["c1", "c2"] {
        becomes(&mut desk, commit, Mergeable::Conflicting);
        desk.tick();
        assert_eq!(words(&desk).len(), 1);
        desk.minutes(20);
    }
    for commit in ["c1", "c2"] {
        becomes(&mut desk, commit, Mergeable::Conflicting);
        desk.tick();
        assert_eq!(words(&desk).len(), 0, "{commit}");
        assert!(desk.all_reasons().contains(&Reason::BaseTold));
    }
    let known = desk.state().pulls[&PULL].clone();
    assert_eq!(
        (known.base_rounds, known.base.unwrap().head),
        (2, "c2".into())
    );
}
