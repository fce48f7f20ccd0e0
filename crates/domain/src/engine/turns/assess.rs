//! Assesses the session and the pull request of a persona's turn.

use jiff::{SignedDuration, Timestamp};

use super::messages::message_marker;
use super::progress::{LiveTurn, Progress};
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::session::{Activity, ActivityKind, SessionState};
use crate::engine::output::limits::{
    MESSAGE_LAG, MESSAGE_REPEATS, POLL, PULL_LAG, PULL_POLL, STATE_LAG,
};
use crate::engine::output::report::Reason;
use crate::engine::text::markdown::session_number;
use crate::engine::text::time::time_after;
use crate::plan::{AdvanceOn, Automation, PlanApproval, Policy};
use crate::prompt;
use crate::state::{Outcome, Turn};

/// The progress of a live turn by its session, where its pull request does not settle it.
pub(crate) fn session_outcome(live: &LiveTurn<'_>) -> Progress {
    let progress = if live.session.archived && live.session.state == SessionState::Paused {
        end(Outcome::Cancelled, "a person archived the session")
    } else {
        assess_state(live)
    };
    match progress {
        // An open pull request outlives its session; its end is followed elsewhere.
        Progress::End { note, archive, .. } if live.pull.is_some() => Progress::End {
            outcome: Outcome::PrOpen,
            note,
            archive,
        },
        progress => progress,
    }
}

/// The progress by the pull request, whatever Jules says: some sessions never leave their state, others are gone.
/// `at_work`: whether the session may still act.
pub(crate) fn pull_outcome(
    pull: &Pull,
    policy: &Policy,
    at_work: bool,
    now: Timestamp,
) -> Option<Progress> {
    let end = |outcome| Progress::End {
        outcome,
        note: None,
        archive: false,
    };
    Some(match pull.state {
        PullState::Merged => end(Outcome::Merged),
        PullState::Closed => end(Outcome::Rejected),
        PullState::Open => match policy.advance_on {
            AdvanceOn::PrOpen => end(Outcome::PrOpen),
            AdvanceOn::Completed if !at_work => end(Outcome::PrOpen),
            AdvanceOn::Completed => return None,
            AdvanceOn::Merged => Progress::Wait {
                reason: Reason::PrOpen,
                detail: format!("pull request #{} is neither merged nor closed", pull.number),
                until: time_after(now, PULL_POLL),
            },
        },
    })
}

fn assess_state(live: &LiveTurn<'_>) -> Progress {
    match &live.session.state {
        SessionState::Completed => assess_ended(live),
        SessionState::Failed => assess_failed(live),
        SessionState::AwaitingPlanApproval => assess_plan_approval(live),
        SessionState::AwaitingUserFeedback => assess_question(live),
        SessionState::Paused => Progress::Wait {
            reason: Reason::SessionPaused,
            detail: "a person paused the session in Jules".to_owned(),
            until: time_after(live.snapshot.now, PULL_POLL),
        },
        SessionState::Queued | SessionState::Planning | SessionState::InProgress => {
            assess_running(live, None)
        }
        SessionState::Unknown(word) => assess_running(live, Some(word)),
    }
}

fn end(outcome: Outcome, note: &str) -> Progress {
    Progress::End {
        outcome,
        note: Some(note.to_owned()),
        archive: false,
    }
}

/// Assesses a session that ended.
fn assess_ended(live: &LiveTurn<'_>) -> Progress {
    if live.pull.is_some() {
        return Progress::End {
            outcome: Outcome::PrOpen,
            note: None,
            archive: false,
        };
    }
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    let has_changes =
        live.session.has_changes || activities.iter().any(|activity| activity.has_changes);
    let ended_at = newest_activity(activities, |kind| matches!(kind, ActivityKind::Completed))
        .or(live.session.updated_at)
        .unwrap_or(live.session.created_at);
    if let Some(reminded_at) = live.turn.reminded_at {
        return assess_reminded(live, activities, has_changes, ended_at, reminded_at);
    }
    if live.policy.automation == Automation::None && has_changes {
        return end(Outcome::Completed, "changes kept in the session, as asked");
    }
    if has_changes && live.snapshot.now < time_after(ended_at, PULL_LAG) {
        return wait_for_pull(ended_at);
    }
    if live.policy.max_nudges == 0 {
        return if has_changes {
            end(Outcome::Completed, "changes without a pull request")
        } else {
            end(Outcome::NoOutput, "it ended without changes")
        };
    }
    Progress::Remind
}

