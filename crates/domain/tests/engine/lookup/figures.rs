//! Tests the figures of a history that this file spells out.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{LastTurn, PersonaStatus, Yield, persona_statuses};
use phileas_domain::model::PullNumber;
use phileas_domain::state::{HistoryEntry, Outcome, PersonaState, State};

use crate::support::scenario::Scenario;
use crate::support::{persona_yields, total_yield};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// Entries of `a`, each merged so many minutes after its session's start.
fn merged_after(minutes: &[i64]) -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
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
            zero_touch: None,
            review_secs: None,
            refused: None,
            prompt: None,
            note: None,
            extra: serde_json::Map::new(),
        };
        state.history.insert(key, entry);
    }
    scenario.set_state(state);
    scenario
}

fn median(minutes: &[i64]) -> Option<SignedDuration> {
    let figures = total_yield(&merged_after(minutes).snapshot());
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
    // Times of a wrong clock do not count.
    assert_eq!(median(&[-7]), None);
    assert_eq!(median(&[-7, -9, 3]), Some(MINUTE * 3));
}

#[test]
fn githubs_own_time_of_the_merge_counts_before_the_ledgers() {
    let mut scenario = merged_after(&[60]);
    let mut other = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    other.tick();
    let number = other.opens_pull();
    let mut pull = other.pulls[&number].clone();
    pull.closed_at = Some("2026-01-01T00:12:00Z".parse().unwrap());
    scenario.pulls.insert(number, pull);
    let figures = total_yield(&scenario.snapshot());
    assert_eq!(figures.median_to_merge, Some(MINUTE * 12));
}

#[test]
fn each_persona_has_figures_of_its_own_and_who_never_ran_has_none() {
    let mut scenario = merged_after(&[10, 30]);
    let mut state = scenario.state().clone();
    let mut entry = state.history[&1].clone();
    entry.persona_id = "b".into();
    entry.outcome = None;
    entry.pr_number = None;
    entry.duplicates = vec!["77".into(), "78".into()];
    state.history.insert(2, entry);
    scenario.set_state(state);
    let figures = persona_yields(&scenario.snapshot());
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
    assert_eq!(total_yield(&scenario.snapshot()), all);
}

#[test]
fn persona_statuses_follow_the_newest_turns() {
    let mut scenario = merged_after(&[10, 20, 30, 40]);
    let mut state = scenario.state().clone();
    let end = |key: u64, outcome: Option<Outcome>, state: &mut State| {
        let entry = state.history.get_mut(&key).unwrap();
        entry.outcome = outcome;
    };
    end(0, Some(Outcome::Merged), &mut state);
    end(1, Some(Outcome::Rejected), &mut state);
    end(2, Some(Outcome::Rejected), &mut state);
    // The newest is under way, and began when the sessions above did.
    end(3, None, &mut state);
    state.history.get_mut(&3).unwrap().finished_at = None;
    // One that the plan no longer has, and one of a layer, which is no persona.
    for (key, persona) in [(4, "gone"), (5, "observers/taxonomy")] {
        let mut entry = state.history[&2].clone();
        entry.persona_id = persona.into();
        entry.session_id = Some(format!("{key}").into());
        entry.outcome = Some(Outcome::Failed);
        state.history.insert(key, entry);
    }
    let memory = PersonaState {
        no_output_streak: 2,
        ..PersonaState::default()
    };
    state.personas.insert("a".into(), memory);
    scenario.set_state(state);

    let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let standings = persona_statuses(&scenario.snapshot());
    let names: Vec<&str> = standings.iter().map(|one| one.persona.as_str()).collect();
    assert_eq!(names, ["a", "b", "gone"]);
    let [a, b, gone] = standings.as_slice() else {
        panic!("{standings:#?}");
    };

    assert_eq!((a.known, a.streak, a.unwanted), (true, 2, 2));
    let last = a.last.clone().unwrap();
    assert_eq!((last.outcome, last.at), (None, Some(start)));
    assert_eq!(last.pull, Some(PullNumber(4)));
    assert_eq!(
        (a.yields.sessions, a.yields.merged, a.yields.rejected),
        (4, 1, 2)
    );

    let nothing = PersonaStatus {
        persona: "b".into(),
        known: true,
        last: None,
        streak: 0,
        unwanted: 0,
        yields: Yield::default(),
    };
    assert_eq!(*b, nothing);

    assert_eq!((gone.known, gone.streak, gone.unwanted), (false, 1, 0));
    let LastTurn { outcome, at, .. } = gone.last.clone().unwrap();
    assert_eq!(outcome, Some(Outcome::Failed));
    assert_eq!(at, Some(start + MINUTE * 30));
}
