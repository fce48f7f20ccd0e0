//! Where the rules of a rebuilt ledger begin and end, and what exactly it says.

use jiff::SignedDuration;

use super::*;
use crate::state::BudgetState;

/// [`fact`] as another attempt at its turn, or of another ledger's turn, still at work.
pub(super) fn at_work(id: &str, seq: u64, attempt: u32, hour: u8, nonce: &str) -> SessionFact {
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
    open.pull = Some((PullNumber(10), PullOutcome::Open));
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
            zero_touch: None,
            review_secs: None,
            refused: None,
            prompt: None,
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
        pull: number.map(|number| (PullNumber(number), PullOutcome::Open)),
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
    pulled.pull = Some((PullNumber(3), PullOutcome::Open));
    assert_eq!(followed(&[pulled]), 0);
    let mut ended = live.clone();
    ended.ended = fact("1", "default", 4, 1).ended;
    assert_eq!(followed(&[ended]), 0);
    assert_eq!(followed(&[live, fact("2", "default", 5, 2)]), 0);
}
