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
    /// Whether it is a layer's.
    pub(super) is_of_layer: bool,
    /// Whether a person asked for it.
    pub(super) is_requested: bool,
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
    let slot = words.find_map(|word| word.strip_prefix("slot="));
    Some(Marked {
        turn,
        attempt: attempt.parse().ok()?,
        repository: repository.parse().ok()?,
        track,
        seq: seq.parse().ok()?,
        is_of_layer: slot.is_some_and(|slot| !slot.is_empty()),
        is_requested: track.starts_with("request:"),
        session,
        at: session.created_at?,
    })
}

/// Only phileas creates sessions here, so each names its turn and a repository of the case.
pub(super) fn foreign_sessions(books: &Books, repositories: &[RepoId], verdict: &mut Verdict) {
    for session in &books.sessions {
        let known = |one: &Marked<'_>| repositories.iter().any(|repo| repo.0 == one.repository);
        if !marked(session).as_ref().is_some_and(known) {
            let text = format!(
                "session {} is not of phileas: {:?}",
                session.id, session.title
            );
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

/// How often a message is sent again that Jules accepted and no session has read.
const UNREAD_LIMIT: usize = 3;

/// A session gets no message twice, and none but answers, one reminder and one that asks for another plan. Jules may accept a message that the session never
/// reads; that one is sent again, at most `UNREAD_LIMIT` times.
pub(super) fn messages(ours: &[Marked<'_>], books: &Books, verdict: &mut Verdict) {
    let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
    for question in &books.questions {
        *asked.entry(&question.session).or_default() += 1;
    }
    for one in ours {
        let mut said = BTreeSet::new();
        let acts = one.session.acts.iter();
        let mut unread: BTreeMap<&str, usize> = BTreeMap::new();
        for act in acts.filter(|act| !act.in_web_app) {
            if act.what == "unread message" {
                *unread.entry(&act.text).or_default() += 1;
            }
            if act.what != "message" {
                continue;
            }
            if !said.insert(&act.text) {
                let id = &one.session.id;
                let text = format!("session {id} was told twice: {}", act.text);
                verdict.findings.push(text);
            }
        }
        for (message, count) in unread
            .into_iter()
            .filter(|(_, count)| *count > UNREAD_LIMIT)
        {
            let id = &one.session.id;
            let text =
                format!("session {id} was sent {count} times what it does not read: {message}");
            verdict.findings.push(text);
        }
        let id = one.session.id.as_str();
        let asked = asked.get(id).copied().unwrap_or_default();
        for (kind, count) in too_many(said.iter().map(|text| text.as_str()), asked) {
            let text = format!("session {id} was sent {count} messages of the kind {kind:?}");
            verdict.findings.push(text);
        }
    }
}

/// Kinds of messages of which there are more than a session may get, each with how many there are. Answers are as many as
/// it asked, one reminds it, one asks for another plan, and a person says one thing; how often it hears of its pull request is a promise of the program's. What bears no marker
/// is of no kind.
fn too_many<'t>(
    messages: impl Iterator<Item = &'t str>,
    asked: usize,
) -> impl Iterator<Item = (Option<&'static str>, usize)> {
    let kinds = [
        ("/q", asked),
        ("/r", 1),
        ("/p1", 1),
        ("/person-", 1),
        (" checks ", 2),
        (" base ", 3),
        (" reviews ", 6),
    ];
    let kind = |text: &str| {
        let last = text.lines().last()?.strip_prefix("phileas-message: ")?;
        let known = kinds.iter().find(|(word, _)| last.contains(word));
        known.map(|(word, _)| *word)
    };
    let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for text in messages {
        *counts.entry(kind(text)).or_default() += 1;
    }
    counts.into_iter().filter(move |(kind, count)| {
        let most = kinds.iter().find(|(word, _)| *kind == Some(word));
        *count > most.map_or(0, |(_, most)| *most)
    })
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
            foreign_sessions(&books, &[RepoId(repository)], &mut verdict);
            verdict.findings.len()
        };
        assert_eq!(found(ours.clone(), 7), 0);
        assert_eq!(found(ours, 8), 1, "another repository's");
        assert_eq!(found(session("Work."), 7), 1, "not of phileas");
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

    #[test]
    fn no_session_is_talked_to_death() {
        let found = |texts: &[&str], asked| too_many(texts.iter().copied(), asked).count();
        let answer = "Decide.\n\nphileas-message: abc.1/q1";
        let reminder = "Finish.\n\nphileas-message: abc.1/r1";
        let base = "Merge.\n\nphileas-message: pull 7 base 1f";
        let person = "Keep it short.\n\nphileas-message: abc.1/person-77";
        let plan = |pull| format!("It repeats #{pull}.\n\nphileas-message: abc.1/p1");
        let (plan, again) = (plan(7), plan(8));
        let all = [answer, reminder, &plan, person, base, base, base];
        assert_eq!(found(&all, 1), 0);
        assert_eq!(found(&[&plan, &again], 0), 1);
        assert_eq!(found(&[person, person], 0), 1);
        assert_eq!(found(&[answer], 0), 1);
        assert_eq!(found(&[reminder, reminder], 1), 1);
        assert_eq!(found(&[base, base, base, base], 0), 1);
        assert_eq!(found(&["Hello."], 9), 1, "of no kind");
    }
}
