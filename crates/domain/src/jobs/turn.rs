//! Finds the turns of a track that an agent should be woken for.
//!
//! phileas handles its own turns: it approves plans, answers questions and retries. An agent is woken for what phileas
//! leaves to others, and for the outcome. Both are in the ledger, so an agent that was stopped finds them again. What
//! was sent is remembered by the sequence numbers of the history.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::job::JobId;
use super::line::first_value;
use crate::Diagnostic;
use crate::engine::{Line, Reason};
use crate::json;
use crate::model::{PersonaId, PullNumber, SessionId, TrackName, TurnId};
use crate::state::{HistoryEntry, Outcome, State, Turn};

/// How many entries may be sent after one that is still open. Beyond that, the open ones before them count as sent,
/// too.
pub const MAX_BEYOND: usize = 1_000;
/// How many causes of a live session are remembered.
pub const MAX_SENT: usize = 64;

/// News about a turn's session.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnNews {
    /// The session, which is the job.
    pub session: JobId,
    /// The turn.
    pub turn: Option<TurnId>,
    /// Its track.
    pub track: TrackName,
    /// The persona whose turn it is.
    pub persona: PersonaId,
    /// Its pull request, if the ledger knows it.
    pub pull: Option<PullNumber>,
    /// What happened.
    pub what: NewsKind,
}

/// What happened to a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum NewsKind {
    /// It asks a question that the standard answers did not settle.
    Asked {
        /// When phileas opened the notice.
        since: Option<Timestamp>,
    },
    /// Its plan waits for a person's approval.
    Planned {
        /// When phileas opened the notice.
        since: Option<Timestamp>,
    },
    /// The session has stopped moving.
    Quiet {
        /// phileas' description of it.
        detail: String,
    },
    /// The turn has ended.
    Ended {
        /// The sequence number of its history entry.
        key: u64,
        /// Its outcome.
        outcome: Outcome,
        /// The ledger's note on it.
        note: Option<String>,
    },
}

impl NewsKind {
    /// Distinguishes this wait from others of the same session, as far as the ledger knows.
    #[must_use]
    pub fn cause_mark(&self) -> String {
        let of = |word: &str, since: &Option<Timestamp>| {
            since.map_or_else(|| word.to_owned(), |since| format!("{word} {since}"))
        };
        match self {
            Self::Asked { since } => of("question", since),
            Self::Planned { since } => of("plan", since),
            Self::Quiet { .. } => "quiet".to_owned(),
            Self::Ended { key, .. } => format!("ended {key}"),
        }
    }
}

/// What was sent about the turns of one repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SentNews {
    /// All history entries before this one are processed.
    pub next: u64,
    /// And these.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub beyond: BTreeSet<u64>,
    /// Live sessions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub live: BTreeMap<JobId, SentForSession>,
}

/// What was sent about a live session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SentForSession {
    /// The wait that was processed last, as [`NewsKind::cause_mark`] names it; `None` once the session has continued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The causes of the events that were sent, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<String>,
}

impl SentNews {
    /// The start for a new repository: everything that ended before `since` counts as sent.
    #[must_use]
    pub fn from_state(state: &State, since: Timestamp) -> Self {
        let mut told = Self::default();
        for (key, entry) in &state.history {
            if entry.finished_at.is_some_and(|at| at < since) {
                told.beyond.insert(*key);
            }
        }
        told.tidy(state);
        told
    }

    /// The news to send now, oldest first. `waiting` holds the decision's report lines about waiting turns. Entries
    /// that need no event are marked as processed.
    pub fn news<'l>(
        &mut self,
        state: &State,
        waiting: impl IntoIterator<Item = &'l Line>,
    ) -> Vec<TurnNews> {
        let mut news = Vec::new();
        for (key, entry) in &state.history {
            if *key < self.next || self.beyond.contains(key) || !is_over(state, *key, entry) {
                continue;
            }
            match ended_news(state, *key, entry) {
                Some(one) => news.push(one),
                None => {
                    self.beyond.insert(*key);
                }
            }
        }
        let mut waits = BTreeSet::new();
        for line in waiting {
            let Some(one) = waiting_news(state, line) else {
                continue;
            };
            waits.insert(one.session.clone());
            let looked = self.live.get(&one.session);
            let is_known =
                looked.and_then(|looked| looked.at.as_deref()) == Some(&one.what.cause_mark());
            if !is_known {
                news.push(one);
            }
        }
        // A session that continued and waits again waits for something new.
        for (session, looked) in &mut self.live {
            if !waits.contains(session) {
                looked.at = None;
            }
        }
        self.tidy(state);
        news
    }

    /// Marks news as sent, or as needing no event. Returns whether the cause is new for this session.
    pub fn record_sent(&mut self, news: &TurnNews, cause: Option<&str>) -> bool {
        if let NewsKind::Ended { key, .. } = news.what {
            self.beyond.insert(key);
        }
        let looked = self.live.entry(news.session.clone()).or_default();
        looked.at = Some(news.what.cause_mark());
        let Some(cause) = cause.filter(|cause| looked.sent.iter().all(|told| told != cause)) else {
            return false;
        };
        looked.sent.push(cause.to_owned());
        if looked.sent.len() > MAX_SENT {
            looked.sent.remove(0);
        }
        true
    }

    /// Forgets what cannot come again.
    pub fn tidy(&mut self, state: &State) {
        self.live.retain(|session, _| {
            let live = state.live_turn(session.as_str());
            live.is_some_and(|(.., turn)| turn.session_id == Some(session.session_id()))
        });
        // Archived entries ended long ago.
        if let Some((first, _)) = state.history.first_key_value() {
            self.next = self.next.max(*first);
        }
        self.beyond.retain(|key| *key >= self.next);
        while self.beyond.len() > MAX_BEYOND {
            self.next = self.beyond.pop_first().map_or(self.next, |key| key + 1);
        }
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }
}

