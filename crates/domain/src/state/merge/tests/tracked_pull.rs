//! What two sides did about one pull request.

use super::*;
use crate::model::Oid;
use crate::state::{NextCheck, PullAction, TrackedPull};

const PULL: PullNumber = PullNumber(7);

fn side(pull: &TrackedPull) -> State {
    State {
        pulls: [(PULL, pull.clone())].into(),
        ..State::default()
    }
}

/// What becomes of it, whichever side is the one that is written.
fn joined(ours: &TrackedPull, theirs: &TrackedPull) -> TrackedPull {
    let one = merged(&side(ours), &side(theirs)).0.pulls[&PULL].clone();
    let other = merged(&side(theirs), &side(ours)).0.pulls[&PULL].clone();
    assert_eq!(one, other);
    one
}

fn action_at(head: &str, hour: i64, told: bool) -> PullAction {
    PullAction {
        notified: told,
        ..PullAction::new(head.into(), at(hour))
    }
}

/// One side said something, and the other something else.
fn merged_action(ours: Option<PullAction>, theirs: Option<PullAction>) -> Option<PullAction> {
    let pull = |checks| TrackedPull {
        checks,
        ..TrackedPull::new("1".into())
    };
    joined(&pull(ours), &pull(theirs)).checks
}

#[test]
fn an_action_of_one_side_counts() {
    let said = action_at("a", 1, true);
    assert_eq!(merged_action(Some(said.clone()), None), Some(said));
    assert_eq!(merged_action(None, None), None);
}

#[test]
fn about_one_commit_what_has_arrived_counts_before_what_was_decided_later() {
    let (arrived, later) = (action_at("a", 1, true), action_at("a", 2, false));
    assert_eq!(
        merged_action(Some(arrived.clone()), Some(later)),
        Some(arrived)
    );
    let (first, again) = (action_at("a", 1, false), action_at("a", 2, false));
    assert_eq!(merged_action(Some(first), Some(again.clone())), Some(again));
}

#[test]
fn about_another_commit_the_newer_word_counts_though_it_has_not_arrived() {
    let (older, newer) = (action_at("a", 1, true), action_at("b", 2, false));
    assert_eq!(merged_action(Some(older), Some(newer.clone())), Some(newer));
}

#[test]
fn words_of_one_moment_about_two_commits_stay_those_of_the_side_that_is_written() {
    let pull = |head: &str| TrackedPull {
        checks: Some(action_at(head, 1, true)),
        ..TrackedPull::new("1".into())
    };
    let state = merged(&side(&pull("a")), &side(&pull("b"))).0;
    assert_eq!(state.pulls[&PULL], pull("a"));
}

#[test]
fn every_kind_of_word_and_every_count_is_that_of_the_side_with_more() {
    let some = |hour| Some(action_at("a", hour, true));
    let ours = TrackedPull {
        checks: some(1),
        conflicts: some(1),
        draft_ready: some(1),
        fix_rounds: 2,
        conflict_rounds: 3,
        archive_tries: 4,
        closed_at: Some(at(5)),
        notice_opened_at: Some(at(6)),
        ..TrackedPull::new("1".into())
    };
    let theirs = TrackedPull {
        reviews: some(2),
        retargeted: some(2),
        reminded: some(2),
        fix_rounds: 1,
        review_rounds: 5,
        notices_opened: 6,
        closed_at: Some(at(4)),
        archive_at: Some(at(7)),
        ..TrackedPull::new("1".into())
    };
    let both = TrackedPull {
        reviews: some(2),
        retargeted: some(2),
        reminded: some(2),
        review_rounds: 5,
        notices_opened: 6,
        archive_at: Some(at(7)),
        ..ours.clone()
    };
    assert_eq!(joined(&ours, &theirs), both);
}

#[test]
fn commits_that_were_spoken_of_are_those_of_both_and_none_twice() {
    let heads = |fix: &[&str], base: &[&str]| TrackedPull {
        notified_heads: fix.iter().map(|head| Oid::from(*head)).collect(),
        conflict_heads: base.iter().map(|head| Oid::from(*head)).collect(),
        ..TrackedPull::new("1".into())
    };
    let state = merged(
        &side(&heads(&["a", "b"], &[])),
        &side(&heads(&["b", "c"], &["d"])),
    );
    assert_eq!(state.0.pulls[&PULL], heads(&["a", "b", "c"], &["d"]));
}

#[test]
fn the_look_that_is_later_is_waited_for() {
    let look = |head: &str, hour| TrackedPull {
        next_check: Some(NextCheck {
            head: head.into(),
            not_before: at(hour),
            waits: 1,
            extra: crate::state::Extra::new(),
        }),
        ..TrackedPull::new("1".into())
    };
    assert_eq!(joined(&look("a", 1), &look("b", 2)), look("b", 2));
    let none = TrackedPull::new("1".into());
    assert_eq!(joined(&look("a", 1), &none), look("a", 1));
    // Of two for one moment that of the side that is written stays.
    let state = merged(&side(&look("a", 1)), &side(&look("b", 1))).0;
    assert_eq!(state.pulls[&PULL], look("a", 1));
}
