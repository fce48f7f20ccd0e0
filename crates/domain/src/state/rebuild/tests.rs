mod bounds;
mod older;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::*;
use crate::model::{Marker, PromptLine, PullNumber, RepositoryId, Slot, TrackName, TurnId};
use crate::state::invariant::{check_state, check_step};
use crate::state::{HistoryEntry, Intent, Outcome, State, TrackState, Turn, codec};

const REPOSITORY: RepositoryId = RepositoryId(7);

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn old_turn(track: &str, seq: u64) -> TurnId {
    TurnId::derive("lost-nonce", REPOSITORY, &track.into(), seq, &"".into())
}

/// A session of the lost ledger, created at `hour` o'clock.
fn fact(id: &str, track: &str, seq: u64, hour: u8) -> SessionFact {
    let marker = Marker {
        turn: old_turn(track, seq),
        attempt: 1,
    };
    let line = PromptLine {
        marker: marker.clone(),
        repository: REPOSITORY,
        track: track.into(),
        seq,
        slot: "".into(),
        persona: "curator".into(),
    };
    SessionFact {
        session_id: id.into(),
        title: format!("🎭 curator: {track}{}", marker.title_suffix()),
        prompt: Some(format!("Look around.\n\n{}\n", line.render())),
        created_at: at(&format!("2026-01-05T{hour:02}:00:00Z")),
        ended: Some(SessionEnd {
            at: at(&format!("2026-01-05T{hour:02}:30:00Z")),
            result: SessionResult::Changes,
        }),
        pull: None,
    }
}

fn rebuilt(facts: &[SessionFact]) -> RebuildProposal {
    let rebuilt = rebuild(
        REPOSITORY,
        at("2026-01-06T02:30:00Z"),
        "new-nonce".to_owned(),
        facts,
    );
    assert_eq!(check_state(&rebuilt.state), []);
    let again = codec::load(&codec::save(&rebuilt.state)).unwrap();
    assert_eq!(again.state, rebuilt.state);
    rebuilt
}

#[test]
fn history_comes_back_in_time_order_with_its_old_turn_ids() {
    let mut merged = fact("3", "default", 3, 3);
    merged.pull = Some((PullNumber(30), PullOutcome::Merged));
    let mut closed = fact("2", "default", 2, 2);
    closed.pull = Some((PullNumber(20), PullOutcome::Closed));
    let mut open = fact("4", "default", 4, 4);
    open.pull = Some((PullNumber(40), PullOutcome::Open));
    let mut failed = fact("5", "default", 5, 5);
    failed.ended.as_mut().unwrap().result = SessionResult::Failed;
    let mut empty = fact("6", "default", 6, 6);
    empty.ended.as_mut().unwrap().result = SessionResult::Nothing;
    let completed = fact("1", "default", 1, 1);
    let state = rebuilt(&[merged, failed, open, closed, empty, completed]).state;
    let said: Vec<_> = state
        .history
        .values()
        .map(|entry| {
            (
                entry.session_id.clone().unwrap().to_string(),
                entry.outcome.clone().unwrap().to_string(),
            )
        })
        .collect();
    let expected = [
        "completed",
        "rejected",
        "merged",
        "pr_open",
        "failed",
        "no_output",
    ];
    for (key, outcome) in expected.iter().enumerate() {
        assert_eq!(said[key], ((key + 1).to_string(), (*outcome).to_owned()));
    }
    for (key, entry) in &state.history {
        assert_eq!(entry.turn, Some(old_turn("default", key + 1)));
        assert_eq!(entry.seq, Some(key + 1));
    }
    let track = &state.tracks[&TrackName::from("default")];
    assert_eq!((track.seq, track.index), (6, None));
    assert_eq!(track.session_id, Some("6".into()));
    assert_eq!(track.persona_id, Some("curator".into()));
    assert!(track.turns.is_empty());
    assert_eq!(state.genesis.unwrap().nonce, "new-nonce");
}

#[test]
fn numbers_go_on_above_the_highest_seen() {
    // The listing reaches back to number 40 only, and the newest created is not the highest number.
    let state = rebuilt(&[fact("1", "default", 41, 1), fact("2", "default", 40, 2)]).state;
    assert_eq!(state.tracks[&TrackName::from("default")].seq, 41);
}

