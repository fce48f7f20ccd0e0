mod bounds;

use super::*;
use crate::model::RepositoryId;
use crate::state::fixtures::{REAL, sound_state, turn_id};
use crate::state::{Amendment, Outcome, Pause, State, TrackState, Turn, codec};

fn rules(broken: &[Violation]) -> Vec<&'static str> {
    broken.iter().map(|violation| violation.rule).collect()
}

fn turn(state: &mut State) -> &mut Turn {
    let track = state.tracks.get_mut("default").unwrap();
    track.turns.get_mut("").unwrap()
}

fn track(state: &mut State) -> &mut TrackState {
    state.tracks.get_mut("default").unwrap()
}

type Breaking = (&'static str, &'static str, fn(&mut State));

#[test]
fn sound_states_break_nothing() {
    assert_eq!(check_state(&sound_state()), []);
    assert_eq!(check_state(&State::default()), []);
    for text in REAL {
        assert_eq!(check_state(&codec::load(text).unwrap().state), []);
    }
}

#[test]
fn every_rule_of_a_state_is_checked() {
    let breaking: &[Breaking] = &[
        ("history_consecutive", "history.2", |s| {
            without(s, 1);
        }),
        ("history_consecutive", "history.18446744073709551615", |s| {
            let entry = s.history[&0].clone();
            s.history = [(u64::MAX, entry)].into();
            s.tracks.clear();
        }),
        ("amendment_archived", "amendments.0", |s| {
            s.amendments.insert(0, Amendment::default());
        }),
        ("session_unique", "history.1.session_id", |s| {
            s.history.get_mut(&1).unwrap().session_id = Some("1001".into());
        }),
        ("session_unique", "history.1.session_id", |s| {
            s.history
                .get_mut(&1)
                .unwrap()
                .duplicates
                .push("1001".into());
        }),
        // An old entry does not lend its session to a turn of ours.
        ("session_unique", "history.1.session_id", |s| {
            let old = s.history.get_mut(&0).unwrap();
            old.turn = None;
            old.session_id = Some("1002".into());
        }),
        (
            "session_unique",
            "tracks.default.turns[\"x\"].session_id",
            |s| {
                let mut other = turn(s).clone();
                other.turn = crate::model::TurnId::derive(
                    "9f3c5a0e77b1",
                    RepositoryId(7),
                    &"default".into(),
                    3,
                    &"x".into(),
                );
                track(s).turns.insert("x".into(), other);
            },
        ),
        ("turn_derived", "tracks.default.turns[\"\"].turn", |s| {
            turn(s).turn = turn_id(2)
        }),
        ("turn_derived", "tracks.default.turns[\"\"].turn", |s| {
            track(s).seq = 4
        }),
        ("turn_derived", "tracks.default.turns[\"\"].turn", |s| {
            s.genesis = None
        }),
        ("turn_derived", "tracks.default.turns[\"\"].turn", |s| {
            s.genesis.as_mut().unwrap().nonce = "000000000000".to_owned();
        }),
        ("turn_derived", "tracks.default.turns[\"\"].turn", |s| {
            s.genesis.as_mut().unwrap().repository_id = RepositoryId(8);
        }),
        (
            "attempt_counted",
            "tracks.default.turns[\"\"].attempt",
            |s| turn(s).attempt = 0,
        ),
        (
            "intent_before_session",
            "tracks.default.turns[\"\"].session_id",
            |s| turn(s).intent = None,
        ),
        (
            "session_in_history",
            "tracks.default.turns[\"\"].history_key",
            |s| {
                s.history.get_mut(&2).unwrap().session_id = None;
            },
        ),
        (
            "session_in_history",
            "tracks.default.turns[\"\"].history_key",
            |s| {
                turn(s).session_id = Some("1009".into());
            },
        ),
        ("budget_sorted", "budget.created", |s| {
            s.budget.created.reverse()
        }),
    ];
    for (index, (rule, path, breaks)) in breaking.iter().enumerate() {
        let mut state = sound_state();
        breaks(&mut state);
        let broken = check_state(&state);
        assert_eq!(rules(&broken), [*rule], "case {index}: {broken:?}");
        assert_eq!(
            broken[0].key_path().replace("turns.x", "turns[\"x\"]"),
            *path,
            "case {index}"
        );
        assert!(broken[0].to_string().ends_with(&format!("({rule})")));
    }
    let mut lost = sound_state();
    turn(&mut lost).history_key = None;
    assert!(rules(&check_state(&lost)).contains(&"session_in_history"));
}