/// Assesses a session that ended and was reminded that it has no result.
fn assess_reminded(
    live: &LiveTurn<'_>,
    activities: &[Activity],
    has_changes: bool,
    ended_at: Timestamp,
    reminded_at: Timestamp,
) -> Progress {
    let now = live.snapshot.now;
    let until = time_after(reminded_at, MESSAGE_LAG);
    if ended_at <= reminded_at && now < until {
        let detail = "it was reminded that it ended without a result".to_owned();
        return Progress::Wait {
            reason: Reason::SessionReminded,
            detail,
            until,
        };
    }
    // The decision to send was committed, but the process died before it sent the message.
    let marker = message_marker(live.turn, "r1");
    let was_told = was_delivered(activities, &marker);
    if ended_at <= reminded_at && !was_told && live.turn.repeats < MESSAGE_REPEATS {
        return Progress::Remind;
    }
    match (has_changes, now < time_after(ended_at, PULL_LAG)) {
        (true, true) => wait_for_pull(ended_at),
        (true, false) => end(Outcome::Completed, "changes without a pull request"),
        (false, _) => end(
            Outcome::NoOutput,
            if was_told {
                "it ended without changes, also after a reminder"
            } else {
                "it ended without changes, and the reminder did not arrive"
            },
        ),
    }
}

fn wait_for_pull(ended_at: Timestamp) -> Progress {
    let detail = "the session ended with changes; its pull request may still appear".to_owned();
    Progress::Wait {
        reason: Reason::SessionRunning,
        detail,
        until: time_after(ended_at, PULL_LAG),
    }
}

fn assess_failed(live: &LiveTurn<'_>) -> Progress {
    // Only the activities have the reason of a failure.
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    let reason = activities
        .iter()
        .rev()
        .find_map(|activity| match &activity.kind {
            ActivityKind::Failed(reason) if !reason.is_empty() => Some(note_line(reason)),
            _ => None,
        });
    let note = reason.unwrap_or_else(|| "Jules gives no reason".to_owned());
    if live.turn.failures < live.policy.retry {
        Progress::Retry { note }
    } else {
        Progress::End {
            outcome: Outcome::Failed,
            note: Some(note),
            archive: false,
        }
    }
}

fn assess_plan_approval(live: &LiveTurn<'_>) -> Progress {
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    let made = newest_activity(activities, |kind| {
        matches!(kind, ActivityKind::PlanGenerated { .. })
    });
    let approved = newest_activity(activities, |kind| {
        matches!(kind, ActivityKind::PlanApproved)
    });
    if approved.is_some() && approved >= made {
        // The state lags behind; the activity is proof.
        return assess_running(live, None);
    }
    match live.policy.plan_approval {
        PlanApproval::Auto => Progress::Approve,
        PlanApproval::Writers if is_plan_approved(live.turn, made) => Progress::Approve,
        PlanApproval::Writers => Progress::OpenNotice {
            reason: Reason::PlanApproval,
            detail: format!(
                "its plan waits for a person with write access: say `/phileas approve` where it was requested, or run \
                 `phileas session approve {}`",
                session_number(&live.session.id)
            ),
        },
        PlanApproval::Never => Progress::OpenNotice {
            reason: Reason::PlanApproval,
            detail:
                "its plan waits for approval in Jules itself; the plan forbids phileas to approve"
                    .to_owned(),
        },
    }
}

/// Whether a person approved the plan of this time, not an earlier one.
pub(crate) fn is_plan_approved(turn: &Turn, made: Option<Timestamp>) -> bool {
    let is_older = turn.approved_at.is_some() && turn.approved_at < made;
    turn.approved_by.is_some() && !is_older
}

/// Assesses a question of the session. It gets the standard answer a few times, then a notice is opened.
fn assess_question(live: &LiveTurn<'_>) -> Progress {
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    let now = live.snapshot.now;
    let given = live.turn.nudges;
    if let Some(until) = answered_by_person(live, activities).filter(|until| now < *until) {
        return Progress::Wait {
            reason: Reason::SessionAsked,
            detail: "a person has answered it".to_owned(),
            until: until.min(time_after(now, POLL)),
        };
    }
    let next = |number: u32| {
        if number <= live.policy.max_nudges {
            Progress::Answer { number }
        } else {
            Progress::OpenNotice {
                reason: Reason::PersonAnswer,
                detail: "it asked a question that the standard answer did not settle".to_owned(),
            }
        }
    };
    let Some(nudged_at) = live.turn.nudged_at.filter(|_| given > 0) else {
        return next(1);
    };
    let wait = |since: Timestamp| Progress::Wait {
        reason: Reason::SessionAsked,
        detail: format!("it was given answer {given} of {}", live.policy.max_nudges),
        until: time_after(since, MESSAGE_LAG).min(time_after(now, POLL)),
    };
    let marker = message_marker(live.turn, &format!("q{given}"));
    match sent_at(activities, &marker) {
        // The decision to send was committed, but the process died before it sent the message.
        None if now >= time_after(nudged_at, MESSAGE_LAG) => {
            if live.turn.repeats < MESSAGE_REPEATS {
                Progress::Answer { number: given }
            } else {
                Progress::OpenNotice {
                    reason: Reason::PersonAnswer,
                    detail: "it asked a question, and the standard answer does not arrive"
                        .to_owned(),
                }
            }
        }
        None => wait(nudged_at),
        Some(sent_at) => {
            // It may have continued and reported so, while its state is still that of before the answer.
            let asked_again = newest_activity(activities, |kind| {
                matches!(kind, ActivityKind::AgentMessaged(_))
            })
            .is_some_and(|at| at > sent_at && observed_at(live) >= time_after(at, STATE_LAG));
            if asked_again || observed_at(live) >= time_after(sent_at, MESSAGE_LAG) {
                next(given + 1)
            } else {
                wait(sent_at)
            }
        }
    }
}

