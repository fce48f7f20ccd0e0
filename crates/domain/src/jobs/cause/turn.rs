//! Builds the event of a turn's session, under the name that the monitor would use. A session that is both a turn and a
//! registered job causes one event.

use super::log::{ActivityLog, Finding, MAX_TITLE_CHARS, Verdict, message_text, question_found};
use crate::engine::{Activity, SessionState};
use crate::jobs::event::{EventKind, NewEvent, Payload, shorten_text};
use crate::jobs::session::AccountSession;
use crate::jobs::turn::{NewsKind, TurnNews};
use crate::model::RepositoryName;
use crate::state::Outcome;

/// What was read of a turn's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRead {
    /// It could not be read.
    Unread,
    /// Jules does not know it.
    Missing,
    /// It was read.
    Found {
        /// The session.
        session: Box<AccountSession>,
        /// Its activities, oldest first.
        log: Vec<Activity>,
    },
}

/// The event of a turn, from what Jules shows of its session. `None`: no event is needed after all. Of a session that
/// could not be read, the event is built all the same.
#[must_use]
pub fn turn_event(
    news: &TurnNews,
    repository: &RepositoryName,
    read: &SessionRead,
) -> Option<NewEvent> {
    let (seen, activities) = match read {
        SessionRead::Found { session, log } => (Some(&**session), log.as_slice()),
        SessionRead::Unread | SessionRead::Missing => (None, [].as_slice()),
    };
    if seen.is_some_and(|seen| has_resumed(&news.what, seen)) {
        return None;
    }
    let log = ActivityLog::new(activities);
    let found = match &news.what {
        // phileas opened a notice because Jules waits, so there is no need to wait any longer.
        NewsKind::Asked { .. } => match log.last_said() {
            Some((activity, text)) => question_found(activity, text),
            None => unread_found(
                news,
                EventKind::Question,
                "Jules waits for an answer and does not show its question; the session's page may",
            ),
        },
        NewsKind::Planned { .. } => {
            match log.judge_plan(jiff::Timestamp::MIN, jiff::Timestamp::MAX) {
                Verdict::Send(found) if !activities.is_empty() => *found,
                Verdict::None => return None,
                _ => unread_found(
                    news,
                    EventKind::PlanReview,
                    "Jules waits for its plan to be approved and does not show it",
                ),
            }
        }
        NewsKind::Quiet { detail } => {
            let last = log.newest.map_or("start", |activity| activity.id.as_str());
            let mut found = Finding::new(EventKind::Stuck, format!("after {last}"));
            found.message = Some(log.newest.and_then(message_text).unwrap_or(detail.clone()));
            found.payload.activity_id = log.newest.map(|activity| activity.id.clone());
            found
        }
        NewsKind::Ended { outcome, note, .. } => {
            let missing = *read == SessionRead::Missing;
            ended_found(&log, outcome, note.as_deref(), missing)?
        }
    };
    let title = seen.map(|seen| seen.title.trim().to_owned());
    let pull = seen.and_then(|seen| Some(seen.pull()?.url.clone()));
    let of_ledger = |number| format!("https://github.com/{repository}/pull/{number}");
    let payload = Payload {
        repo: Some(repository.to_string()),
        title: shorten_text(title.filter(|title| !title.is_empty()), MAX_TITLE_CHARS).0,
        url: seen
            .map(|seen| seen.url.clone())
            .filter(|url| !url.is_empty()),
        pull: pull.or_else(|| news.pull.map(|number| of_ledger(number.0))),
        track: Some(news.track.to_string()),
        persona: Some(news.persona.to_string()),
        turn: news.turn.as_ref().map(ToString::to_string),
        ..found.payload
    };
    Some(NewEvent {
        kind: found.kind,
        job_id: Some(news.session.clone()),
        status: seen.map(|seen| seen.state.as_str().to_owned()),
        message: found.message,
        last_activity: log.newest.map(|newest| newest.at),
        payload,
        cause: found.cause,
    })
}

/// The finding if the activity that would name it is unknown: it is named after the time of phileas' notice.
fn unread_found(news: &TurnNews, kind: EventKind, message: &str) -> Finding {
    let mut found = Finding::new(kind, format!("unread {}", news.what.cause_mark()));
    found.message = Some(message.to_owned());
    found
}

fn ended_found(
    log: &ActivityLog<'_>,
    outcome: &Outcome,
    note: Option<&str>,
    missing: bool,
) -> Option<Finding> {
    let note = note
        .map(str::to_owned)
        .filter(|note| !note.trim().is_empty());
    let error = |cause: String, word: &str| {
        let mut found = Finding::new(EventKind::Error, cause);
        found.payload.cause = Some(word.to_owned());
        found
    };
    Some(match outcome {
        Outcome::Merged
        | Outcome::PrOpen
        | Outcome::Completed
        | Outcome::Imported
        | Outcome::NoOutput => {
            let mut found = Finding::new(EventKind::Completed, log.period_name());
            let word = match outcome {
                Outcome::Merged | Outcome::PrOpen => "pull_request",
                Outcome::Completed => "changes",
                Outcome::Imported => "imported",
                _ => "nothing",
            };
            found.payload.outcome = Some(word.to_owned());
            found.message = match outcome {
                Outcome::NoOutput => log.last_said().map(|(_, text)| text.to_owned()).or(note),
                _ => note,
            };
            found
        }
        Outcome::Failed => {
            let mut found = error(format!("failed {}", log.period_name()), "session_failed");
            found.message = note.or_else(|| Some("Jules gives no reason".to_owned()));
            found
        }
        Outcome::Stuck => {
            let mut found = error(format!("given up {}", log.period_name()), "given_up");
            found.message = note;
            found
        }
        // A person who cancelled the session knows about it; that a session has disappeared may be unknown to all.
        Outcome::Cancelled if missing => {
            let mut found = error("not_found".to_owned(), "not_found");
            found.cause = "not_found".to_owned();
            found.message = note.or_else(|| Some("Jules does not know this session".to_owned()));
            found
        }
        _ => return None,
    })
}

