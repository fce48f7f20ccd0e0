//! A persona's turn: one slot, one session, one pull request.

use jiff::{SignedDuration, Timestamp};

use super::messages::message_marker;
use super::progress::{Live, Progress};
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::session::{Activity, ActivityKind, SessionState};
use crate::engine::output::limits::{
    MESSAGE_LAG, MESSAGE_REPEATS, POLL, PULL_LAG, PULL_POLL, STATE_LAG,
};
use crate::engine::output::report::Reason;
use crate::plan::{AdvanceOn, Automation, PlanApproval, Policy};
use crate::prompt;
use crate::state::{Outcome, Turn};

/// What a live turn has come to by its session's word, where its pull request does not settle it.
pub(crate) fn session_outcome(live: &Live<'_>) -> Progress {
    let progress = if live.session.archived && live.session.state == SessionState::Paused {
        Progress::End {
            outcome: Outcome::Cancelled,
            note: Some("a person archived the session".to_owned()),
            archive: false,
        }
    } else {
        by_state(live)
    };
    match progress {
        // An open pull request outlives its session; what becomes of it is still to be learned.
        Progress::End { note, archive, .. } if live.pull.is_some() => Progress::End {
            outcome: Outcome::PrOpen,
            note,
            archive,
        },
        progress => progress,
    }
}

/// What the pull request says, whatever Jules says: some sessions never leave their state, others are gone. `at_work`:
/// whether the session may still do something.
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
                until: later(now, PULL_POLL),
            },
        },
    })
}

fn by_state(live: &Live<'_>) -> Progress {
    match &live.session.state {
        SessionState::Completed => ended(live),
        SessionState::Failed => failed(live),
        SessionState::AwaitingPlanApproval => plan_approval(live),
        SessionState::AwaitingUserFeedback => asked(live),
        SessionState::Paused => Progress::Wait {
            reason: Reason::SessionPaused,
            detail: "a person paused the session in Jules".to_owned(),
            until: later(live.snapshot.now, PULL_POLL),
        },
        SessionState::Queued | SessionState::Planning | SessionState::InProgress => {
            running(live, None)
        }
        SessionState::Unknown(word) => running(live, Some(word)),
    }
}

