//! What an older ledger becomes when it is brought up to what Jules shows.

use jiff::SignedDuration;

use super::bounds::at_work;
use super::*;
use crate::state::fixtures::{sound_state, turn_id};

fn caught_up(before: &State, facts: &[SessionFact]) -> RebuildProposal {
    let now = at("2026-01-06T03:00:00Z");
    let rebuilt = catch_up(before, REPOSITORY, now, "new-nonce".to_owned(), facts);
    assert_eq!(check_state(&rebuilt.state), []);
    assert_eq!(check_step(before, &rebuilt.state), []);
    rebuilt
}

#[test]
fn sessions_older_than_the_oldest_entry_are_archived() {
    let mut before = sound_state();
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
    next.pull = Some((PullNumber(20), PullOutcome::Open));
    let end = at("2026-01-05T01:30:00Z");
    let began = at("2026-01-05T01:00:00Z");
    let merged = Some((PullNumber(10), PullOutcome::Merged));
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
        let RebuildProposal { state, notes } = caught_up(&before, &facts);
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
    let RebuildProposal { state, notes } = caught_up(&before, &[fact("2", "default", 2, 2)]);
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
    assert_eq!(seq(&[fact("2", "default", 9, 2), titled("3", 10)]), 10);
    let many: Vec<_> = (4..11).map(|n| titled(&n.to_string(), n)).collect();
    assert_eq!(seq(&many), 10);
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

#[test]
fn a_session_that_a_live_turn_waits_for_is_left_to_it() {
    // The session was created, and the ledger knows of no more than the intent.
    let mut before = sound_state();
    before.history = before.history.into_iter().take(2).collect();
    let track = before.tracks.get_mut("default").unwrap();
    let live = track.turns.get_mut("").unwrap();
    (live.session_id, live.history_key) = (None, None);
    let nonce = before.genesis.as_ref().unwrap().nonce.clone();
    let awaited = at_work("9", 3, 1, 3, &nonce);
    let titled = SessionFact {
        session_id: "10".into(),
        prompt: None,
        title: {
            let turn = turn_id(3);
            format!(
                "curator: default{}",
                Marker { turn, attempt: 1 }.title_suffix()
            )
        },
        ..awaited.clone()
    };
    let RebuildProposal { state, notes } = caught_up(&before, &[awaited, titled]);
    assert_eq!(state, before);
    let left = |id: &str| {
        format!("session {id} is left to its turn, which is live and finds it by its marker")
    };
    assert_eq!(notes, [left("9"), left("10")]);
}

#[test]
fn a_session_missed_long_ago_does_not_move_its_track() {
    let mut before = rebuilt(&[at_work("5", 5, 1, 5, "lost-nonce")]).state;
    let entry = before.history.get_mut(&0).unwrap();
    entry.created_at = Some(at("2026-01-05T01:00:00Z"));
    let RebuildProposal { state, .. } = caught_up(&before, &[fact("3", "default", 3, 3)]);
    assert_eq!(state.tracks, before.tracks);
    assert_eq!(state.history.len(), 2);
    assert_eq!(state.history[&1].session_id, Some("3".into()));
}

/// The ledger has only the intent, and its track has advanced since, so no turn waits for that session.
#[test]
fn a_session_of_an_awaited_turn_that_was_overtaken_is_written_down() {
    let mut before = sound_state();
    before.history = before.history.into_iter().take(2).collect();
    let track = before.tracks.get_mut("default").unwrap();
    let live = track.turns.get_mut("").unwrap();
    (live.session_id, live.history_key) = (None, None);
    let nonce = before.genesis.as_ref().unwrap().nonce.clone();
    let mut awaited = at_work("9", 3, 1, 3, &nonce);
    awaited.pull = Some((PullNumber(30), PullOutcome::Open));
    let next = at_work("10", 4, 1, 4, &nonce);
    let facts = [awaited, next];
    let RebuildProposal { state, notes } = caught_up(&before, &facts);
    let track = &state.tracks["default"];
    assert_eq!(track.seq, 4);
    let live: Vec<_> = track.turns.values().map(|turn| &turn.session_id).collect();
    assert_eq!(live, [&Some("10".into())]);
    let (_, entry) = state.entry_of_session(&"9".into()).unwrap();
    assert_eq!(
        (entry.seq, entry.pr_number, entry.outcome.clone()),
        (Some(3), Some(PullNumber(30)), Some(Outcome::PrOpen))
    );
    assert!(
        !notes
            .iter()
            .any(|note| note.contains("is left to its turn")),
        "{notes:?}"
    );
    assert_eq!(
        caught_up(&state, &facts).state,
        state,
        "nothing is missed any more"
    );
}

/// What is known by its title alone came before the numbered one, so it has a number below that one's.
#[test]
fn an_older_title_does_not_end_the_turn_that_is_at_work() {
    let before = rebuilt(&[fact("1", "default", 3, 1)]).state;
    let nonce = before.genesis.as_ref().unwrap().nonce.clone();
    let titled = |seq: u64, hour: u8| SessionFact {
        prompt: None,
        ..fact("2", "default", seq, hour)
    };
    let state = caught_up(&before, &[titled(4, 2), at_work("3", 5, 1, 3, &nonce)]).state;
    let track = &state.tracks["default"];
    assert_eq!(track.seq, 5);
    let live = track.turns.values().next().unwrap();
    assert_eq!(live.session_id, Some("3".into()));
    // A younger one is a further turn.
    let state = caught_up(&before, &[titled(6, 4), at_work("3", 5, 1, 3, &nonce)]).state;
    assert_eq!(state.tracks["default"].seq, 6);
}

/// Commands that the lost part of it executed would be executed again.
#[test]
fn commands_that_may_have_been_executed_are_skipped() {
    let mut before = rebuilt(&[fact("1", "default", 1, 1)]).state;
    let heard = at("2026-01-05T01:10:00Z");
    before.cursors.comments_since = Some(heard);
    let RebuildProposal { state, notes } = caught_up(&before, &[fact("2", "request:1", 1, 2)]);
    let now = at("2026-01-06T03:00:00Z");
    assert_eq!(state.cursors.comments_since, Some(now));
    let not_executed =
        |notes: &[String]| notes.iter().any(|note| note.contains("are not executed"));
    assert!(not_executed(&notes), "{notes:?}");
    // A ledger that missed nothing keeps its comment cursor.
    let RebuildProposal { state, notes } = caught_up(&before, &[fact("1", "default", 1, 1)]);
    assert_eq!(state.cursors.comments_since, Some(heard));
    assert!(!not_executed(&notes), "{notes:?}");
}
