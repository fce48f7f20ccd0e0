//! What must hold for each session and for those of one turn.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use phileas_world::books::Session;

use super::{TWO_SESSIONS, Verdict};

/// What the last line of a session's prompt says.
#[derive(Debug, Clone)]
pub(super) struct Marked<'a> {
    pub(super) turn: &'a str,
    pub(super) attempt: u32,
    pub(super) repository: u64,
    /// Whether a person asked for it.
    pub(super) asked_for: bool,
    pub(super) session: &'a Session,
    pub(super) at: Timestamp,
}

pub(super) fn marked(session: &Session) -> Option<Marked<'_>> {
    let line = session.prompt.trim_end().lines().last()?;
    let mut words = line.strip_prefix("phileas-turn: ")?.split(' ');
    let (turn, attempt) = words.next()?.split_once('.')?;
    let repository = words.find_map(|word| word.strip_prefix("repository="))?;
    let track = words.find_map(|word| word.strip_prefix("track="))?;
    Some(Marked {
        turn,
        attempt: attempt.parse().ok()?,
        repository: repository.parse().ok()?,
        asked_for: track.starts_with("request:"),
        session,
        at: session.created_at?,
    })
}

/// One session an attempt, and a second attempt only after the first has failed.
pub(super) fn doubles(ours: &[Marked<'_>], verdict: &mut Verdict) {
    let mut turns: BTreeMap<&str, Vec<&Marked<'_>>> = BTreeMap::new();
    for one in ours {
        turns.entry(one.turn).or_default().push(one);
    }
    for (turn, mut sessions) in turns {
        sessions.sort_by_key(|one| (one.attempt, one.at));
        for pair in sessions.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            let failed = before
                .session
                .states
                .iter()
                .any(|(_, word)| word == "FAILED");
            if before.attempt == after.attempt || !failed {
                let waited = after.at.duration_since(before.at);
                verdict.findings.push(format!(
                    "turn {turn} {TWO_SESSIONS}: {} of attempt {} and {} of attempt {}, {waited:#} later",
                    before.session.id, before.attempt, after.session.id, after.attempt
                ));
            }
        }
    }
}

/// Nothing is said to a session twice.
pub(super) fn messages(ours: &[Marked<'_>], verdict: &mut Verdict) {
    for one in ours {
        let mut said = BTreeSet::new();
        let acts = one.session.acts.iter();
        for act in acts.filter(|act| act.what == "message" && !act.in_web_app) {
            if !said.insert(&act.text) {
                let id = &one.session.id;
                let text = format!("session {id} was told twice: {}", act.text);
                verdict.findings.push(text);
            }
        }
    }
}
