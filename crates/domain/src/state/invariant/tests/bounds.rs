//! Where a rule ends: what it still allows, what it no longer does, and what it says.

use super::*;
use crate::model::PullNumber;
use crate::state::HistoryEntry;

fn at(hour: u8) -> Option<jiff::Timestamp> {
    Some(format!("2026-01-05T{hour:02}:00:00Z").parse().unwrap())
}

fn violation_texts(broken: &[Violation]) -> Vec<String> {
    let lines = broken.iter();
    lines
        .map(|one| format!("{}: {one}", one.key_path()))
        .collect()
}

/// A second session of the third turn, as an entry of its own.
fn second_session(state: &State, duplicates: &[&str]) -> HistoryEntry {
    HistoryEntry {
        session_id: Some("1004".into()),
        duplicates: duplicates.iter().map(|&one| one.into()).collect(),
        ..state.history[&2].clone()
    }
}

#[test]
fn a_live_session_belongs_to_the_entry_that_has_it_as_its_own() {
    // An older entry named it as its duplicate before it had an entry.
    let mut named_before = sound_state();
    let entry = second_session(&named_before, &[]);
    named_before.history.insert(3, entry);
    let older = named_before.history.get_mut(&2).unwrap();
    older.duplicates = vec!["1004".into()];
    let live = turn(&mut named_before);
    (live.session_id, live.history_key) = (Some("1004".into()), Some(3));
    assert_eq!(check_state(&named_before), []);
    // A newer entry names it as its duplicate.
    let mut named_after = sound_state();
    let entry = second_session(&named_after, &["1003"]);
    named_after.history.insert(3, entry);
    assert_eq!(check_state(&named_after), []);
    // The turn must not stand at the entry that only names it.
    turn(&mut named_after).history_key = Some(3);
    let id = turn_id(3);
    assert_eq!(
        violation_texts(&check_state(&named_after)),
        [
            format!(
                "tracks.default.turns[\"\"].session_id: session 1003 belongs to the turn {id} and to the entry 2 (session_unique)"
            ),
            "tracks.default.turns[\"\"].history_key: entry 3 does not hold session 1003 (session_in_history)"
                .to_owned(),
        ]
    );
}

#[test]
fn only_what_lies_before_the_first_entry_is_archived() {
    let mut state = sound_state();
    state.history = state.history.split_off(&2);
    let entry = state.history.get_mut(&2).unwrap();
    entry.session_id = None;
    let rule = |state: &State| rules(&check_state(state));
    assert_eq!(rule(&state), ["session_in_history"]);
    turn(&mut state).history_key = Some(1);
    assert_eq!(rule(&state), [""; 0]);
    turn(&mut state).history_key = Some(3);
    assert_eq!(rule(&state), ["session_in_history"]);
    // So it is with news of the archive.
    turn(&mut state).history_key = Some(1);
    state.amendments = [(1, Amendment::default())].into();
    assert_eq!(rule(&state), [""; 0]);
    state.amendments.insert(2, Amendment::default());
    assert_eq!(
        violation_texts(&check_state(&state)),
        [
            "amendments.2: the amendment 2 speaks of no archived entry; the archive ends before 2 (amendment_archived)"
        ]
    );
}

#[test]
fn a_track_goes_only_with_its_finished_request() {
    let idle = TrackState::default();
    let busy = sound_state().tracks["default"].clone();
    for (name, track, goes) in [
        ("request:3", &idle, true),
        ("request:3", &busy, false),
        ("default", &idle, false),
        ("default", &busy, false),
    ] {
        let before = State {
            tracks: [(name.into(), track.clone())].into(),
            ..State::default()
        };
        let expected: &[&str] = if goes { &[] } else { &["track_kept"] };
        assert_eq!(rules(&check_step(&before, &State::default())), expected);
    }
}

#[test]
fn news_of_the_archive_are_only_completed() {
    let news = |outcome: Option<Outcome>, pull: Option<u64>, hour: Option<u8>, extra: &[u64]| {
        let extra = extra.iter().map(|&n| ("mood".to_owned(), n.into()));
        let amendment = Amendment {
            outcome,
            pr_number: pull.map(PullNumber),
            finished_at: hour.and_then(at),
            extra: extra.collect(),
        };
        let mut state = sound_state();
        state.history = state.history.split_off(&1);
        state.amendments = [(0, amendment)].into();
        state
    };
    let full = || news(Some(Outcome::Rejected), Some(7), Some(2), &[1]);
    let empty = || news(None, None, None, &[]);
    for (before, after, allowed) in [
        (full(), full(), true),
        (empty(), full(), true),
        (
            full(),
            news(Some(Outcome::Merged), Some(7), Some(3), &[1]),
            true,
        ),
        (
            full(),
            news(Some(Outcome::Failed), Some(7), Some(2), &[1]),
            false,
        ),
        (full(), news(None, Some(7), Some(2), &[1]), false),
        (
            full(),
            news(Some(Outcome::Rejected), Some(8), Some(2), &[1]),
            false,
        ),
        (
            full(),
            news(Some(Outcome::Rejected), None, Some(2), &[1]),
            false,
        ),
        (
            full(),
            news(Some(Outcome::Rejected), Some(7), Some(1), &[1]),
            false,
        ),
        (
            full(),
            news(Some(Outcome::Rejected), Some(7), Some(2), &[2]),
            false,
        ),
        (
            full(),
            news(Some(Outcome::Rejected), Some(7), Some(2), &[]),
            false,
        ),
    ] {
        let expected: &[&str] = if allowed { &[] } else { &["amendment_kept"] };
        let broken = check_step(&before, &after);
        assert_eq!(rules(&broken), expected, "{:?}", after.amendments);
    }
    let mut gone = full();
    gone.amendments.clear();
    assert_eq!(
        violation_texts(&check_step(&full(), &gone)),
        ["amendments.0: amendment 0: it is gone, and nothing was rotated (amendment_kept)"]
    );
}