#[test]
fn a_title_serves_where_no_prompt_is_shown() {
    let mut titled = fact("1", "quality", 9, 1);
    titled.prompt = None;
    let mut second = fact("2", "quality", 10, 2);
    second.prompt = None;
    let rebuilt = rebuilt(&[titled, second]);
    let entry = &rebuilt.state.history[&0];
    assert_eq!(entry.persona_id, "curator".into());
    assert_eq!(entry.track, Some("quality".into()));
    assert_eq!(
        (entry.seq, entry.turn.clone()),
        (None, Some(old_turn("quality", 9)))
    );
    assert_eq!(
        rebuilt.state.tracks[&TrackName::from("quality")].seq,
        2,
        "two turns were seen"
    );
    assert!(rebuilt.notes[0].contains("session 1 is known by its title only"));
}

#[test]
fn sessions_of_other_repositories_are_left_out_and_named() {
    let mut foreign = fact("1", "default", 1, 1);
    foreign.prompt = Some(
        foreign
            .prompt
            .unwrap()
            .replace("repository=7", "repository=8"),
    );
    let mut unmarked = fact("2", "default", 1, 2);
    unmarked.prompt = Some("Fix the bug".to_owned());
    unmarked.title = "Fix the bug".to_owned();
    let mut nameless = fact("3", "default", 1, 3);
    nameless.prompt = None;
    nameless.title = format!("Hello [phileas:{}.1]", old_turn("default", 1));
    let rebuilt = rebuilt(&[foreign, unmarked, nameless]);
    assert!(rebuilt.state.history.is_empty() && rebuilt.state.tracks.is_empty());
    for (note, says) in rebuilt.notes.iter().zip([
        "session 1 is left out: it works for the repository 8",
        "session 2 is left out: it carries no marker of ours",
        "session 3 is left out: its title",
    ]) {
        assert!(note.starts_with(says), "{note}");
    }
}

#[test]
fn duplicates_are_named_and_the_one_with_a_pull_request_is_kept() {
    let mut second = fact("2", "default", 1, 2);
    second.pull = Some((PullNumber(5), PullOutcome::Open));
    let facts = [
        fact("1", "default", 1, 1),
        second,
        fact("3", "default", 1, 3),
        fact("3", "default", 1, 3),
    ];
    let rebuilt = rebuilt(&facts);
    assert_eq!(rebuilt.state.history.len(), 1);
    let entry = &rebuilt.state.history[&0];
    assert_eq!(entry.session_id, Some("2".into()));
    assert_eq!(entry.duplicates, ["1".into(), "3".into()]);
    assert_eq!(
        rebuilt
            .notes
            .iter()
            .filter(|note| note.contains("is a duplicate of 2"))
            .count(),
        2
    );
    assert_eq!(rebuilt.state.tracks[&TrackName::from("default")].seq, 1);
}

#[test]
fn a_session_at_work_lives_on_as_its_tracks_turn() {
    let mut live = fact("2", "default", 2, 2);
    live.ended = None;
    let mut stale = fact("1", "default", 1, 1);
    stale.ended = None;
    let state = rebuilt(&[stale, live]).state;
    let track = &state.tracks[&TrackName::from("default")];
    assert_eq!(track.turns.len(), 1);
    let turn = &track.turns[&Slot::from("")];
    assert_eq!(
        turn.turn,
        TurnId::derive("new-nonce", REPOSITORY, &"default".into(), 2, &"".into())
    );
    assert_eq!(turn.session_id, Some("2".into()));
    assert_eq!(turn.history_key, Some(1));
    assert_eq!(state.history[&1].turn, Some(old_turn("default", 2)));
    assert_eq!(state.history[&1].outcome, None);
    let stale = &state.history[&0];
    assert_eq!(
        stale.outcome,
        Some(Outcome::Cancelled),
        "no turn follows it"
    );
    assert_eq!(stale.finished_at, None);
    assert!(stale.note.as_ref().unwrap().contains("no turn follows it"));
}

