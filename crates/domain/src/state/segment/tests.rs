mod archive;

use super::*;
use std::collections::BTreeMap;

use crate::model::PullNumber;
use crate::state::codec::load;
use crate::state::invariant::{check_state, check_step};
use crate::state::{Amendment, History, HistoryEntry, Outcome, State, codec};

fn rotate(state: &mut State, limit: usize) -> BTreeMap<String, String> {
    super::rotate(state, None, limit, 1)
}

fn state_of(entries: u64) -> State {
    let entry = |key: u64| {
        format!(
            r#""{key}": {{"persona_id": "a", "session_id": "s{key}", "turn": "k3v9w2m1q8z{}", "outcome": "rejected"}}"#,
            key % 10
        )
    };
    let entries: Vec<String> = (0..entries).map(entry).collect();
    let text = format!(r#"{{"version": 5, "history": {{{}}}}}"#, entries.join(","));
    load(&text).unwrap().state
}

/// More entries, each as the last one.
fn add(state: &mut State, count: u64) {
    let last = state.history.last_key_value().unwrap().1.clone();
    for _ in 0..count {
        let key = state.next_history_key();
        let session_id = Some(format!("s{key}").into());
        let entry = HistoryEntry {
            session_id,
            ..last.clone()
        };
        state.history.insert(key, entry);
    }
}

fn merged(pull: u64) -> Amendment {
    Amendment {
        outcome: Some(Outcome::Merged),
        pr_number: Some(PullNumber(pull)),
        ..Amendment::default()
    }
}

#[test]
fn nothing_moves_up_to_the_limit() {
    let mut state = state_of(5);
    assert!(rotate(&mut state, 5).is_empty());
    assert_eq!(state, state_of(5));
}

#[test]
fn the_oldest_finished_run_moves_and_one_entry_stays() {
    let before = state_of(6);
    let mut state = before.clone();
    let files = rotate(&mut state, 5);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [".jules/history/0-4.json"]
    );
    assert_eq!(state.history.keys().copied().collect::<Vec<_>>(), [5]);
    assert_eq!(state.next_history_key(), 6);
    assert_eq!(check_step(&before, &state), []);
    assert_eq!(check_archive(&state, &files), []);
}

#[test]
fn an_unfinished_entry_keeps_what_follows() {
    let mut state = state_of(8);
    state.history.get_mut(&3).unwrap().outcome = Some(Outcome::PrOpen);
    let files = rotate(&mut state, 5);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [".jules/history/0-2.json"]
    );
    assert_eq!(state.history.len(), 5);
    state.history.get_mut(&3).unwrap().outcome = None;
    assert!(rotate(&mut state, 4).is_empty());
}

/// The commit that archives an entry is not the one that settles it.
#[test]
fn an_entry_that_was_open_in_the_last_commit_stays_for_one_more() {
    let mut before = state_of(8);
    before.history.get_mut(&0).unwrap().outcome = Some(Outcome::PrOpen);
    let mut state = before.clone();
    state.history.get_mut(&0).unwrap().outcome = Some(Outcome::Merged);
    assert!(super::rotate(&mut state, Some(&before), 5, 1).is_empty());
    assert_eq!(check_step(&before, &state), []);
    let settled = state.clone();
    assert_eq!(super::rotate(&mut state, Some(&settled), 5, 1).len(), 1);
    assert_eq!(check_step(&settled, &state), []);
}

#[test]
fn the_newest_entries_stay() {
    let mut state = state_of(12);
    let files = super::rotate(&mut state, None, 8, 5);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [".jules/history/0-6.json"]
    );
    assert_eq!(state.history.len(), 5);
}

#[test]
fn an_old_ledger_is_cut_into_segments_of_their_full_length() {
    let mut state = state_of(1201);
    let files = rotate(&mut state, HISTORY_SEGMENT);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [".jules/history/0-499.json", ".jules/history/500-999.json"]
    );
    assert_eq!(state.history.len(), 201);
    assert_eq!(check_archive(&state, &files), []);
}