/// Whether an entry's session is over.
fn is_over(state: &State, key: u64, entry: &HistoryEntry) -> bool {
    let is_live = |turn: &Turn| turn.history_key == Some(key);
    entry.outcome.is_some() && !live_turns(state).any(is_live)
}

fn live_turns(state: &State) -> impl Iterator<Item = &Turn> {
    state.tracks.values().flat_map(|track| track.turns.values())
}

/// The news of an entry that is over. A failed attempt of a turn that continues is followed by the next attempt.
fn ended_news(state: &State, key: u64, entry: &HistoryEntry) -> Option<TurnNews> {
    let outcome = entry.outcome.clone()?;
    let goes_on = |turn: &Turn| Some(&turn.turn) == entry.turn.as_ref();
    let quiet =
        matches!(outcome, Outcome::Duplicate | Outcome::Other(_)) || outcome.is_closed_unmerged();
    // Another attempt may be over by now, too.
    let went_on = || {
        let mut later = state.history.range(key + 1..);
        later.any(|(_, later)| later.turn == entry.turn)
    };
    if quiet || entry.turn.is_some() && (live_turns(state).any(goes_on) || went_on()) {
        return None;
    }
    Some(TurnNews {
        session: job_of(entry.session_id.as_ref()?)?,
        turn: entry.turn.clone(),
        track: entry.track_name(),
        persona: entry.persona_id.clone(),
        pull: entry.pr_number,
        what: NewsKind::Ended {
            key,
            outcome,
            note: entry.note.clone(),
        },
    })
}

/// The news of a report line about a live turn.
fn waiting_news(state: &State, line: &Line) -> Option<TurnNews> {
    let session = line.session_id.as_ref()?;
    let (track, _, turn) = state.live_turn(session.as_str())?;
    let since = turn.warned_at;
    let what = match line.reason {
        Reason::PersonAnswer => NewsKind::Asked { since },
        // Without a notice phileas approves the plan itself.
        Reason::PlanApproval if since.is_some() => NewsKind::Planned { since },
        Reason::SessionStuck => NewsKind::Quiet {
            detail: line.detail.clone(),
        },
        _ => return None,
    };
    Some(TurnNews {
        session: job_of(session)?,
        turn: Some(turn.turn.clone()),
        track: track.clone(),
        persona: turn.persona_id.clone(),
        pull: turn.pr_number,
        what,
    })
}

fn job_of(session: &SessionId) -> Option<JobId> {
    session.as_str().parse().ok()
}

/// Everything that is remembered about turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedMemory {
    /// Turns that ended before this time are no news, in any repository.
    pub since: Timestamp,
    /// What was sent, by GitHub's id of the repository. A repository that is missing here is new, and its past is no
    /// news.
    #[serde(default)]
    pub repositories: BTreeMap<u64, SentNews>,
}

impl FeedMemory {
    /// The memory of a monitor that starts now.
    #[must_use]
    pub fn new(since: Timestamp) -> Self {
        Self {
            since,
            repositories: BTreeMap::new(),
        }
    }

