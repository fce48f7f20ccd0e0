//! Figures about the work, out of a history that is written down here line by line.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Yield, yield_of_all, yields};
use phileas_domain::model::PullNumber;
use phileas_domain::state::{HistoryEntry, Outcome, State};

use crate::desk::Desk;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// Entries of `a`, each merged so many minutes after its session's start.
fn merged_after(minutes: &[i64]) -> Desk {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut state = State::default();
    for (key, minutes) in (0..).zip(minutes) {
        let entry = HistoryEntry {
            persona_id: "a".into(),
            session_id: Some(format!("{key}").into()),
            pr_number: Some(PullNumber(key + 1)),
            created_at: Some(start),
            track: None,
            turn: None,
            seq: None,
            slot: None,
            attempt: None,
            base_sha: None,
            outcome: Some(Outcome::Merged),
            finished_at: Some(start + MINUTE * i32::try_from(*minutes).unwrap()),
            duplicates: Vec::new(),
            note: None,
            extra: serde_json::Map::new(),
        };
        state.history.insert(key, entry);
    }
    desk.set_state(state);
    desk
}

fn median(minutes: &[i64]) -> Option<SignedDuration> {
    let figures = yield_of_all(&merged_after(minutes).snapshot());
    assert_eq!(figures.merged as usize, minutes.len());
    figures.median_to_merge
}

#[test]
fn the_time_to_a_merge_is_the_lower_median() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[0]), Some(SignedDuration::ZERO));
    assert_eq!(median(&[40, 10]), Some(MINUTE * 10));
    assert_eq!(median(&[40, 10, 90]), Some(MINUTE * 40));
    assert_eq!(median(&[90, 10, 70, 40]), Some(MINUTE * 40));
    assert_eq!(median(&[90, 10, 70, 40, 5]), Some(MINUTE * 40));
    // A clock that was wrong says nothing.
    assert_eq!(median(&[-7]), None);
    assert_eq!(median(&[-7, -9, 3]), Some(MINUTE * 3));
}

#[test]
fn githubs_own_time_of_the_merge_counts_before_the_ledgers() {
    let mut desk = merged_after(&[60]);
    let mut other = Desk::new("cycle = [\"a\"]\n", &["a"]);
    other.tick();
    let number = other.opens_pull();
    let mut pull = other.pulls[&number].clone();
    pull.closed_at = Some("2026-01-01T00:12:00Z".parse().unwrap());
    desk.pulls.insert(number, pull);
    let figures = yield_of_all(&desk.snapshot());
    assert_eq!(figures.median_to_merge, Some(MINUTE * 12));
}

#[test]
fn each_persona_has_figures_of_its_own_and_who_never_ran_has_none() {
    let mut desk = merged_after(&[10, 30]);
    let mut state = desk.state().clone();
    let mut entry = state.history[&1].clone();
    entry.persona_id = "b".into();
    entry.outcome = None;
    entry.pr_number = None;
    entry.duplicates = vec!["77".into(), "78".into()];
    state.history.insert(2, entry);
    desk.set_state(state);
    let figures = yields(&desk.snapshot());
    let a = Yield {
        sessions: 2,
        pulls: 2,
        merged: 2,
        median_to_merge: Some(MINUTE * 10),
        ..Yield::default()
    };
    let b = Yield {
        sessions: 3,
        other: 3,
        ..Yield::default()
    };
    let expected = [("a".into(), a.clone()), ("b".into(), b)];
    assert_eq!(figures, expected.into());
    let all = Yield {
        sessions: 5,
        other: 3,
        ..a
    };
    assert_eq!(yield_of_all(&desk.snapshot()), all);
}