/// The session ended.
fn ended(live: &Live<'_>) -> Progress {
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
    let now = live.snapshot.now;
    let has_changes =
        live.session.has_changes || activities.iter().any(|activity| activity.has_changes);
    let end = |outcome, note: &str| Progress::End {
        outcome,
        note: Some(note.to_owned()),
        archive: false,
    };
    let ended_at = newest(activities, |kind| matches!(kind, ActivityKind::Completed))
        .or(live.session.updated_at)
        .unwrap_or(live.session.created_at);
    if let Some(reminded_at) = live.turn.reminded_at {
        let until = later(reminded_at, MESSAGE_LAG);
        if ended_at <= reminded_at && now < until {
            let detail = "it was reminded that it ended without a result".to_owned();
            return Progress::Wait {
                reason: Reason::SessionReminded,
                detail,
                until,
            };
        }
        // The decision to send was committed, and the message is not there: the sender died in between.
        let marker = message_marker(live.turn, "r1");
        let was_told = was_told(activities, &marker);
        if ended_at <= reminded_at && !was_told && live.turn.repeats < MESSAGE_REPEATS {
            return Progress::Remind;
        }
        return match (has_changes, now < later(ended_at, PULL_LAG)) {
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
        };
    }
    if live.policy.automation == Automation::None && has_changes {
        return end(Outcome::Completed, "changes kept in the session, as asked");
    }
    if has_changes && now < later(ended_at, PULL_LAG) {
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

fn wait_for_pull(ended_at: Timestamp) -> Progress {
    let detail = "the session ended with changes; its pull request may still appear".to_owned();
    Progress::Wait {
        reason: Reason::SessionRunning,
        detail,
        until: later(ended_at, PULL_LAG),
    }
}

fn failed(live: &Live<'_>) -> Progress {
    // The reason of a failure stands only in the activities.
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    let reason = activities
        .iter()
        .rev()
        .find_map(|activity| match &activity.kind {
            ActivityKind::Failed(reason) if !reason.is_empty() => Some(one_line(reason)),
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

fn plan_approval(live: &Live<'_>) -> Progress {
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    let made = newest(activities, |kind| {
        matches!(kind, ActivityKind::PlanGenerated(_))
    });
    let approved = newest(activities, |kind| {
        matches!(kind, ActivityKind::PlanApproved)
    });
    if approved.is_some() && approved >= made {
        // The state lags behind; the activity is the proof.
        return running(live, None);
    }
    match live.policy.plan_approval {
        PlanApproval::Auto => Progress::Approve,
        PlanApproval::Writers if is_approved(live.turn, made) => Progress::Approve,
        PlanApproval::Writers => Progress::CallPerson {
            reason: Reason::PlanApproval,
            detail: "its plan waits for the approval of a person with write access: `/phileas approve` or the \
                     label `phileas:approve-plan` where it was asked for, else `phileas session approve`"
                .to_owned(),
        },
        PlanApproval::Never => Progress::CallPerson {
            reason: Reason::PlanApproval,
            detail:
                "its plan waits for approval in Jules itself; the plan forbids phileas to approve"
                    .to_owned(),
        },
    }
}

/// Whether a person has said yes to the plan that was made at this time, not to one before it.
fn is_approved(turn: &Turn, made: Option<Timestamp>) -> bool {
    let is_older = turn.approved_at.is_some() && turn.approved_at < made;
    turn.approved_by.is_some() && !is_older
}

/// The session asked something. It gets the standard answer a few times, then a person is called.
fn asked(live: &Live<'_>) -> Progress {
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    let now = live.snapshot.now;
    let given = live.turn.nudges;
    if let Some(until) = answered_by_person(live, activities).filter(|until| now < *until) {
        return Progress::Wait {
            reason: Reason::SessionAsked,
            detail: "a person has answered it".to_owned(),
            until: until.min(later(now, POLL)),
        };
    }
    let next = |number: u32| {
        if number <= live.policy.max_nudges {
            Progress::Answer { number }
        } else {
            Progress::CallPerson {
                reason: Reason::PersonAnswer,
                detail: "it asked something that the standard answer did not settle".to_owned(),
            }
        }
    };
    let Some(nudged_at) = live.turn.nudged_at.filter(|_| given > 0) else {
        return next(1);
    };
    let wait = |since: Timestamp| Progress::Wait {
        reason: Reason::SessionAsked,
        detail: format!("it was given answer {given} of {}", live.policy.max_nudges),
        until: later(since, MESSAGE_LAG).min(later(now, POLL)),
    };
    let marker = message_marker(live.turn, &format!("q{given}"));
    let sent_at = activities
        .iter()
        .rev()
        .find_map(|activity| match &activity.kind {
            ActivityKind::UserMessaged(text) if text.contains(&marker) => Some(activity.at),
            _ => None,
        });
    match sent_at {
        // The decision to send was committed, and the message is not there: the sender died in between.
        None if now >= later(nudged_at, MESSAGE_LAG) => {
            if live.turn.repeats < MESSAGE_REPEATS {
                Progress::Answer { number: given }
            } else {
                Progress::CallPerson {
                    reason: Reason::PersonAnswer,
                    detail: "it asked something, and the standard answer does not arrive"
                        .to_owned(),
                }
            }
        }
        None => wait(nudged_at),
        Some(sent_at) => {
            // It may have gone on and said so, and its state still be that of before the answer.
            let asked_again = newest(activities, |kind| {
                matches!(kind, ActivityKind::AgentMessaged(_))
            })
            .is_some_and(|at| at > sent_at && seen_at(live) >= later(at, STATE_LAG));
            if asked_again || seen_at(live) >= later(sent_at, MESSAGE_LAG) {
                next(given + 1)
            } else {
                wait(sent_at)
            }
        }
    }
}

/// When the session was looked at. A tick that had to begin anew may decide minutes later, on the same listing.
fn seen_at(live: &Live<'_>) -> Timestamp {
    let listing = live.snapshot.listing();
    listing.map_or(live.snapshot.now, |listing| listing.taken_at)
}

/// Somebody else than phileas has answered the newest question: until when the state may lag behind that answer.
fn answered_by_person(live: &Live<'_>, activities: &[Activity]) -> Option<Timestamp> {
    let standard = message_marker(live.turn, "q");
    let answered = newest(
        activities,
        |kind| matches!(kind, ActivityKind::UserMessaged(text) if !text.contains(&standard)),
    )?;
    let asked = newest(activities, |kind| {
        matches!(kind, ActivityKind::AgentMessaged(_))
    });
    asked
        .is_some_and(|asked| answered > asked)
        .then(|| later(answered, MESSAGE_LAG))
}

/// At work, by its own word. Silence counts, not age.
fn running(live: &Live<'_>, unknown_state: Option<&str>) -> Progress {
    let now = live.snapshot.now;
    let stuck_after = SignedDuration::from_mins(i64::from(live.policy.stuck_minutes));
    let seen = live.session.updated_at.unwrap_or(live.session.created_at);
    if now < later(seen, stuck_after) {
        return Progress::Wait {
            reason: Reason::SessionRunning,
            detail: match unknown_state {
                Some(word) => {
                    format!("the session is in state `{word}`, which this version does not know")
                }
                None => "the session is at work".to_owned(),
            },
            until: later(now, POLL),
        };
    }
    let Some(activities) = live.activities else {
        return Progress::ReadActivities;
    };
    // Some sessions stay "in progress" for ever after their work is done; the log tells.
    let last_word = newest(activities, |kind| {
        matches!(kind, ActivityKind::UserMessaged(_))
    });
    let done = newest(activities, |kind| matches!(kind, ActivityKind::Completed));
    if done > last_word {
        return ended(live);
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
        until: later(now, POLL),
    }
}

/// Whether one of our messages arrived.
fn was_told(activities: &[Activity], marker: &str) -> bool {
    activities.iter().any(|activity| matches!(&activity.kind, ActivityKind::UserMessaged(text) if text.contains(marker)))
}

fn newest(activities: &[Activity], wanted: impl Fn(&ActivityKind) -> bool) -> Option<Timestamp> {
    activities
        .iter()
        .filter(|activity| wanted(&activity.kind))
        .map(|activity| activity.at)
        .max()
}

fn later(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// Untrusted text on one line of the ledger, which everybody may read: nothing invisible, no marker of ours, nothing that
/// looks like a key, and no longer than people read.
fn one_line(text: &str) -> String {
    const LIMIT_CHARS: usize = 200;
    let line = prompt::without_secrets(&prompt::clean_line(text));
    line.chars().take(LIMIT_CHARS).collect()
}
