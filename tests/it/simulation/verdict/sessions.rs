//! What must hold for each session and for those of one turn.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use phileas_world::books::{Books, Session};
use phileas_world::github::RepoId;

use super::{TWO_SESSIONS, Verdict};

/// What the last line of a session's prompt says.
#[derive(Debug, Clone)]
pub(super) struct Marked<'a> {
    pub(super) turn: &'a str,
    pub(super) attempt: u32,
    pub(super) repository: u64,
    pub(super) track: &'a str,
    pub(super) seq: u64,
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
    let seq = words.find_map(|word| word.strip_prefix("seq="))?;
    Some(Marked {
        turn,
        attempt: attempt.parse().ok()?,
        repository: repository.parse().ok()?,
        track,
        seq: seq.parse().ok()?,
        asked_for: track.starts_with("request:"),
        session,
        at: session.created_at?,
    })
}

/// Nobody else creates sessions here, so each says whose it is, and names a repository of the case.
pub(super) fn strangers(books: &Books, repositories: &[RepoId], verdict: &mut Verdict) {
    for session in &books.sessions {
        let known = |one: &Marked<'_>| repositories.iter().any(|repo| repo.0 == one.repository);
        if !marked(session).as_ref().is_some_and(known) {
            let text = format!("session {} is nobody's: {:?}", session.id, session.title);
            verdict.findings.push(text);
        }
    }
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
                .any(|(at, word)| word == "FAILED" && *at < after.at);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn session(prompt: &str) -> Session {
        Session {
            prompt: prompt.to_owned(),
            created_at: "2026-01-05T06:00:00Z".parse().ok(),
            ..Session::default()
        }
    }

    #[test]
    fn a_session_is_one_of_ours_or_a_finding() {
        let line =
            "Work.\n\nphileas-turn: abc.1 repository=7 track=default seq=3 slot= persona=curator";
        let ours = session(line);
        let one = marked(&ours).unwrap();
        assert_eq!((one.turn, one.track, one.seq), ("abc", "default", 3));
        let found = |session: Session, repository| {
            let books = Books {
                sessions: vec![session],
                ..Books::default()
            };
            let mut verdict = Verdict::default();
            strangers(&books, &[RepoId(repository)], &mut verdict);
            verdict.findings.len()
        };
        assert_eq!(found(ours.clone(), 7), 0);
        assert_eq!(found(ours, 8), 1, "another repository's");
        assert_eq!(found(session("Work."), 7), 1, "nobody's");
    }

    #[test]
    fn a_second_attempt_begins_after_the_first_has_failed() {
        let found = |minute: i64| {
            let prompt = |attempt| {
                format!(
                    "phileas-turn: abc.{attempt} repository=7 track=default seq=3 slot= persona=x"
                )
            };
            let (mut first, second) = (session(&prompt(1)), session(&prompt(2)));
            let failed = second.created_at.unwrap() + jiff::SignedDuration::from_mins(minute);
            first.states.push((failed, "FAILED".to_owned()));
            let mut verdict = Verdict::default();
            let ours = [marked(&first).unwrap(), marked(&second).unwrap()];
            doubles(&ours, &mut verdict);
            verdict.findings.len()
        };
        assert_eq!(found(-1), 0);
        assert_eq!(found(1), 1);
    }
}