#[test]
fn an_archived_rejection_is_watched_and_its_merge_is_kept() {
    let mut state = state_of(6);
    for key in [0, 2] {
        let entry = state.history.get_mut(&key).unwrap();
        entry.pr_number = Some(PullNumber(7 + key));
    }
    let before = state.clone();
    let archive = rotate(&mut state, 5);
    assert_eq!(check_step(&before, &state), []);
    // Those without a pull request cannot be merged.
    assert_eq!(state.amendments.keys().copied().collect::<Vec<_>>(), [0, 2]);
    amend(&mut state, 2, &merged(9)).unwrap();
    assert_eq!(state.amendments[&2], merged(9));
    assert_eq!(check_state(&state), []);
    assert_eq!(check_archive(&state, &archive), []);
    assert_eq!(load(&codec::save(&state)).unwrap().state, state);
}

#[test]
fn only_a_rejected_pull_request_is_watched() {
    let mut state = state_of(6);
    for (key, outcome, pull) in [
        (0, Outcome::Merged, Some(7)),
        (1, Outcome::Rejected, None),
        (2, Outcome::Rejected, Some(8)),
        (3, Outcome::Failed, Some(9)),
    ] {
        let entry = state.history.get_mut(&key).unwrap();
        (entry.outcome, entry.pr_number) = (Some(outcome), pull.map(PullNumber));
    }
    rotate(&mut state, 5);
    let watched = Amendment {
        outcome: Some(Outcome::Rejected),
        ..merged(8)
    };
    assert_eq!(state.amendments, [(2, watched)].into());
}

#[test]
fn a_ledger_that_is_not_rotated_forgets_nothing() {
    let watched = REJECTIONS_TRACKED as u64 + 5;
    let mut state = state_of(watched + 3);
    for key in 0..watched {
        state.history.get_mut(&key).unwrap().pr_number = Some(PullNumber(key));
        state.amendments.insert(
            key,
            Amendment {
                outcome: Some(Outcome::Rejected),
                ..Amendment::default()
            },
        );
    }
    state.history = state.history.split_off(&watched);
    let before = state.clone();
    assert!(rotate(&mut state, 3).is_empty());
    assert_eq!(state, before);
    // Two more are taken by the next rotation, none of them with a pull request.
    rotate(&mut state, 2);
    assert_eq!(state.amendments.len(), REJECTIONS_TRACKED);
    assert_eq!(state.amendments.first_key_value().unwrap().0, &5);
}

#[test]
fn only_the_newest_rejections_are_watched_and_news_are_kept() {
    let entries = REJECTIONS_TRACKED as u64 + 5;
    let mut state = state_of(entries);
    for key in 0..entries {
        state.history.get_mut(&key).unwrap().pr_number = Some(PullNumber(key));
    }
    rotate(&mut state, 4);
    let watched = |state: &State| state.amendments.keys().copied().collect::<Vec<_>>();
    let newest: Vec<u64> = (4..entries - 1).collect();
    assert_eq!(watched(&state), newest);
    amend(&mut state, 4, &merged(4)).unwrap();
    add(&mut state, 5);
    let before = state.clone();
    rotate(&mut state, 4);
    assert_eq!(check_step(&before, &state), []);
    assert_eq!(state.amendments.len(), REJECTIONS_TRACKED + 1);
    assert_eq!(state.amendments[&4], merged(4));
}

#[test]
fn amendments_follow_the_allowed_outcomes() {
    let mut state = state_of(6);
    amend(&mut state, 5, &merged(7)).unwrap();
    assert_eq!(state.history[&5].outcome, Some(Outcome::Merged));
    rotate(&mut state, 5);
    amend(&mut state, 1, &merged(7)).unwrap();
    let back = Amendment {
        outcome: Some(Outcome::Rejected),
        ..Amendment::default()
    };
    let refused = amend(&mut state, 1, &back).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "entry 1: the outcome `merged` cannot become `rejected`"
    );
    let other_pull = Amendment {
        pr_number: Some(PullNumber(8)),
        ..Amendment::default()
    };
    assert!(amend(&mut state, 1, &other_pull).is_err());
    assert_eq!(
        amend(&mut state, 6, &back).unwrap_err(),
        AmendError::Unknown { key: 6 }
    );
    assert_eq!(state.amendments.len(), 1);
}

#[test]
fn an_amendment_that_contradicts_its_entry_is_named() {
    let mut state = state_of(6);
    state.history.get_mut(&0).unwrap().outcome = Some(Outcome::Failed);
    let archive = rotate(&mut state, 5);
    state.amendments.insert(0, merged(7));
    let said = check_archive(&state, &archive);
    assert_eq!(said.len(), 1);
    assert_eq!(
        said[0].message,
        "entry 0: the outcome `failed` cannot become `merged`"
    );
}

