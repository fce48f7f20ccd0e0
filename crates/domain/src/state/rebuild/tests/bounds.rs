//! Where the rules of a rebuilt ledger begin and end, and what exactly it says.

use jiff::SignedDuration;

use super::*;
use crate::state::BudgetState;
use crate::state::fixtures::sound;

/// [`fact`] as another attempt at its turn, or of another ledger's turn, still at work.
fn at_work(id: &str, seq: u64, attempt: u32, hour: u8, nonce: &str) -> SessionFact {
    let track = TrackName::from("default");
    let line = PromptLine {
        marker: Marker {
            turn: TurnId::derive(nonce, REPOSITORY, &track, seq, &"".into()),
            attempt,
        },
        repository: REPOSITORY,
        track,
        seq,
        slot: "".into(),
        persona: "curator".into(),
    };
    SessionFact {
        prompt: Some(line.render()),
        ended: None,
        ..fact(id, "default", seq, hour)
    }
}

fn sha256(text: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(text))
}

#[test]
fn an_entry_a_track_and_a_live_turn_say_all_that_is_known() {
    let mut open = fact("1", "quality", 4, 1);
    open.pull = Some((PullNumber(10), PullFate::Open));
    let live = at_work("2", 5, 3, 2, "lost-nonce");
    let state = rebuilt(&[open, live.clone()]).state;
    let note = Some("rebuilt from Jules' listing".to_owned());
    assert_eq!(
        state.history[&0],
        HistoryEntry {
            persona_id: "curator".into(),
            session_id: Some("1".into()),
            pr_number: Some(PullNumber(10)),
            created_at: Some(at("2026-01-05T01:00:00Z")),
            track: Some("quality".into()),
            turn: Some(old_turn("quality", 4)),
            seq: Some(4),
            slot: Some("".into()),
            attempt: Some(1),
            base_sha: None,
            outcome: Some(Outcome::PrOpen),
            finished_at: Some(at("2026-01-05T01:30:00Z")),
            duplicates: Vec::new(),
            note: note.clone(),
            extra: Default::default(),
        }
    );
    assert_eq!(
        state.tracks["quality"],
        TrackState {
            persona_id: Some("curator".into()),
            session_id: Some("1".into()),
            pr_number: Some(PullNumber(10)),
            updated_at: Some(at("2026-01-05T01:00:00Z")),
            seq: 4,
            ..TrackState::default()
        }
    );
    let entry = &state.history[&1];
    assert_eq!((&entry.outcome, entry.finished_at), (&None, None));
    assert_eq!((entry.attempt, &entry.note), (Some(3), &note));
    let id = TurnId::derive("new-nonce", REPOSITORY, &"default".into(), 5, &"".into());
    assert_eq!(
        state.tracks["default"].turns[""],
        Turn {
            attempt: 3,
            history_key: Some(1),
            intent: Some(Intent {
                created_at: at("2026-01-05T02:00:00Z"),
                not_after: at("2026-01-05T02:00:00Z"),
                holder: "rebuild".into(),
                prompt_sha256: sha256(live.prompt.as_deref().unwrap()),
                extra: Default::default(),
            }),
            session_id: Some("2".into()),
            ..Turn::new(id, "curator".into())
        }
    );
}

#[test]
fn a_session_counts_towards_the_budget_for_a_day_to_the_second() {
    let now = at("2026-01-06T02:30:00Z");
    let aged = |id: &str, seconds: i64| SessionFact {
        created_at: now - SignedDuration::from_secs(seconds),
        ..fact(id, "default", 1, 1)
    };
    let day = 24 * 60 * 60;
    let facts = [
        aged("1", 0),
        aged("2", day),
        aged("3", day - 1),
        aged("4", day + 1),
    ];
    let budget = rebuilt(&facts).state.budget;
    let expected = BudgetState {
        created: vec![now - SignedDuration::from_secs(day - 1), now],
        ..BudgetState::default()
    };
    assert_eq!(budget, expected);
}

#[test]
fn of_equal_sessions_of_one_attempt_the_first_is_kept() {
    let pull = |number: Option<u64>, id: &str, hour: u8| SessionFact {
        pull: number.map(|number| (PullNumber(number), PullFate::Open)),
        ..fact(id, "default", 1, hour)
    };
    for (first, second, kept) in [
        (None, None, "1"),
        (Some(5), None, "1"),
        (Some(5), Some(6), "1"),
        (None, Some(6), "2"),
    ] {
        let rebuilt = rebuilt(&[pull(first, "1", 1), pull(second, "2", 2)]);
        let entry = &rebuilt.state.history[&0];
        assert_eq!(entry.session_id, Some(kept.into()), "{first:?} {second:?}");
        let other = if kept == "1" { "2" } else { "1" };
        assert_eq!(entry.duplicates, [other.into()]);
        let note = format!(
            "turn {}.1: session {other} is a duplicate of {kept}",
            old_turn("default", 1)
        );
        assert!(rebuilt.notes.contains(&note), "{:?}", rebuilt.notes);
    }
}

