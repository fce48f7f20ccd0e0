//! Which entries are one, where they stand, and what each side knows of them.

use super::*;

#[test]
fn entries_of_both_sides_stand_in_the_order_of_their_times() {
    let ours = history_of([
        (3, entry("b", Some("2"), Some(2))),
        (4, entry("d", Some("4"), Some(4))),
    ]);
    let theirs = history_of([
        // Below our first key lies the archive, which has this one already.
        (2, entry("z", Some("0"), Some(9))),
        (3, entry("a", Some("1"), Some(1))),
        (4, entry("b", Some("2"), Some(2))),
        (5, entry("c", Some("3"), Some(2))),
        (6, entry("e", Some("5"), None)),
        (7, entry("f", Some("6"), Some(5))),
    ]);
    let (state, remarks) = merged(&ours, &theirs);
    // Equal times keep ours first; an entry without a time comes last of those known by then.
    let expected: Vec<(u64, String)> = (3..)
        .zip(["a", "b", "c", "d", "f", "e"].map(str::to_owned))
        .collect();
    assert_eq!(order(&state), expected);
    assert_eq!(remarks, Vec::<String>::new());
    // A side that has nothing begins where the other does.
    let (state, _) = merged(&State::default(), &ours);
    assert_eq!(order(&state), order(&ours));
}

#[test]
fn a_live_turn_follows_its_entry_to_another_key() {
    let mut theirs = sound_state();
    theirs.tracks.clear();
    theirs.history = history_of([(0, entry("early", Some("9"), Some(0)))]).history;
    let (state, _) = merged(&sound_state(), &theirs);
    let live = &state.tracks["default"].turns[""];
    assert_eq!(state.history.len(), 4);
    assert_eq!(live.history_key, Some(3));
    assert_eq!(state.history[&3].session_id, live.session_id);
    // The same, where the other side alone knows the turn.
    let mut ours = sound_state();
    ours.tracks.clear();
    ours.history = theirs.history.clone();
    let (state, _) = merged(&ours, &sound_state());
    assert_eq!(state.tracks["default"].turns[""].history_key, Some(3));
}

#[test]
fn two_entries_are_the_same_by_session_or_else_by_attempt_or_else_by_moment() {
    let old = entry("a", None, Some(1));
    let with = |change: fn(&mut HistoryEntry)| {
        let mut entry = old.clone();
        change(&mut entry);
        entry
    };
    let session = with(|entry| entry.session_id = Some("1".into()));
    let turn = with(|entry| {
        entry.turn = Some(turn_id(1));
        entry.attempt = Some(1);
    });
    let again = with(|entry| {
        entry.turn = Some(turn_id(1));
        entry.attempt = Some(2);
    });
    let next = with(|entry| {
        entry.turn = Some(turn_id(2));
        entry.attempt = Some(1);
    });
    let other_session = with(|entry| entry.session_id = Some("2".into()));
    let other_persona = with(|entry| entry.persona_id = "b".into());
    let other_moment = with(|entry| entry.created_at = Some(at(2)));
    let known = with(|entry| {
        entry.session_id = Some("1".into());
        entry.turn = Some(turn_id(1));
        entry.attempt = Some(1);
        entry.persona_id = "b".into();
    });
    for (one, other, alike) in [
        (&session, &known, true),
        (&session, &other_session, false),
        (&turn, &known, true),
        (&turn, &again, false),
        (&turn, &next, false),
        (&turn, &old, false),
        (&old, &session, true),
        (&old, &other_persona, false),
        (&old, &other_moment, false),
    ] {
        assert_eq!(is_same_session(one, other), alike, "{one:?}\n{other:?}");
        assert_eq!(is_same_session(other, one), alike, "{other:?}\n{one:?}");
        assert!(is_same_session(one, one) && is_same_session(other, other));
    }
}

#[test]
fn an_entry_is_completed_by_what_the_other_side_knows() {
    let full = HistoryEntry {
        pr_number: Some(PullNumber(7)),
        base_sha: Some("4c1d".into()),
        note: Some("said".to_owned()),
        duplicates: vec!["8".into(), "9".into()],
        extra: [("mood".to_owned(), 1.into())].into_iter().collect(),
        ..sound_state().history[&0].clone()
    };
    let bare = HistoryEntry {
        track: None,
        ..entry("a", Some("1001"), None)
    };
    for (mut ours, theirs) in [(bare.clone(), &full), (full.clone(), &bare)] {
        assert_eq!(join_entry(&mut ours, theirs), Ok(()));
        assert_eq!(ours, full);
    }
    // Where both know something, ours stays; what is a list or a table becomes the union.
    let mut ours = HistoryEntry {
        note: Some("ours".to_owned()),
        duplicates: vec!["9".into(), "10".into()],
        extra: [("mood".to_owned(), 2.into()), ("ours".to_owned(), 3.into())]
            .into_iter()
            .collect(),
        ..bare
    };
    assert_eq!(join_entry(&mut ours, &full), Ok(()));
    assert_eq!(ours.note.as_deref(), Some("ours"));
    assert_eq!(ours.duplicates, ["9".into(), "10".into(), "8".into()]);
    let mut extra = full.extra.clone();
    extra.insert("mood".to_owned(), 2.into());
    extra.insert("ours".to_owned(), 3.into());
    assert_eq!(ours.extra, extra);
}

#[test]
fn the_older_side_does_not_change_the_outcome() {
    let of = |outcome: Outcome, pull: Option<u64>, hour: i64| HistoryEntry {
        outcome: Some(outcome),
        pr_number: pull.map(PullNumber),
        finished_at: Some(at(hour)),
        ..entry("a", Some("1"), Some(1))
    };
    let open = of(Outcome::PrOpen, Some(7), 2);
    let done = of(Outcome::Merged, None, 3);
    let both = of(Outcome::Merged, Some(7), 3);
    for (mut ours, theirs) in [(open.clone(), &done), (done.clone(), &open)] {
        assert_eq!(join_entry(&mut ours, theirs), Ok(()));
        assert_eq!(ours, both);
    }
    let mut failed = of(Outcome::Failed, None, 3);
    assert_eq!(
        join_entry(&mut failed, &open),
        Err("the outcome `failed` cannot become `pr_open`".to_owned())
    );
}