#[test]
fn what_only_looks_broken_is_sound() {
    let harmless: &[fn(&mut State)] = &[
        // A duplicate has an entry of its own.
        |s| {
            let mut duplicate = s.history[&2].clone();
            duplicate.session_id = Some("1004".into());
            duplicate.outcome = Some(Outcome::Duplicate);
            s.history.insert(3, duplicate);
            s.history
                .get_mut(&2)
                .unwrap()
                .duplicates
                .push("1004".into());
        },
        // A second attempt is still to be started.
        |s| {
            let turn = turn(s);
            turn.attempt = 2;
            turn.session_id = None;
            turn.intent = None;
        },
        // Its entry is archived.
        |s| {
            s.history = s.history.split_off(&2);
            turn(s).history_key = Some(1);
            s.history.get_mut(&2).unwrap().session_id = None;
            s.amendments.insert(1, Amendment::default());
        },
    ];
    for (index, change) in harmless.iter().enumerate() {
        let mut state = sound_state();
        change(&mut state);
        assert_eq!(check_state(&state), [], "case {index}");
    }
}

#[test]
fn every_rule_of_a_step_is_checked() {
    let breaking: &[Breaking] = &[
        ("genesis_kept", "genesis", |s| s.genesis = None),
        ("genesis_kept", "genesis", |s| {
            s.genesis.as_mut().unwrap().nonce = "0".to_owned()
        }),
        ("history_kept", "history.2", |s| {
            without(s, 2);
        }),
        // Not finished, so not to be archived.
        ("history_kept", "history.1", |s| {
            s.history = s.history.split_off(&2)
        }),
        ("history_written_once", "history.0", |s| {
            entry(s, 0).outcome = Some(Outcome::Rejected)
        }),
        ("history_written_once", "history.0", |s| {
            entry(s, 0).outcome = None
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).outcome = Some(Outcome::Failed)
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).pr_number = None
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).persona_id = "b".into()
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).session_id = Some("9".into())
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).created_at = None
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).track = Some("x".into())
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).turn = None
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).seq = Some(9)
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).slot = Some("x".into())
        }),
        ("history_written_once", "history.1", |s| {
            entry(s, 1).attempt = Some(2)
        }),
        ("history_written_once", "history.0", |s| {
            entry(s, 0).finished_at = None
        }),
        ("track_kept", "tracks.default", |s| s.tracks.clear()),
        ("pointer_forward", "tracks.default.seq", |s| {
            track(s).seq = 2
        }),
        ("pointer_forward", "tracks.default.passes", |s| {
            track(s).passes = 0
        }),
        ("pointer_forward", "tracks.default.index", |s| {
            track(s).index = Some(1)
        }),
        ("pointer_forward", "tracks.default.index", |s| {
            track(s).index = None
        }),
        ("session_written_once", "tracks.default.turns[\"\"]", |s| {
            turn(s).session_id = None
        }),
    ];
    for (index, (rule, path, breaks)) in breaking.iter().enumerate() {
        let before = sound_state();
        let mut after = before.clone();
        breaks(&mut after);
        let broken = check_step(&before, &after);
        assert_eq!(rules(&broken), [*rule], "case {index}: {broken:?}");
        assert_eq!(broken[0].key_path(), *path, "case {index}");
    }
}

/// The history never takes an entry out; a broken file can lack one all the same.
fn without(state: &mut State, key: u64) {
    let entries = std::mem::take(&mut state.history).into_iter();
    state.history = entries.filter(|(other, _)| *other != key).collect();
}

fn entry(state: &mut State, key: u64) -> &mut crate::state::HistoryEntry {
    state.history.get_mut(&key).unwrap()
}