#[test]
fn a_title_must_name_both_persona_and_track() {
    let suffix = fact("1", "quality", 9, 1)
        .title
        .split_once(" [")
        .unwrap()
        .1
        .to_owned();
    for (head, known) in [
        ("🎭 curator: quality", Some(("curator", "quality"))),
        ("curator: a: quality", Some(("a", "quality"))),
        ("curator:  quality", Some(("curator", "quality"))),
        (": quality", None),
        ("🎭 : quality", None),
        ("curator: ", None),
        ("curator quality", None),
    ] {
        let mut titled = fact("1", "quality", 9, 1);
        titled.prompt = None;
        titled.title = format!("{head} [{suffix}");
        let rebuilt = rebuilt(&[titled]);
        let found = rebuilt.state.history.get(&0);
        let named = found.map(|entry| (entry.persona_id.as_str(), entry.track_name()));
        let expected = known.map(|(persona, track)| (persona, track.into()));
        assert_eq!(named, expected, "{head}: {:?}", rebuilt.notes);
    }
}

#[test]
fn the_newest_attempt_at_a_turn_is_followed_whichever_began_first() {
    for (one, two) in [(1, 2), (2, 1)] {
        let facts = [
            at_work("1", 4, one, 1, "lost-nonce"),
            at_work("2", 4, two, 2, "lost-nonce"),
        ];
        let state = rebuilt(&facts).state;
        let turn = &state.tracks["default"].turns[""];
        assert_eq!(turn.attempt, 2);
        let newest = if two == 2 { 1 } else { 0 };
        assert_eq!(turn.history_key, Some(newest));
        let older = &state.history[&(1 - newest)];
        assert_eq!(older.outcome, Some(Outcome::Cancelled));
        assert_eq!(state.tracks["default"].seq, 4, "one turn, two attempts");
    }
    // Two ledgers were lost, and each had begun the same turn: the later session counts.
    let facts = [
        at_work("1", 4, 1, 1, "lost-nonce"),
        at_work("2", 4, 1, 2, "older-nonce"),
    ];
    let state = rebuilt(&facts).state;
    assert_eq!(
        state.tracks["default"].turns[""].session_id,
        Some("2".into())
    );
}

#[test]
fn a_session_with_a_result_or_of_an_older_turn_is_not_followed() {
    let live = at_work("1", 4, 1, 1, "lost-nonce");
    let followed = |facts: &[SessionFact]| {
        let tracks = rebuilt(facts).state.tracks;
        tracks["default"].turns.len()
    };
    assert_eq!(followed(std::slice::from_ref(&live)), 1);
    let mut pulled = live.clone();
    pulled.pull = Some((PullNumber(3), PullFate::Open));
    assert_eq!(followed(&[pulled]), 0);
    let mut ended = live.clone();
    ended.ended = fact("1", "default", 4, 1).ended;
    assert_eq!(followed(&[ended]), 0);
    assert_eq!(followed(&[live, fact("2", "default", 5, 2)]), 0);
}

fn caught_up(before: &State, facts: &[SessionFact]) -> Rebuilt {
    let now = at("2026-01-06T03:00:00Z");
    let rebuilt = catch_up(before, REPOSITORY, now, "new-nonce".to_owned(), facts);
    assert_eq!(check(&rebuilt.state), []);
    assert_eq!(check_step(before, &rebuilt.state), []);
    rebuilt
}

#[test]
fn what_is_older_than_the_oldest_entry_stands_in_the_archive() {
    let mut before = sound();
    before.history = before.history.split_off(&1);
    let oldest = before.history[&1].created_at.unwrap();
    let aged = |id: &str, seconds: i64| SessionFact {
        created_at: oldest + SignedDuration::from_secs(seconds),
        ..fact(id, "other", seconds.unsigned_abs() + 3, 1)
    };
    let facts = [aged("1", -1), aged("2", 0), aged("3", 1)];
    let after = caught_up(&before, &facts).state;
    let sessions: Vec<(u64, String)> = after
        .history
        .iter()
        .map(|(key, entry)| (*key, entry.session_id.clone().unwrap().to_string()))
        .collect();
    let expected = [(1, "1002"), (2, "1003"), (3, "2"), (4, "3")];
    assert_eq!(
        sessions,
        expected.map(|(key, session)| (key, session.to_owned()))
    );
    assert_eq!(after.genesis, before.genesis);
}