/// Whether Jules waits no longer: the decision is a moment old, and an answer may have come since.
fn has_resumed(what: &NewsKind, seen: &AccountSession) -> bool {
    match what {
        NewsKind::Asked { .. } => seen.state != SessionState::AwaitingUserFeedback,
        NewsKind::Planned { .. } => seen.state != SessionState::AwaitingPlanApproval,
        NewsKind::Quiet { .. } | NewsKind::Ended { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::engine::{ActivityKind, PlanStep};
    use crate::jobs::{Job, JobMemory, Rules, judge_session};

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + 60 * minute).unwrap()
    }

    fn activity(id: &str, minute: i64, kind: ActivityKind) -> Activity {
        Activity {
            id: id.to_owned(),
            at: at(minute),
            kind,
            has_changes: false,
        }
    }

    fn session(state: SessionState) -> AccountSession {
        AccountSession {
            title: "Tidy".to_owned(),
            created_at: Some(at(0)),
            updated_at: Some(at(0)),
            ..AccountSession::new("77".parse().unwrap(), state)
        }
    }

    fn news(what: NewsKind) -> TurnNews {
        TurnNews {
            session: "77".parse().unwrap(),
            turn: None,
            track: "default".into(),
            persona: "curator".into(),
            pull: None,
            what,
        }
    }

    fn ended(outcome: Outcome) -> NewsKind {
        NewsKind::Ended {
            key: 1,
            outcome,
            note: None,
        }
    }

    /// The event that the monitor would send for the same session as a registered job.
    fn of_job(seen: &AccountSession, log: &[Activity]) -> NewEvent {
        let rules = Rules {
            stuck: jiff::SignedDuration::from_mins(20),
        };
        let job = Job::new(seen.id.clone());
        let now = at(10_000);
        judge_session(
            &job,
            &mut JobMemory::default(),
            seen,
            Some(log),
            now,
            &rules,
        )
        .unwrap()
    }

    #[test]
    fn a_turn_and_a_job_of_one_session_are_told_under_one_name() {
        let plan = ActivityKind::PlanGenerated {
            id: "p1".to_owned(),
            steps: vec![PlanStep::default()],
        };
        let asks = ActivityKind::AgentMessaged("Tabs?".to_owned());
        let answer = ActivityKind::UserMessaged("Yes.".to_owned());
        let since = Some(at(1));
        let cases = [
            (
                SessionState::AwaitingUserFeedback,
                vec![
                    activity("a", 1, answer.clone()),
                    activity("b", 2, asks.clone()),
                ],
                NewsKind::Asked { since },
            ),
            (
                SessionState::AwaitingPlanApproval,
                vec![activity("a", 1, plan)],
                NewsKind::Planned { since },
            ),
            (
                SessionState::InProgress,
                vec![activity("a", 1, ActivityKind::PlanApproved)],
                NewsKind::Quiet {
                    detail: "quiet".to_owned(),
                },
            ),
            (
                SessionState::Completed,
                vec![
                    activity("a", 1, answer),
                    activity("b", 2, ActivityKind::Completed),
                ],
                ended(Outcome::NoOutput),
            ),
            (
                SessionState::Failed,
                vec![activity(
                    "a",
                    1,
                    ActivityKind::Failed("No room.".to_owned()),
                )],
                ended(Outcome::Failed),
            ),
        ];
        for (state, log, what) in cases {
            let seen = session(state);
            let read = SessionRead::Found {
                session: Box::new(seen.clone()),
                log: log.clone(),
            };
            let name = "acme/widget".parse().unwrap();
            let turn = turn_event(&news(what.clone()), &name, &read).unwrap();
            assert_eq!(
                turn.dedup_key(),
                of_job(&seen, &log).dedup_key(),
                "{what:?}"
            );
            assert_eq!(turn.payload.track.as_deref(), Some("default"));
        }
    }

    #[test]
    fn what_people_did_themselves_wakes_no_agent() {
        let name: RepositoryName = "acme/widget".parse().unwrap();
        let found = SessionRead::Found {
            session: Box::new(session(SessionState::Paused)),
            log: Vec::new(),
        };
        let told = |outcome, read: &SessionRead| turn_event(&news(ended(outcome)), &name, read);
        assert_eq!(told(Outcome::Cancelled, &found), None);
        assert_eq!(told(Outcome::Rejected, &found), None);
        let gone = told(Outcome::Cancelled, &SessionRead::Missing).unwrap();
        assert_eq!(gone.payload.cause.as_deref(), Some("not_found"));
        // The session could not be read, so no claim is made.
        assert_eq!(told(Outcome::Cancelled, &SessionRead::Unread), None);
    }

    #[test]
    fn what_cannot_be_read_is_told_all_the_same() {
        let name: RepositoryName = "acme/widget".parse().unwrap();
        let keys: std::collections::BTreeSet<String> = [at(1), at(2)]
            .into_iter()
            .flat_map(|at| {
                [
                    NewsKind::Asked { since: Some(at) },
                    NewsKind::Planned { since: Some(at) },
                ]
            })
            .map(|what| turn_event(&news(what), &name, &SessionRead::Unread))
            .map(|event| event.unwrap().dedup_key())
            .collect();
        assert_eq!(keys.len(), 4, "each call has a name of its own: {keys:?}");
    }
}