#[test]
fn more_rules_of_a_step() {
    let mut before = sound_state();
    turn(&mut before).attempt = 2;
    let mut after = before.clone();
    turn(&mut after).attempt = 1;
    assert_eq!(rules(&check_step(&before, &after)), ["attempt_forward"]);

    let mut before = sound_state();
    entry(&mut before, 0)
        .extra
        .insert("mood".to_owned(), 1.into());
    entry(&mut before, 0).duplicates.push("77".into());
    let mut after = before.clone();
    entry(&mut after, 0).extra.clear();
    assert_eq!(
        rules(&check_step(&before, &after)),
        ["history_written_once"]
    );
    let mut after = before.clone();
    entry(&mut after, 0).duplicates.clear();
    assert_eq!(
        rules(&check_step(&before, &after)),
        ["history_written_once"]
    );
    let mut before = sound_state();
    entry(&mut before, 0).base_sha = Some("4c1d".into());
    assert_eq!(
        rules(&check_step(&before, &sound_state())),
        ["history_written_once"]
    );

    let mut archived = sound_state();
    let all = std::mem::take(&mut archived.history);
    archived.history = all
        .range(1..)
        .map(|(key, entry)| (*key, entry.clone()))
        .collect();
    assert_eq!(check_step(&sound_state(), &archived), []);
    assert_eq!(
        rules(&check_step(&archived, &sound_state())),
        ["history_kept"]
    );

    let news = |outcome| Amendment {
        outcome: Some(outcome),
        pr_number: Some(crate::model::PullNumber(3)),
        ..Amendment::default()
    };
    let mut before = archived.clone();
    before.amendments.insert(0, news(Outcome::Merged));
    assert_eq!(rules(&check_step(&before, &archived)), ["amendment_kept"]);
    let mut after = archived.clone();
    after.amendments.insert(0, news(Outcome::Rejected));
    assert_eq!(rules(&check_step(&before, &after)), ["amendment_kept"]);
    after.amendments.insert(
        0,
        Amendment {
            pr_number: None,
            ..news(Outcome::Merged)
        },
    );
    assert_eq!(rules(&check_step(&before, &after)), ["amendment_kept"]);
    entry(&mut before, 1).outcome = Some(Outcome::Merged);
    let mut rotated = before.clone();
    rotated.amendments.clear();
    without(&mut rotated, 1);
    assert_eq!(check_step(&before, &rotated), [], "folded in by a rotation");
}

#[test]
fn allowed_steps_pass() {
    let allowed: &[fn(&mut State)] = &[
        |_| {},
        |s| entry(s, 1).outcome = Some(Outcome::Merged),
        |s| entry(s, 1).outcome = Some(Outcome::Rejected),
        |s| entry(s, 2).outcome = Some(Outcome::NoOutput),
        |s| entry(s, 2).pr_number = Some(crate::model::PullNumber(9)),
        |s| entry(s, 2).duplicates.push("1009".into()),
        |s| entry(s, 2).note = Some("said".to_owned()),
        |s| {
            track(s).index = Some(0);
            track(s).passes = 2;
        },
        |s| {
            track(s).seq = 4;
            track(s).index = Some(3);
            track(s).turns = [("".into(), Turn::new(turn_id(4), "b".into()))].into();
        },
        |s| {
            turn(s).attempt = 2;
            turn(s).session_id = None;
            turn(s).intent = None;
        },
        |s| {
            s.tracks.insert("request:3".into(), TrackState::default());
        },
        |s| s.paused = Some(Pause::default()),
        |s| s.budget.created.clear(),
    ];
    for (index, change) in allowed.iter().enumerate() {
        let before = sound_state();
        let mut after = before.clone();
        change(&mut after);
        assert_eq!(check_step(&before, &after), [], "case {index}");
        assert_eq!(check_state(&after), [], "case {index}");
    }
    let mut before = sound_state();
    before
        .tracks
        .insert("request:3".into(), TrackState::default());
    assert_eq!(check_step(&before, &sound_state()), []);
    let mut rejected = sound_state();
    entry(&mut rejected, 1).outcome = Some(Outcome::Rejected);
    let mut merged = sound_state();
    entry(&mut merged, 1).outcome = Some(Outcome::Merged);
    assert_eq!(check_step(&rejected, &merged), []);
    assert_eq!(
        rules(&check_step(&merged, &rejected)),
        ["history_written_once"]
    );
    let mut unborn = sound_state();
    unborn.genesis = None;
    assert_eq!(check_step(&unborn, &sound_state()), []);
}

#[test]
fn a_person_may_set_the_pointer_of_one_track_but_not_its_number() {
    let before = sound_state();
    let mut after = before.clone();
    track(&mut after).index = Some(0);
    track(&mut after).passes = 0;
    assert_eq!(check_track_set(&before, &after, &"default".into()), []);
    assert_eq!(
        rules(&check_track_set(&before, &after, &"other".into())),
        ["pointer_forward"]
    );
    track(&mut after).seq = 1;
    assert_eq!(
        rules(&check_track_set(&before, &after, &"default".into())),
        ["pointer_forward"]
    );
}
