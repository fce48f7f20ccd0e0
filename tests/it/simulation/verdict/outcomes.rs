//! What the history says became of the work, beside what the world knows of it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_world::github::{Pull, repository};
use serde_json::Value;

use super::{Judge, entries};

/// For how long a pull request must have been as it is until the history has to say so. It is looked at each half hour.
const SETTLED: SignedDuration = SignedDuration::from_mins(90);

/// How a pull request stands, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PullState {
    Open(Timestamp),
    Merged(Timestamp),
    Closed(Timestamp),
}

impl PullState {
    fn of(pull: &Pull) -> Self {
        let thread = &pull.thread;
        // A pull request that is reopened begins again.
        let reopened = thread.timeline.iter().filter_map(|event| {
            matches!(event.what, repository::TimelineKind::Reopened).then_some(event.at)
        });
        match (&pull.merged, thread.closed_at) {
            (Some(merge), _) => Self::Merged(merge.at),
            (None, Some(at)) => Self::Closed(at),
            (None, None) => Self::Open(reopened.max().unwrap_or(thread.created_at)),
        }
    }

    fn outcome_key(self) -> &'static str {
        match self {
            Self::Open(_) => "pr_open",
            Self::Merged(_) => "merged",
            Self::Closed(_) => "rejected",
        }
    }

    fn since(self) -> Timestamp {
        match self {
            Self::Open(at) | Self::Merged(at) | Self::Closed(at) => at,
        }
    }

    /// Whether an outcome that speaks of a pull request says something else at the end.
    fn contradicts(self, outcome: &str, end: Timestamp) -> bool {
        let said = match outcome {
            "repeated" | "no_op" | "superseded" => "rejected",
            "reverted" => "merged",
            outcome => outcome,
        };
        let speaks = matches!(said, "pr_open" | "merged" | "rejected");
        speaks && said != self.outcome_key() && end.duration_since(self.since()) > SETTLED
    }
}

impl Judge<'_> {
    /// What has come of a pull request is what the history says, and work with one is never called empty.
    pub(super) fn outcomes(&mut self, state: &Value) {
        let github = self.world.github();
        let end = self.world.now();
        let sessions: BTreeMap<&str, _> = self
            .books
            .sessions
            .iter()
            .map(|one| (one.id.as_str(), one))
            .collect();
        let mut wrong = Vec::new();
        for entry in entries(state) {
            let (Some(id), Some(outcome)) =
                (entry["session_id"].as_str(), entry["outcome"].as_str())
            else {
                continue;
            };
            let Some(session) = sessions.get(id) else {
                wrong.push(format!("there is no session {id}, which the history names"));
                continue;
            };
            let known = entry["pr_number"].as_u64();
            if let Some(number) = known {
                let Some(pull) = github.pull(self.repo, number) else {
                    wrong.push(format!(
                        "session {id} has opened #{number}, which is not there"
                    ));
                    continue;
                };
                let fate = PullState::of(pull);
                if fate.contradicts(outcome, end) {
                    let (word, since) = (fate.outcome_key(), fate.since());
                    wrong.push(format!(
                        "session {id} is `{outcome}`, and #{number} is `{word}` since {since}"
                    ));
                }
            } else if matches!(outcome, "pr_open" | "merged" | "rejected") {
                wrong.push(format!(
                    "session {id} is `{outcome}` without a pull request"
                ));
            }
            if session.pull.is_some() && known.is_some() && session.pull != known {
                wrong.push(format!(
                    "session {id} has opened {:?}, and the history says {known:?}",
                    session.pull
                ));
            }
            let opened = session
                .pull
                .and_then(|number| github.pull(self.repo, number))
                .map(|pull| pull.thread.created_at);
            let finished = entry["finished_at"].as_str();
            let finished = finished.and_then(|at| at.parse::<Timestamp>().ok());
            if is_overlooked(outcome, opened, finished) {
                let pull = session.pull.unwrap_or_default();
                wrong.push(format!(
                    "session {id} is `{outcome}`, and it had opened #{pull}"
                ));
            }
        }
        for text in wrong {
            self.find(text);
        }
    }
}

/// Whether a session counts as one without a pull request that had opened one before that was written down.
fn is_overlooked(outcome: &str, opened: Option<Timestamp>, finished: Option<Timestamp>) -> bool {
    matches!(outcome, "no_output" | "completed")
        && opened
            .zip(finished)
            .is_some_and(|(opened, finished)| opened < finished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_767_571_200 + minute * 60).unwrap()
    }

    #[test]
    fn merged_work_is_not_rejected() {
        let merged = PullState::Merged(at(0));
        assert!(merged.contradicts("rejected", at(91)));
        assert!(merged.contradicts("pr_open", at(91)));
        assert!(!merged.contradicts("pr_open", at(89)));
        assert!(!merged.contradicts("merged", at(91)));
        assert!(
            !merged.contradicts("failed", at(91)),
            "it speaks of the session"
        );
        assert!(merged.contradicts("no_op", at(91)));
        assert!(!merged.contradicts("reverted", at(91)));
        assert!(!PullState::Closed(at(0)).contradicts("repeated", at(91)));
        assert!(PullState::Closed(at(0)).contradicts("merged", at(91)));
        assert!(PullState::Open(at(0)).contradicts("rejected", at(91)));
    }

    #[test]
    fn work_with_a_pull_request_is_not_empty() {
        let (early, late) = (Some(at(0)), Some(at(1)));
        assert!(is_overlooked("no_output", early, late));
        assert!(is_overlooked("completed", early, late));
        assert!(!is_overlooked("no_output", late, early));
        assert!(!is_overlooked("no_output", None, late));
        assert!(!is_overlooked("merged", early, late));
    }
}
