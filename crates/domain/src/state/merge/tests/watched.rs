//! What two sides did about one pull request.

use super::*;
use crate::model::Oid;
use crate::state::{Look, Told, WatchedPull};

const PULL: PullNumber = PullNumber(7);

fn side(pull: &WatchedPull) -> State {
    State {
        pulls: [(PULL, pull.clone())].into(),
        ..State::default()
    }
}

/// What becomes of it, whichever side is the one that is written.
fn joined(ours: &WatchedPull, theirs: &WatchedPull) -> WatchedPull {
    let one = merged(&side(ours), &side(theirs)).0.pulls[&PULL].clone();
    let other = merged(&side(theirs), &side(ours)).0.pulls[&PULL].clone();
    assert_eq!(one, other);
    one
}

fn told(head: &str, hour: i64, told: bool) -> Told {
    Told {
        told,
        ..Told::new(head.into(), at(hour))
    }
}

/// One side said something, and the other something else.
fn word(ours: Option<Told>, theirs: Option<Told>) -> Option<Told> {
    let pull = |checks| WatchedPull {
        checks,
        ..WatchedPull::new("1".into())
    };
    joined(&pull(ours), &pull(theirs)).checks
}

#[test]
fn an_action_of_one_side_counts() {
    let said = told("a", 1, true);
    assert_eq!(word(Some(said.clone()), None), Some(said));
    assert_eq!(word(None, None), None);
}

#[test]
fn about_one_commit_what_has_arrived_counts_before_what_was_decided_later() {
    let (arrived, later) = (told("a", 1, true), told("a", 2, false));
    assert_eq!(word(Some(arrived.clone()), Some(later)), Some(arrived));
    let (first, again) = (told("a", 1, false), told("a", 2, false));
    assert_eq!(word(Some(first), Some(again.clone())), Some(again));
}

#[test]
fn about_another_commit_the_newer_word_counts_though_it_has_not_arrived() {
    let (older, newer) = (told("a", 1, true), told("b", 2, false));
    assert_eq!(word(Some(older), Some(newer.clone())), Some(newer));
}

#[test]
fn words_of_one_moment_about_two_commits_stay_those_of_the_side_that_is_written() {
    let pull = |head: &str| WatchedPull {
        checks: Some(told(head, 1, true)),
        ..WatchedPull::new("1".into())
    };
    let state = merged(&side(&pull("a")), &side(&pull("b"))).0;
    assert_eq!(state.pulls[&PULL], pull("a"));
}

#[test]
fn every_kind_of_word_and_every_count_is_that_of_the_side_with_more() {
    let some = |hour| Some(told("a", hour, true));
    let ours = WatchedPull {
        checks: some(1),
        base: some(1),
        ready: some(1),
        fix_rounds: 2,
        base_rounds: 3,
        archive_tries: 4,
        closed_at: Some(at(5)),
        called_at: Some(at(6)),
        ..WatchedPull::new("1".into())
    };
    let theirs = WatchedPull {
        reviews: some(2),
        retargeted: some(2),
        reminded: some(2),
        fix_rounds: 1,
        review_rounds: 5,
        calls: 6,
        closed_at: Some(at(4)),
        archive_at: Some(at(7)),
        ..WatchedPull::new("1".into())
    };
    let both = WatchedPull {
        reviews: some(2),
        retargeted: some(2),
        reminded: some(2),
        review_rounds: 5,
        calls: 6,
        archive_at: Some(at(7)),
        ..ours.clone()
    };
    assert_eq!(joined(&ours, &theirs), both);
}

#[test]
fn commits_that_were_spoken_of_are_those_of_both_and_none_twice() {
    let heads = |fix: &[&str], base: &[&str]| WatchedPull {
        fix_heads: fix.iter().map(|head| Oid::from(*head)).collect(),
        base_heads: base.iter().map(|head| Oid::from(*head)).collect(),
        ..WatchedPull::new("1".into())
    };
    let state = merged(
        &side(&heads(&["a", "b"], &[])),
        &side(&heads(&["b", "c"], &["d"])),
    );
    assert_eq!(state.0.pulls[&PULL], heads(&["a", "b", "c"], &["d"]));
}

#[test]
fn the_look_that_is_later_is_waited_for() {
    let look = |head: &str, hour| WatchedPull {
        look: Some(Look {
            head: head.into(),
            not_before: at(hour),
            waits: 1,
            extra: crate::state::Extra::new(),
        }),
        ..WatchedPull::new("1".into())
    };
    assert_eq!(joined(&look("a", 1), &look("b", 2)), look("b", 2));
    let none = WatchedPull::new("1".into());
    assert_eq!(joined(&look("a", 1), &none), look("a", 1));
    // Of two for one moment that of the side that is written stays.
    let state = merged(&side(&look("a", 1)), &side(&look("b", 1))).0;
    assert_eq!(state.pulls[&PULL], look("a", 1));
}
