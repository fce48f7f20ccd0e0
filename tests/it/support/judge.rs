//! The judge. It recounts from the world's books and from the ledger as it lies on the branch, and believes nothing
//! that the program says of itself.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use phileas::sandbox::{SharedWorld, world_setup};
use phileas_world::books::{Session, Write};
use phileas_world::github::RepoId;
use serde_json::Value;

/// One session of ours, as its prompt and title say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) turn: String,
    pub(crate) attempt: u32,
    pub(crate) track: String,
    pub(crate) seq: u64,
    pub(crate) persona: String,
    pub(crate) session: String,
    pub(crate) at: Timestamp,
}

/// The sessions that bear our marker, in the order of their creation.
pub(crate) fn made(sessions: &[Session]) -> Vec<Made> {
    sessions.iter().filter_map(read).collect()
}

fn read(session: &Session) -> Option<Made> {
    let line = session
        .prompt
        .lines()
        .last()?
        .strip_prefix("phileas-turn: ")?;
    let mut words = line.split(' ');
    let marker = words.next()?;
    let facts: BTreeMap<&str, &str> = words.filter_map(|word| word.split_once('=')).collect();
    let title = session.title.as_deref().unwrap_or_default();
    assert!(
        title.ends_with(&format!(" [phileas:{marker}]")),
        "title and prompt name the same turn: {title} / {line}"
    );
    let (turn, attempt) = marker.split_once('.')?;
    Some(Made {
        turn: turn.to_owned(),
        attempt: attempt.parse().ok()?,
        track: facts["track"].to_owned(),
        seq: facts["seq"].parse().ok()?,
        persona: facts["persona"].to_owned(),
        session: session.id.clone(),
        at: session.created_at?,
    })
}

/// The repository of the sandbox.
pub(crate) fn repo(shared: &SharedWorld) -> RepoId {
    let world = shared.lock_world();
    let found = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME);
    found.unwrap()
}

/// A file at the head of a branch.
pub(crate) fn file_on(shared: &SharedWorld, branch: &str, path: &str) -> Option<String> {
    let world = shared.lock_world();
    let github = world.github();
    let repo = github.repository_by_name(world_setup::OWNER, world_setup::NAME)?;
    let head = github.branch_head(repo, branch)?;
    let file = github.read_file(repo, head, path)?;
    Some(String::from_utf8(file.to_vec()).unwrap())
}

/// The state file as it lies on the branch.
pub(crate) fn state(shared: &SharedWorld) -> Value {
    let text = file_on(shared, "jules", ".jules/cycle_state.json").unwrap();
    serde_json::from_str(&text).unwrap()
}

/// How many turns are under way.
pub(crate) fn live_turns(state: &Value) -> usize {
    let tracks = state["tracks"].as_object().unwrap();
    tracks
        .values()
        .map(|track| track["turns"].as_object().map_or(0, serde_json::Map::len))
        .sum()
}

/// The history by its keys, which must be 0, 1, 2, … in this order.
#[track_caller]
pub(crate) fn history(state: &Value) -> Vec<&Value> {
    let history = state["history"].as_object().unwrap();
    for (place, key) in history.keys().enumerate() {
        assert_eq!(
            *key,
            place.to_string(),
            "the keys of the history are 0..n-1"
        );
    }
    history.values().collect()
}

/// Every turn that a track has ever announced has exactly one session, and exactly one entry of the history, which
/// names it. Answers with the number of turns.
#[track_caller]
pub(crate) fn one_session_a_turn(sessions: &[Session], state: &Value, context: &str) -> usize {
    let made = made(sessions);
    let mut by_turn: BTreeMap<&str, Vec<&Made>> = BTreeMap::new();
    for one in &made {
        by_turn.entry(&one.turn).or_default().push(one);
    }
    let history = history(state);
    for (turn, sessions) in &by_turn {
        assert_eq!(
            sessions.len(),
            1,
            "{context}: turn {turn} has {} sessions: {sessions:?}",
            sessions.len()
        );
        let entries: Vec<_> = history
            .iter()
            .filter(|entry| entry["turn"] == **turn)
            .collect();
        assert_eq!(
            entries.len(),
            1,
            "{context}: turn {turn} stands {} times in the history",
            entries.len()
        );
        assert_eq!(
            entries[0]["session_id"], sessions[0].session,
            "{context}: {}",
            entries[0]
        );
    }
    let started: BTreeSet<(String, u64)> = made
        .iter()
        .map(|one| (one.track.clone(), one.seq))
        .collect();
    let announced: BTreeSet<(String, u64)> = state["tracks"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(name, track)| {
            (1..=track["seq"].as_u64().unwrap()).map(|seq| (name.clone(), seq))
        })
        .collect();
    assert_eq!(
        started, announced,
        "{context}: each announced turn, and no other, has a session"
    );
    by_turn.len()
}

/// The largest number of sessions that were created within any 24 hours.
pub(crate) fn most_in_a_day(made: &[Made]) -> usize {
    let within = |one: &Made| {
        let begin = one.at - SignedDuration::from_hours(24);
        made.iter()
            .filter(|other| other.at > begin && other.at <= one.at)
            .count()
    };
    made.iter().map(within).max().unwrap_or(0)
}

/// The largest number of sessions that were at work at one instant. A session is at work from its creation until it
/// ends, is archived, or has opened its pull request.
pub(crate) fn most_live(sessions: &[Session], writes: &[Write]) -> usize {
    let opened: BTreeMap<u64, Timestamp> = writes
        .iter()
        .filter(|write| write.what == "pull.opened")
        .filter_map(|write| Some((write.detail["number"].as_u64()?, write.at)))
        .collect();
    let spans: Vec<(Timestamp, Timestamp)> = sessions
        .iter()
        .filter_map(|session| {
            let ended = session
                .states
                .iter()
                .find(|(_, word)| word == "COMPLETED" || word == "FAILED");
            let archived = session.acts.iter().find(|act| act.what == "archive");
            let pull = session.pull.and_then(|number| opened.get(&number));
            let ends = [
                ended.map(|(at, _)| *at),
                archived.map(|act| act.at),
                pull.copied(),
            ];
            Some((
                session.created_at?,
                ends.into_iter().flatten().min().unwrap_or(Timestamp::MAX),
            ))
        })
        .collect();
    let at_work = |at: Timestamp| {
        spans
            .iter()
            .filter(|(begin, end)| *begin <= at && at < *end)
            .count()
    };
    spans
        .iter()
        .map(|(begin, _)| at_work(*begin))
        .max()
        .unwrap_or(0)
}