/// When the session was read. A tick that started over may decide minutes later on the same listing.
fn observed_at(live: &LiveTurn<'_>) -> Timestamp {
    let listing = live.snapshot.listing();
    listing.map_or(live.snapshot.now, |listing| listing.taken_at)
}

/// If a person answered the newest question: until when the state may lag behind that answer.
fn answered_by_person(live: &LiveTurn<'_>, activities: &[Activity]) -> Option<Timestamp> {
    let standard = message_marker(live.turn, "q");
    let answered = newest_activity(
        activities,
        |kind| matches!(kind, ActivityKind::UserMessaged(text) if !text.contains(&standard)),
    )?;
    let asked = newest_activity(activities, |kind| {
        matches!(kind, ActivityKind::AgentMessaged(_))
    });
    asked
        .is_some_and(|asked| answered > asked)
        .then(|| time_after(answered, MESSAGE_LAG))
}

/// Assesses a running session. Inactivity counts, not age.
pub(crate) fn assess_running(live: &LiveTurn<'_>, unknown_state: Option<&str>) -> Progress {
    let now = live.snapshot.now;
    let stuck_after = SignedDuration::from_mins(i64::from(live.policy.stuck_minutes));
    let seen = live.session.updated_at.unwrap_or(live.session.created_at);
    if now < time_after(seen, stuck_after) {
        return Progress::Wait {
            reason: Reason::SessionRunning,
            detail: match unknown_state {
                Some(word) => {
                    format!("the session is in state `{word}`, which this version does not know")
                }
                None => "the session is at work".to_owned(),
            },
            until: time_after(now, POLL),
        };
    }
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    // Some sessions stay "in progress" forever after their work is done; the activities tell.
    let last_word = newest_activity(activities, |kind| {
        matches!(kind, ActivityKind::UserMessaged(_))
    });
    let done = newest_activity(activities, |kind| matches!(kind, ActivityKind::Completed));
    if done > last_word {
        return assess_ended(live);
    }
    let active_at = activities
        .iter()
        .map(|activity| activity.at)
        .max()
        .map_or(seen, |at| at.max(seen));
    let quiet = now.duration_since(active_at);
    let abandon_after = SignedDuration::from_secs(
        i64::try_from(live.policy.abandon_after_secs).unwrap_or(i64::MAX),
    );
    let minutes = quiet.as_mins();
    if quiet >= abandon_after {
        let note = Some(format!("nothing moved for {minutes} minutes"));
        return Progress::End {
            outcome: Outcome::Stuck,
            note,
            archive: true,
        };
    }
    let (reason, detail) = if quiet >= stuck_after {
        (
            Reason::SessionStuck,
            format!("nothing has moved for {minutes} minutes"),
        )
    } else {
        (Reason::SessionRunning, "the session is at work".to_owned())
    };
    Progress::Wait {
        reason,
        detail,
        until: time_after(now, POLL),
    }
}

/// Whether one of phileas' messages was delivered.
fn was_delivered(activities: &[Activity], marker: &str) -> bool {
    sent_at(activities, marker).is_some()
}

/// When the newest of phileas' messages with this marker was delivered.
pub(crate) fn sent_at(activities: &[Activity], marker: &str) -> Option<Timestamp> {
    let mut newest_first = activities.iter().rev();
    newest_first.find_map(|activity| match &activity.kind {
        ActivityKind::UserMessaged(text) if text.contains(marker) => Some(activity.at),
        _ => None,
    })
}

fn newest_activity(
    activities: &[Activity],
    wanted: impl Fn(&ActivityKind) -> bool,
) -> Option<Timestamp> {
    activities
        .iter()
        .filter(|activity| wanted(&activity.kind))
        .map(|activity| activity.at)
        .max()
}

/// Untrusted text as one line for the ledger, which may be public: nothing invisible, no marker of phileas, nothing
/// that looks like a key, and truncated.
fn note_line(text: &str) -> String {
    const LIMIT_CHARS: usize = 200;
    let line = prompt::without_secrets(&prompt::clean_line(text));
    line.chars().take(LIMIT_CHARS).collect()
}