#[test]
fn a_session_at_work_that_no_turn_can_follow_does_not_stop_the_archive() {
    let mut bare = fact("2", "default", 6, 2);
    (bare.prompt, bare.ended) = (None, None);
    let rebuilt = rebuilt(std::slice::from_ref(&bare));
    assert!(rebuilt.state.history[&0].is_finished());
    assert!(
        rebuilt
            .notes
            .iter()
            .any(|note| note.contains("session 2 had not ended")),
        "{:?}",
        rebuilt.notes
    );
    // Also where it is added to an older ledger that has gone further by then.
    let before = rebuild(
        REPOSITORY,
        at("2026-01-06T00:00:00Z"),
        "old".to_owned(),
        &[fact("1", "default", 9, 1)],
    )
    .state;
    let mut live = fact("3", "default", 6, 3);
    live.ended = None;
    let facts = [fact("1", "default", 9, 1), live];
    let now = at("2026-01-06T03:00:00Z");
    let after = catch_up(&before, REPOSITORY, now, "unused".to_owned(), &facts).state;
    assert_eq!(check_step(&before, &after), []);
    assert!(after.tracks["default"].turns.is_empty());
    assert!(after.history.values().all(HistoryEntry::is_finished));
}

#[test]
fn schedules_do_not_fire_again_and_the_budget_is_known() {
    let state = rebuilt(&[
        fact("1", "schedule:curator", 1, 1),
        fact("2", "schedule:curator", 2, 3),
    ])
    .state;
    assert_eq!(
        state.schedules["curator"].last_fired,
        Some(at("2026-01-05T03:00:00Z"))
    );
    assert_eq!(state.budget.created, [at("2026-01-05T03:00:00Z")]);
}

#[test]
fn nothing_gives_a_newborn_state_that_hears_from_now_on() {
    let RebuildProposal { state, notes } = rebuilt(&[]);
    let now = at("2026-01-06T02:30:00Z");
    let mut born = State::new_ledger(REPOSITORY, now, "new-nonce".to_owned());
    born.cursors.comments_since = Some(now);
    born.work.remembered = 1;
    assert_eq!(state, born);
    let [note] = &notes[..] else {
        panic!("{notes:?}");
    };
    assert!(
        note.contains("before 2026-01-06 02:30:00 UTC are not executed"),
        "{note}"
    );
}

#[test]
fn an_older_ledger_is_kept_and_what_it_missed_is_added() {
    let mut live = fact("2", "default", 2, 2);
    live.ended = None;
    let before = rebuilt(&[fact("1", "default", 1, 1), live]).state;
    assert_eq!(before.tracks["default"].turns.len(), 1);
    let mut merged = fact("2", "default", 2, 2);
    merged.pull = Some((PullNumber(20), PullOutcome::Merged));
    let mut at_work = fact("4", "default", 4, 4);
    at_work.ended = None;
    let facts = [
        fact("1", "default", 1, 1),
        merged,
        fact("3", "default", 3, 3),
        at_work,
    ];
    let now = at("2026-01-06T03:00:00Z");
    let after = catch_up(&before, REPOSITORY, now, "unused".to_owned(), &facts).state;
    assert_eq!(check_state(&after), []);
    assert_eq!(check_step(&before, &after), []);
    assert_eq!(after.genesis, before.genesis);
    let sessions: Vec<_> = after
        .history
        .values()
        .map(|entry| entry.session_id.clone().unwrap().to_string())
        .collect();
    assert_eq!(sessions, ["1", "2", "3", "4"]);
    assert_eq!(after.history[&1].outcome, Some(Outcome::Merged));
    let track = &after.tracks["default"];
    assert_eq!(track.seq, 4);
    let turn = &track.turns[""];
    assert_eq!(turn.history_key, Some(3));
    assert_eq!(turn.session_id, Some("4".into()));

    let again = catch_up(&after, REPOSITORY, now, "unused".to_owned(), &facts).state;
    assert_eq!(again, after, "nothing was missed");
}

#[test]
fn sessions_known_by_their_titles_count_as_further_turns() {
    let before = rebuilt(&[fact("1", "default", 5, 1)]).state;
    let mut bare = fact("2", "default", 6, 2);
    bare.prompt = None;
    let facts = [fact("1", "default", 5, 1), bare];
    let now = at("2026-01-06T03:00:00Z");
    let after = catch_up(&before, REPOSITORY, now, "unused".to_owned(), &facts).state;
    assert_eq!(check_step(&before, &after), []);
    assert_eq!(after.tracks["default"].seq, 6);
}
