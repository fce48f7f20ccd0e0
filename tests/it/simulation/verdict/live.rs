//! Turns that are under way: none of them for ever.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{Judge, PATIENCE};

/// For how long an intent may stand without its session, where no notice was opened about it.
const INTENT: SignedDuration = SignedDuration::from_hours(1);

/// A turn under way, as the ledger has it and as the world knows it.
#[derive(Debug)]
struct Live<'a> {
    turn: &'a str,
    session: Option<&'a str>,
    /// When its session ended, by the world's books; `None` while it works.
    ended_at: Option<Timestamp>,
    /// Since when it has had an intent and no session.
    announced_at: Option<Timestamp>,
    /// Whether an open issue calls a person about it.
    is_called: bool,
}

impl Live<'_> {
    fn finding(&self, end: Timestamp) -> Option<String> {
        let turn = self.turn;
        if let (Some(session), Some(at)) = (self.session, self.ended_at)
            && end.duration_since(at) > PATIENCE + PATIENCE
        {
            return Some(format!(
                "turn {turn} is under way, and its session {session} ended at {at}"
            ));
        }
        let waits = |at: &Timestamp| end.duration_since(*at) > INTENT && !self.is_called;
        let at = self.announced_at.filter(waits)?;
        Some(format!(
            "turn {turn} was announced at {at}, has no session, and no notice was opened"
        ))
    }
}

impl Judge<'_> {
    /// A turn whose session is over ends, and one that was announced has its session soon.
    pub(super) fn live(&mut self, state: &Value) {
        let sessions: BTreeMap<&str, _> = self
            .books
            .sessions
            .iter()
            .map(|one| (one.id.as_str(), &one.states))
            .collect();
        let github = self.world.github();
        let issues = github.issues(self.repo);
        let calls: Vec<&str> = issues
            .filter(|issue| issue.thread.closed_at.is_none())
            .filter_map(|issue| issue.thread.body.as_deref())
            .collect();
        let end = self.world.now();
        let tracks = state["tracks"].as_object().into_iter().flatten();
        let turns = tracks.filter_map(|(_, track)| track["turns"].as_object());
        let mut wrong = Vec::new();
        for turn in turns.flat_map(serde_json::Map::values) {
            let id = turn["turn"].as_str().unwrap_or_default();
            let session = turn["session_id"].as_str();
            let states = session.and_then(|session| sessions.get(session));
            if session.is_some() && states.is_none() {
                wrong.push(format!(
                    "turn {id} is under way with a session that is not there"
                ));
            }
            let last = states.and_then(|states| states.last());
            let over = last.filter(|(_, word)| word == "COMPLETED" || word == "FAILED");
            let announced = turn["intent"]["created_at"].as_str();
            let announced = announced.filter(|_| session.is_none());
            let marker = format!("<!-- phileas:notice:turn:{id} -->");
            let live = Live {
                turn: id,
                session,
                ended_at: over.map(|(at, _)| *at),
                announced_at: announced.and_then(|at| at.parse().ok()),
                is_called: calls.iter().any(|body| body.contains(&marker)),
            };
            wrong.extend(live.finding(end));
        }
        for text in wrong {
            self.find(text);
        }
    }
}

#[test]
fn nothing_is_under_way_for_ever() {
    let at = |minute: i64| Timestamp::from_second(1_767_571_200 + minute * 60).unwrap();
    let live = |ended: Option<i64>, announced: Option<i64>, is_called: bool| Live {
        turn: "a",
        session: announced.is_none().then_some("1"),
        ended_at: ended.map(at),
        announced_at: announced.map(at),
        is_called,
    };
    let found = |live: Live<'_>| live.finding(at(130)).is_some();
    assert!(found(live(Some(0), None, false)));
    assert!(found(live(Some(0), None, true)), "no call ends a turn");
    assert!(!found(live(Some(20), None, false)));
    assert!(!found(live(None, None, false)), "its session works");
    assert!(found(live(None, Some(60), false)));
    assert!(!found(live(None, Some(60), true)));
    assert!(!found(live(None, Some(80), false)));
}