    /// Reads the file, and names what follows its value.
    ///
    /// # Errors
    ///
    /// The file is no such memory.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<(Self, Vec<Diagnostic>), Box<Diagnostic>> {
        let (value, behind) = first_value(file, bytes)?;
        let memory = json::read_json_value(value).map_err(|error| {
            Diagnostic::error(file, error.what)
                .help(error.help)
                .at(1, 1)
        })?;
        Ok((memory, Vec::from_iter(behind)))
    }

    /// The file's text.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = serde_json::to_string(self).expect("its keys are texts and numbers");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Verdict;
    use crate::state::{Extra, TrackState};

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + 60 * minute).unwrap()
    }

    fn entry(session: &str, outcome: Option<Outcome>, finished: i64) -> HistoryEntry {
        HistoryEntry {
            session_id: Some(session.into()),
            finished_at: outcome.is_some().then(|| at(finished)),
            persona_id: "curator".into(),
            pr_number: None,
            created_at: None,
            track: None,
            turn: None,
            seq: None,
            slot: None,
            attempt: None,
            base_sha: None,
            outcome,
            duplicates: Vec::new(),
            zero_touch: None,
            review_secs: None,
            refused: None,
            prompt: None,
            note: None,
            extra: Extra::new(),
        }
    }

    fn state(entries: Vec<HistoryEntry>) -> State {
        State {
            history: (0..).zip(entries).collect(),
            ..State::default()
        }
    }

    fn keys(news: &[TurnNews]) -> Vec<u64> {
        news.iter()
            .filter_map(|one| match one.what {
                NewsKind::Ended { key, .. } => Some(key),
                _ => None,
            })
            .collect()
    }

    fn again(told: &SentNews) -> SentNews {
        let mut memory = FeedMemory::new(at(0));
        memory.repositories.insert(7, told.clone());
        let read = FeedMemory::parse("feed.json", memory.render().as_bytes())
            .unwrap()
            .0;
        read.repositories[&7].clone()
    }

    #[test]
    fn each_end_is_told_once_in_whatever_order_they_come() {
        let mut state = state(vec![
            entry("1", Some(Outcome::Merged), 1),
            entry("2", None, 0),
            entry("3", Some(Outcome::PrOpen), 20),
            entry("4", Some(Outcome::Rejected), 21),
        ]);
        let mut told = SentNews::from_state(&state, at(10));
        let news = told.news(&state, []);
        assert_eq!(keys(&news), [2]);
        assert!(told.record_sent(&news[0], Some("a")));
        // A merge completes an entry that was sent.
        state.history.get_mut(&2).unwrap().outcome = Some(Outcome::Merged);
        let mut told = again(&told);
        assert!(told.news(&state, []).is_empty());
        state
            .history
            .insert(1, entry("2", Some(Outcome::Failed), 30));
        let news = told.news(&state, []);
        assert_eq!(keys(&news), [1]);
        told.record_sent(&news[0], Some("b"));
        told.tidy(&state);
        assert_eq!((told.next, told.beyond.len(), told.live.len()), (4, 0, 0));
    }

    #[test]
    fn an_attempt_that_is_followed_by_another_is_no_end() {
        let id = TurnId::parse("0123456789ab").unwrap();
        let mut state = state(vec![HistoryEntry {
            turn: Some(id.clone()),
            ..entry("1", Some(Outcome::Failed), 20)
        }]);
        let mut track = TrackState::default();
        let turn = Turn::new(id, "curator".into());
        track.turns.insert("".into(), turn);
        state.tracks.insert("default".into(), track);
        let mut told = SentNews::from_state(&state, at(10));
        assert!(told.news(&state, []).is_empty());
        state.tracks.clear();
        assert!(
            again(&told).news(&state, []).is_empty(),
            "it is over for good"
        );
    }

    #[test]
    fn a_wait_is_news_when_it_begins() {
        let id = TurnId::parse("0123456789ab").unwrap();
        let mut state = State::default();
        let mut track = TrackState::default();
        let mut turn = Turn::new(id, "curator".into());
        turn.session_id = Some("77".into());
        turn.warned_at = Some(at(5));
        track.turns.insert("".into(), turn);
        state.tracks.insert("default".into(), track);
        let line = |reason| Line {
            track: Some("default".into()),
            seq: None,
            slot: None,
            persona: None,
            verdict: Verdict::Waiting,
            reason,
            turn: None,
            session_id: Some("77".into()),
            pr_number: None,
            detail: "it waits".to_owned(),
            until: None,
            is_requested: false,
        };
        let mut told = SentNews::from_state(&state, at(0));
        let asks = [line(Reason::PersonAnswer)];
        let news = told.news(&state, &asks);
        assert_eq!(news.len(), 1);
        assert!(told.record_sent(&news[0], Some("question/a")));
        let mut told = again(&told);
        assert!(told.news(&state, &asks).is_empty());
        // The question was answered, the session continued and asks again; the state may lag behind the first answer.
        assert!(
            told.news(&state, &[line(Reason::SessionRunning)])
                .is_empty()
        );
        let news = told.news(&state, &asks);
        assert_eq!(news.len(), 1);
        assert!(
            !told.record_sent(&news[0], Some("question/a")),
            "nothing new is asked"
        );
        // A plan that phileas is about to approve is no news.
        let plan = [line(Reason::PlanApproval)];
        assert_eq!(told.news(&state, &plan).len(), 1);
        let turn = state
            .tracks
            .values_mut()
            .flat_map(|track| track.turns.values_mut());
        turn.for_each(|turn| turn.warned_at = None);
        assert!(told.news(&state, &plan).is_empty());
    }

    #[test]
    fn memory_is_bounded_and_never_guessed() {
        let open = std::iter::once(entry("1", None, 0));
        let over =
            (0..MAX_BEYOND as u64 + 5).map(|n| entry(&n.to_string(), Some(Outcome::Merged), 1));
        let state = state(open.chain(over).collect());
        let told = SentNews::from_state(&state, at(10));
        assert!(told.beyond.len() <= MAX_BEYOND);
        for text in ["", "[]", "{}", "{\"since\": 3}"] {
            assert!(
                FeedMemory::parse("feed.json", text.as_bytes()).is_err(),
                "{text}"
            );
        }
    }
}