#[test]
fn a_changed_key_of_an_entry_is_named() {
    let before = {
        let mut state = sound_state();
        let entry = entry(&mut state, 0);
        entry.extra.insert("mood".to_owned(), 1.into());
        state
    };
    let said = |change: fn(&mut HistoryEntry)| {
        let mut after = before.clone();
        change(entry(&mut after, 0));
        violation_texts(&check_step(&before, &after))
    };
    let only = |text: &str| vec![format!("history.0: entry 0: {text} (history_written_once)")];
    let completed = "was changed; what is written is only completed";
    assert_eq!(
        said(|entry| entry.finished_at = at(1)),
        only(&format!("`finished_at` {completed}"))
    );
    assert_eq!(said(|entry| entry.finished_at = at(9)), [""; 0]);
    assert_eq!(
        said(|entry| {
            entry.extra.insert("mood".to_owned(), 2.into());
        }),
        only("a key of another program was changed")
    );
    assert_eq!(
        said(|entry| {
            entry.extra.insert("more".to_owned(), 2.into());
        }),
        [""; 0]
    );
    assert_eq!(
        said(|entry| entry.outcome = None),
        only("the outcome `merged` was taken back")
    );
    assert_eq!(
        said(|entry| entry.outcome = Some(Outcome::Failed)),
        only("the outcome `merged` cannot become `failed`")
    );
    assert_eq!(
        said(|entry| entry.seq = None),
        only(&format!("`seq` {completed}"))
    );
}

#[test]
fn a_pointer_goes_forward_within_a_pass_and_begins_again_with_the_next() {
    let of = |passes: u64, index: Option<u64>, seq: u64| {
        let mut state = sound_state();
        let track = track(&mut state);
        track.turns.clear();
        (track.passes, track.index, track.seq) = (passes, index, seq);
        state
    };
    let before = of(1, Some(2), 3);
    for (after, says) in [
        (of(1, Some(2), 3), None),
        (of(1, Some(3), 4), None),
        (of(2, Some(0), 4), None),
        (of(2, None, 4), None),
        (
            of(1, Some(1), 4),
            Some("index: the index falls from 2 to 1 within one pass"),
        ),
        (
            of(1, None, 4),
            Some("index: the index falls from 2 to none within one pass"),
        ),
        (
            of(0, Some(1), 4),
            Some("passes: the number of passes falls from 1 to 0"),
        ),
        (
            of(2, Some(0), 2),
            Some("seq: the number of turns falls from 3 to 2"),
        ),
    ] {
        let expected = says.map(|says| format!("tracks.default.{says} (pointer_forward)"));
        let broken = violation_texts(&check_step(&before, &after));
        assert_eq!(broken, expected.as_slice(), "{:?}", after.tracks);
    }
    assert_eq!(check_step(&of(1, None, 3), &of(1, Some(0), 4)), []);
}

#[test]
fn a_turn_keeps_the_session_of_its_attempt() {
    let of = |id: u64, attempt: u32, session: Option<&str>| {
        let mut state = sound_state();
        let turn = turn(&mut state);
        turn.turn = turn_id(id);
        turn.attempt = attempt;
        turn.session_id = session.map(Into::into);
        state
    };
    let id = turn_id(3);
    let place = "tracks.default.turns[\"\"]: turn";
    for (before, after, says) in [
        (of(3, 2, None), of(3, 2, Some("1")), None),
        (of(3, 2, Some("1")), of(3, 2, Some("1")), None),
        (of(3, 2, Some("1")), of(3, 3, None), None),
        (of(3, 2, Some("1")), of(3, 3, Some("2")), None),
        (
            of(3, 2, Some("1")),
            of(3, 2, Some("2")),
            Some(format!(
                "{place} {id}: the session of attempt 2 was changed (session_written_once)"
            )),
        ),
        (
            of(3, 2, None),
            of(3, 1, None),
            Some(format!(
                "{place} {id}: attempt 1 comes after attempt 2 (attempt_forward)"
            )),
        ),
        // Another turn begins again.
        (of(3, 2, Some("1")), of(4, 1, None), None),
    ] {
        let broken = violation_texts(&check_step(&before, &after));
        assert_eq!(broken, says.as_slice());
    }
}

#[test]
fn an_entry_comes_back_neither_from_the_archive_nor_from_nowhere() {
    let mut archived = sound_state();
    archived.history = archived.history.split_off(&1);
    assert_eq!(
        violation_texts(&check_step(&archived, &sound_state())),
        ["history.0: entry 0 comes back from the archive, which ended before 1 (history_kept)"]
    );
    let mut gone = sound_state();
    gone.history = Default::default();
    let lost = |key: u64| format!("history.{key}: entry {key} is gone (history_kept)");
    assert_eq!(
        violation_texts(&check_step(&sound_state(), &gone)),
        [lost(0), lost(1), lost(2)]
    );
    let mut early = sound_state();
    early.history = early.history.split_off(&2);
    assert_eq!(
        violation_texts(&check_step(&sound_state(), &early)),
        ["history.1: entry 1 is archived before it is finished (history_kept)"]
    );
}
