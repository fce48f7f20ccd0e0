//! What each side gives to the state that both become.

mod entries;
mod tracked_pull;

use jiff::Timestamp;

use super::*;
use crate::model::{PersonaId, PullNumber};
use crate::state::fixtures::{sound_state, turn_id};
use crate::state::invariant::check_state;
use crate::state::{
    BudgetState, Outcome, Pause, PersonaState, RequestState, ScheduleState, TrackState, Turn,
};

fn at(hour: i64) -> Timestamp {
    let day: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
    day + jiff::SignedDuration::from_hours(hour)
}

/// An entry of an older program, created at an hour.
fn entry(persona: &str, session: Option<&str>, hour: Option<i64>) -> HistoryEntry {
    HistoryEntry {
        persona_id: persona.into(),
        session_id: session.map(Into::into),
        created_at: hour.map(at),
        turn: None,
        seq: None,
        slot: None,
        attempt: None,
        outcome: None,
        finished_at: None,
        ..sound_state().history[&0].clone()
    }
}

fn history_of(entries: impl IntoIterator<Item = (u64, HistoryEntry)>) -> State {
    State {
        history: entries.into_iter().collect(),
        ..State::default()
    }
}

fn order(state: &State) -> Vec<(u64, String)> {
    let history = state.history.iter();
    history
        .map(|(key, entry)| (*key, entry.persona_id.to_string()))
        .collect()
}

fn merged(ours: &State, theirs: &State) -> (State, Vec<String>) {
    let mut state = ours.clone();
    let remarks = merge_states(&mut state, theirs);
    (state, remarks)
}

#[test]
fn news_of_the_archive_are_brought_together_in_the_same_way() {
    let news = |outcome: Option<Outcome>, pull: Option<u64>| Amendment {
        outcome,
        pr_number: pull.map(PullNumber),
        ..Amendment::default()
    };
    let side = |amendments: &[(u64, Amendment)]| State {
        amendments: amendments.iter().cloned().collect(),
        ..history_of([(5, entry("a", Some("1"), Some(1)))])
    };
    let ours = side(&[
        (0, news(Some(Outcome::Rejected), None)),
        (1, news(Some(Outcome::Merged), None)),
        (2, news(Some(Outcome::Failed), None)),
    ]);
    let theirs = side(&[
        (0, news(Some(Outcome::Merged), Some(6))),
        (1, news(Some(Outcome::Rejected), Some(7))),
        (2, news(Some(Outcome::Merged), None)),
        (4, news(None, Some(8))),
        // Not archived on our side.
        (5, news(None, Some(9))),
    ]);
    let (state, remarks) = merged(&ours, &theirs);
    let expected = side(&[
        (0, news(Some(Outcome::Merged), Some(6))),
        (1, news(Some(Outcome::Merged), Some(7))),
        (2, news(Some(Outcome::Failed), None)),
        (4, news(None, Some(8))),
    ]);
    assert_eq!(state.amendments, expected.amendments);
    assert_eq!(
        remarks,
        ["amendment 2: the outcome `failed` cannot become `merged`"]
    );
}

fn track(session: &str, hour: Option<i64>, seq: u64) -> TrackState {
    TrackState {
        session_id: Some(session.into()),
        updated_at: hour.map(at),
        seq,
        ..TrackState::default()
    }
}