#[test]
fn a_live_turn_that_was_overtaken_ends_as_its_session_did() {
    let before = rebuilt(&[at_work("1", 1, 1, 1, "lost-nonce")]).state;
    assert_eq!(before.tracks["default"].turns.len(), 1);
    let mut next = fact("2", "default", 2, 2);
    next.pull = Some((PullNumber(20), PullFate::Open));
    let end = at("2026-01-05T01:30:00Z");
    let began = at("2026-01-05T01:00:00Z");
    let merged = Some((PullNumber(10), PullFate::Merged));
    let ended = fact("1", "default", 1, 1).ended;
    for (shown, pull, how, outcome, finished) in [
        (true, merged, ended, Outcome::Merged, end),
        (true, None, ended, Outcome::Completed, end),
        // Still at work, or not shown any more.
        (true, None, None, Outcome::Cancelled, began),
        (false, None, None, Outcome::Cancelled, began),
    ] {
        let mut facts = vec![next.clone()];
        if shown {
            facts.push(SessionFact {
                pull,
                ended: how,
                ..fact("1", "default", 1, 1)
            });
        }
        let Rebuilt { state, notes } = caught_up(&before, &facts);
        assert_eq!(
            state.history[&0],
            HistoryEntry {
                outcome: Some(outcome),
                pr_number: pull.map(|(number, _)| number),
                finished_at: Some(finished),
                ..before.history[&0].clone()
            }
        );
        assert_eq!(
            state.tracks["default"],
            TrackState {
                persona_id: Some("curator".into()),
                session_id: Some("2".into()),
                pr_number: Some(PullNumber(20)),
                updated_at: Some(at("2026-01-05T02:00:00Z")),
                seq: 2,
                ..TrackState::default()
            }
        );
        let live = before.tracks["default"].turns[""].turn.clone();
        assert!(
            notes.contains(&format!("turn {live} of `default` was live and is over")),
            "{notes:?}"
        );
    }
}

#[test]
fn an_outcome_that_is_written_is_not_written_again() {
    let mut before = rebuilt(&[at_work("1", 1, 1, 1, "lost-nonce")]).state;
    let entry = before.history.get_mut(&0).unwrap();
    entry.outcome = Some(Outcome::Stuck);
    // An entry of an older program carries no outcome, and stays as it is.
    let mut old = entry.clone();
    (old.turn, old.outcome, old.session_id) = (None, None, Some("0".into()));
    before.history.insert(1, old.clone());
    let Rebuilt { state, notes } = caught_up(&before, &[fact("2", "default", 2, 2)]);
    assert_eq!(state.history[&0].outcome, Some(Outcome::Stuck));
    assert_eq!(state.history[&1], old);
    assert!(!notes.iter().any(|note| note.contains("is over")));
}

#[test]
fn sessions_missed_by_a_far_older_ledger_keep_their_numbers() {
    let before = rebuilt(&[fact("1", "default", 3, 1)]).state;
    let titled = |id: &str, seq: u64| SessionFact {
        prompt: None,
        ..fact(id, "default", seq, 2)
    };
    let seq = |facts: &[SessionFact]| caught_up(&before, facts).state.tracks["default"].seq;
    assert_eq!(seq(&[fact("2", "default", 9, 2)]), 9);
    assert_eq!(seq(&[fact("2", "default", 4, 2)]), 4);
    // What is known by its title alone counts as a further turn, whatever its number was.
    assert_eq!(seq(&[titled("2", 9)]), 4);
    assert_eq!(seq(&[titled("2", 9), titled("3", 8)]), 5);
    assert_eq!(seq(&[titled("2", 9), titled("3", 9)]), 4, "a duplicate");
}

#[test]
fn schedules_and_budget_go_on_from_where_the_older_ledger_was() {
    let before = rebuilt(&[
        fact("1", "schedule:curator", 1, 3),
        fact("2", "schedule:typist", 1, 4),
    ])
    .state;
    let facts = [
        fact("3", "schedule:curator", 2, 5),
        fact("4", "schedule:scribe", 1, 6),
    ];
    let after = caught_up(&before, &facts).state;
    let fired = |name: &str| after.schedules[name].last_fired.unwrap().to_string();
    assert_eq!(fired("curator"), "2026-01-05T05:00:00Z");
    assert_eq!(fired("typist"), "2026-01-05T04:00:00Z");
    assert_eq!(fired("scribe"), "2026-01-05T06:00:00Z");
    let hours = [3, 4, 5, 6].map(|hour| at(&format!("2026-01-05T{hour:02}:00:00Z")));
    assert_eq!(after.budget.created, hours);
    // A ledger that was never born is born now.
    let born = caught_up(&State::default(), &facts).state.genesis.unwrap();
    assert_eq!(born.nonce, "new-nonce");
}
