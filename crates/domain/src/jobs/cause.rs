//! Decides which state of a session is worth an event, once for each cause.
//!
//! A cause is named after something that Jules recorded for good: the id of the question, of the plan, of the newest
//! activity, or of the last message. After a crash, or on another machine, the monitor derives the same name, so an
//! event is never sent twice.

mod log;
mod turn;

pub use log::{PATIENCE, REASON_PATIENCE, Rules};
pub use turn::{SessionRead, turn_event};

use jiff::{SignedDuration, Timestamp};

use super::event::{NewEvent, Payload, shorten_text};
use super::job::{Job, Priority};
use super::memory::JobMemory;
use super::session::AccountSession;
use crate::engine::{Activity, SessionState};
use log::{ActivityLog, Finding, MAX_TITLE_CHARS, Verdict};

/// How often the activities of a waiting session are read again although nothing indicates a change.
pub const WAITING_RECHECK: SignedDuration = SignedDuration::from_mins(10);

/// Whether a session's activities must be read before it can be judged. `now` is the time of the clock that dates the
/// activities.
///
/// A session at work costs one entry of the listing, until it has been quiet for so long that it may be stuck.
#[must_use]
pub fn needs_activities(
    known: &JobMemory,
    seen: &AccountSession,
    now: Timestamp,
    rules: &Rules,
) -> bool {
    if seen.archived || seen.state == SessionState::Paused {
        return false;
    }
    let moved = known.last_status.as_deref() != Some(seen.state.as_str());
    let changed = moved || known.updated_at != seen.updated_at;
    let due = known.read_again_at.is_some_and(|at| at <= now);
    match seen.state {
        SessionState::AwaitingUserFeedback
        | SessionState::AwaitingPlanApproval
        | SessionState::Completed
        | SessionState::Failed => changed || known.pending || due,
        _ => {
            let newest = known.last_activity.max(seen.created_at);
            let quiet = newest.is_none_or(|newest| now.duration_since(newest) >= rules.stuck);
            quiet && known.read_again_at.is_none_or(|at| at <= now)
        }
    }
}

/// The event to send for a session, if there is one. `activities` holds all of them, oldest first, or `None` if they
/// were not read. They must be read if [`needs_activities`] says so. `now` is the time of the clock that dates sessions
/// and activities.
///
/// The cause is not marked as sent here: the caller does that once the event is written.
#[must_use]
pub fn judge_session(
    job: &Job,
    known: &mut JobMemory,
    seen: &AccountSession,
    activities: Option<&[Activity]>,
    now: Timestamp,
    rules: &Rules,
) -> Option<NewEvent> {
    if known.last_status.as_deref() != Some(seen.state.as_str()) {
        known.last_status = Some(seen.state.as_str().to_owned());
        known.status_since = Some(now);
        known.read_again_at = None;
    }
    let since = *known.status_since.get_or_insert(now);
    if let Some(pull) = seen.pull() {
        known.pull = Some(pull.url.clone());
    }
    let activities = activities?;
    known.updated_at = seen.updated_at;
    known.pending = false;
    let log = ActivityLog::new(activities);
    // The last message to Jules begins a new wait, because the state may lag behind it.
    let since = log.last_input.map_or(since, |word| since.max(word.at));
    if let Some(newest) = log.newest {
        known.last_activity = known.last_activity.max(Some(newest.at));
        known.cursor = Some(format!("{} {}", newest.at, newest.id));
    }
    let verdict = match seen.state {
        SessionState::AwaitingUserFeedback => log.judge_question(known, since, now),
        SessionState::AwaitingPlanApproval => log.judge_plan(since, now),
        SessionState::Completed => log.judge_end(seen, now),
        SessionState::Failed => log.judge_failure(since, now),
        SessionState::Paused => Verdict::None,
        _ => log.judge_work(seen, known, now, rules),
    };
    let found = match verdict {
        Verdict::None => None,
        Verdict::Later => {
            known.pending = true;
            None
        }
        Verdict::Send(found) => Some(found),
    };
    known.read_again_at = match seen.state {
        SessionState::AwaitingUserFeedback | SessionState::AwaitingPlanApproval => {
            now.checked_add(WAITING_RECHECK).ok()
        }
        SessionState::Completed | SessionState::Failed | SessionState::Paused => None,
        _ => now.checked_add(rules.stuck).ok(),
    };
    let found = found.filter(|found| !known.was_sent(&found.cause))?;
    Some(build_event(job, seen, known, *found))
}

fn build_event(job: &Job, seen: &AccountSession, known: &JobMemory, found: Finding) -> NewEvent {
    let repository = seen.repository.clone().or_else(|| job.repository_name());
    let title = Some(seen.title.trim().to_owned()).filter(|title| !title.is_empty());
    let payload = Payload {
        repo: repository.map(|repository| repository.to_string()),
        title: shorten_text(title, MAX_TITLE_CHARS).0,
        url: Some(seen.url.clone()).filter(|url| !url.is_empty()),
        pull: known.pull.clone(),
        priority: (job.priority != Priority::Normal).then_some(job.priority),
        ..found.payload
    };
    NewEvent {
        kind: found.kind,
        job_id: Some(job.job_id.clone()),
        status: Some(seen.state.as_str().to_owned()),
        message: found.message,
        last_activity: known.last_activity,
        payload,
        cause: found.cause,
    }
}

#[cfg(test)]
mod tests;