#[test]
fn the_newer_pointer_of_a_track_wins_and_its_numbers_never_come_back() {
    let side = |track: TrackState| State {
        tracks: [("quality".into(), track)].into(),
        genesis: sound_state().genesis,
        ..State::default()
    };
    let live = |mut track: TrackState| {
        track.turns = [("".into(), Turn::new(turn_id(3), "a".into()))].into();
        track
    };
    for (ours, theirs, session, seq) in [
        (track("1", Some(1), 9), track("2", Some(2), 3), "2", 9),
        (track("1", Some(2), 3), track("2", Some(1), 9), "1", 9),
        (track("1", Some(1), 3), track("2", Some(1), 4), "1", 4),
        (track("1", None, 3), track("2", Some(1), 2), "2", 3),
        // A live turn's number is part of its id.
        (live(track("1", Some(2), 3)), track("2", Some(1), 9), "1", 3),
        (track("1", Some(1), 9), live(track("2", Some(2), 3)), "2", 3),
    ] {
        let (state, _) = merged(&side(ours.clone()), &side(theirs.clone()));
        let track = &state.tracks["quality"];
        assert_eq!(
            track.session_id,
            Some(session.into()),
            "{ours:?} {theirs:?}"
        );
        assert_eq!(track.seq, seq, "{ours:?} {theirs:?}");
    }
    // The past brings back what is gone, and moves nothing.
    let mut state = side(track("1", Some(1), 3));
    let mut past = side(track("2", Some(2), 4));
    past.tracks.insert("gone".into(), track("3", Some(1), 5));
    past.sprint = Some(8);
    merge_earlier(&mut state, &past);
    assert_eq!(state.tracks["quality"], track("1", Some(1), 4));
    assert_eq!(state.tracks["gone"], track("3", Some(1), 5));
    assert_eq!(state.sprint, None);
}

#[test]
fn tracks_that_stand_elsewhere_are_named_once() {
    let side = |tracks: &[(&str, TrackState)]| State {
        tracks: tracks
            .iter()
            .map(|(name, track)| ((*name).into(), track.clone()))
            .collect(),
        ..State::default()
    };
    let one = side(&[
        ("same", track("1", Some(1), 1)),
        ("moved", track("2", Some(1), 1)),
        ("gone", track("3", Some(1), 1)),
    ]);
    let other = side(&[
        ("same", track("1", Some(9), 9)),
        ("moved", track("4", Some(1), 1)),
        ("new", track("5", Some(1), 1)),
    ]);
    let moved: Vec<_> = moved_tracks(&one, &other).collect();
    assert_eq!(
        moved,
        [
            (
                &"moved".into(),
                Some(&track("2", Some(1), 1)),
                &track("4", Some(1), 1)
            ),
            (&"new".into(), None, &track("5", Some(1), 1)),
        ]
    );
}

/// A side in which everything beside history and tracks says something, at an hour.
fn busy(name: &str, hour: i64) -> State {
    let number = hour.unsigned_abs();
    let persona = PersonaState {
        no_output_streak: 1,
        rests_until_pass: Some(number),
        ..PersonaState::default()
    };
    State {
        genesis: sound_state().genesis,
        schedules: [(
            "both".to_owned(),
            ScheduleState {
                last_fired: Some(at(hour)),
                ..ScheduleState::default()
            },
        )]
        .into(),
        personas: [("both".into(), persona.clone()), (name.into(), persona)].into(),
        published: [("both".to_owned(), number), (name.to_owned(), number)].into(),
        budget: BudgetState {
            created: vec![at(0), at(hour)],
            paused_until: Some(at(hour)),
            reason: Some(name.to_owned()),
            quota_failures: 10 - u32::try_from(number).unwrap(),
            ..BudgetState::default()
        },
        cursors: crate::state::Cursors {
            comments_since: Some(at(hour)),
            ..Default::default()
        },
        dashboard_issue: Some(number),
        sprint: Some(number),
        paused: Some(Pause {
            by: Some(name.to_owned()),
            ..Pause::default()
        }),
        extra: [
            ("both".to_owned(), name.into()),
            (name.to_owned(), name.into()),
        ]
        .into_iter()
        .collect(),
        ..State::default()
    }
}