#[test]
fn an_entry_that_a_live_turn_needs_stays() {
    let text = r#"{"version": 5, "genesis": {"repository_id": 7, "born_at": "2026-01-05T00:00:00Z", "nonce": "n"},
        "history": {"0": {"persona_id": "a", "session_id": "1"}, "1": {"persona_id": "a", "session_id": "2"}},
        "tracks": {"default": {"seq": 1, "turns": {"": {"turn": "TURN", "attempt": 2, "persona_id": "a", "history_key": 0}}}}}"#;
    let turn = crate::model::TurnId::derive(
        "n",
        crate::model::RepositoryId(7),
        &"default".into(),
        1,
        &"".into(),
    );
    let mut state = load(&text.replace("TURN", turn.as_str())).unwrap().state;
    assert!(rotate(&mut state, 1).is_empty());
}

#[test]
fn gaps_and_overlaps_are_named() {
    let mut state = state_of(31);
    let mut files = BTreeMap::new();
    let all = std::mem::take(&mut state.history);
    for (first, last) in [(0, 9), (10, 19), (20, 29)] {
        let entries = all
            .range(first..=last)
            .map(|(k, e)| (*k, e.clone()))
            .collect();
        let segment = Segment {
            entries,
            ..Segment::default()
        };
        files.insert(segment_path(first, last), save_segment(&segment));
    }
    state.history.insert(30, all[&30].clone());
    assert_eq!(check_archive(&state, &files), []);

    let mut lost = files.clone();
    lost.remove(&segment_path(10, 19));
    let said = check_archive(&state, &lost);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].message, "the entries 10 to 19 are missing");

    let mut cut = files.clone();
    cut.remove(&segment_path(20, 29));
    assert_eq!(
        check_archive(&state, &cut)[0].message,
        "the entries 20 to 29 are missing"
    );

    let mut twice = state.clone();
    twice.history.insert(29, all[&29].clone());
    assert_eq!(check_archive(&twice, &files).len(), 1);

    let mut renamed = files.clone();
    let text = renamed.remove(&segment_path(10, 19)).unwrap();
    renamed.insert(segment_path(10, 18), text);
    assert!(check_archive(&state, &renamed).len() >= 2);

    state.history = History::default();
    assert_eq!(check_archive(&state, &files).len(), 1);
    assert_eq!(check_archive(&State::default(), &BTreeMap::new()), []);
}

#[test]
fn a_segment_keeps_unknown_keys_and_its_shape() {
    let text = "{\n  \"version\": 1,\n  \"first\": 3,\n  \"last\": 3,\n  \"entries\": {\n    \"3\": {\n      \"persona_id\": \"a\",\n      \"session_id\": null,\n      \"pr_number\": null,\n      \"created_at\": null,\n      \"track\": null,\n      \"mood\": 1.5\n    }\n  },\n  \"colour\": \"red\"\n}\n";
    let segment = load_segment(".jules/history/3-3.json", text).unwrap();
    assert_eq!(save_segment(&segment), text);
}

#[test]
fn wrong_segments_are_refused() {
    let good = r#"{"version":1,"first":0,"last":0,"entries":{"0":{"persona_id":"a"}}}"#;
    let path = ".jules/history/0-0.json";
    assert!(load_segment(path, good).is_ok());
    for (path, text) in [
        (".jules/history/0-1.json", good.to_owned()),
        (".jules/history/00-0.json", good.to_owned()),
        (".jules/history/x.json", good.to_owned()),
        (path, good.replace("\"version\":1", "\"version\":2")),
        (path, good.replace("\"version\":1,", "")),
        (path, good.replace("\"0\":", "\"1\":")),
        (path, good.replace("\"persona_id\":\"a\"", "")),
        (path, "[]".to_owned()),
        (path, String::new()),
    ] {
        assert!(load_segment(path, &text).is_err(), "{path} {text}");
    }
    assert_eq!(parse_segment_path(".jules/history/9-3.json"), None);
    assert_eq!(parse_segment_path("x/9-30.json"), None);
}

#[test]
fn a_rotated_state_survives_its_file() {
    let mut state = state_of(6);
    rotate(&mut state, 5);
    amend(&mut state, 0, &merged(7)).unwrap();
    assert_eq!(load(&codec::save(&state)).unwrap().state, state);
}