#[test]
fn of_everything_else_the_more_careful_side_counts() {
    let (one, two) = (busy("one", 1), busy("two", 2));
    for (ours, theirs, name, number) in [(&one, &two, "one", 1), (&two, &one, "two", 2)] {
        let (state, remarks) = merged(ours, theirs);
        assert_eq!(remarks, Vec::<String>::new());
        let persona = |name: &str| ours.personas.get(name).or(theirs.personas.get(name));
        let expected = State {
            genesis: sound_state().genesis,
            schedules: two.schedules.clone(),
            personas: ["both", "one", "two"]
                .map(|name| (PersonaId::from(name), persona(name).unwrap().clone()))
                .into(),
            published: [("both", number), ("one", 1), ("two", 2)]
                .map(|(name, number)| (name.to_owned(), number))
                .into(),
            budget: BudgetState {
                created: vec![at(0), at(1), at(2)],
                quota_failures: 9,
                ..two.budget.clone()
            },
            cursors: one.cursors.clone(),
            dashboard_issue: Some(number),
            sprint: Some(2),
            paused: ours.paused.clone(),
            extra: [("both", name), ("one", "one"), ("two", "two")]
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.into()))
                .collect(),
            ..State::default()
        };
        assert_eq!(state, expected);
    }
    // A side that says nothing changes nothing, and one that has nothing takes everything.
    let nothing = State::default();
    assert_eq!(merged(&one, &nothing), (one.clone(), Vec::new()));
    assert_eq!(merged(&nothing, &one), (one.clone(), Vec::new()));
    // Where both pauses end together, our reason stays.
    let mut alike = one.clone();
    alike.budget.reason = Some("theirs".to_owned());
    assert_eq!(merged(&one, &alike).0, one);
}

#[test]
fn a_request_that_was_finished_on_one_side_is_finished() {
    let request = |outcome: &str, finished: Option<i64>| RequestState {
        outcome: Some(outcome.to_owned()),
        finished_at: finished.map(at),
        ..RequestState::default()
    };
    let side = |request: RequestState| State {
        requests: [("LE_1".to_owned(), request)].into(),
        ..State::default()
    };
    for (ours, theirs, kept) in [
        (("one", None), ("two", Some(1)), "two"),
        (("one", Some(1)), ("two", None), "one"),
        (("one", Some(1)), ("two", Some(2)), "one"),
        (("one", None), ("two", None), "one"),
    ] {
        let ours = side(request(ours.0, ours.1));
        let (state, _) = merged(&ours, &side(request(theirs.0, theirs.1)));
        let outcome = state.requests["LE_1"].outcome.as_deref();
        assert_eq!(outcome, Some(kept));
    }
    let (state, _) = merged(&State::default(), &side(request("two", None)));
    assert_eq!(state.requests["LE_1"], request("two", None));
}

#[test]
fn two_geneses_are_reported() {
    let mut theirs = sound_state();
    theirs.genesis.as_mut().unwrap().nonce = "000000000000".to_owned();
    let (state, remarks) = merged(&sound_state(), &theirs);
    assert_eq!(state.genesis, sound_state().genesis);
    assert_eq!(
        remarks,
        [
            "the two sides were born differently (nonces 9f3c5a0e77b1 and 000000000000); the first is kept"
        ]
    );
    let mut unborn = sound_state();
    unborn.genesis = None;
    assert_eq!(merged(&unborn, &sound_state()), (sound_state(), Vec::new()));
}

#[test]
fn a_live_turn_keeps_its_number_where_the_other_side_was_never_born() {
    // Its first attempt failed, so that there are more entries than turns.
    let mut theirs = sound_state();
    let mut second = theirs.history[&2].clone();
    second.attempt = Some(2);
    second.session_id = Some("1004".into());
    theirs.history.insert(3, second);
    let failed = theirs.history.get_mut(&2).unwrap();
    failed.outcome = Some(Outcome::Failed);
    let track = theirs.tracks.get_mut("default").unwrap();
    let live = track.turns.get_mut("").unwrap();
    live.attempt = 2;
    live.session_id = Some("1004".into());
    live.history_key = Some(3);
    assert_eq!(check_state(&theirs), []);
    // The old program went on beside it, and knows of the first two entries.
    let ours = history_of(sound_state().history.into_iter().take(2));
    let (state, remarks) = merged(&ours, &theirs);
    assert_eq!(remarks, Vec::<String>::new());
    assert_eq!(check_state(&state), []);
    assert_eq!(state, theirs);
}
