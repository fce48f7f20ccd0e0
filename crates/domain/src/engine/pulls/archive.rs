//! Archives the session of a merged or closed pull request after a while, because it could still push to the branch,
//! and sessions pile up in Jules.
//!
//! Archiving twice is harmless, so it is repeated until the session shows as archived. The ledger keeps the time of the
//! next check of each session.

use jiff::Timestamp;

use crate::engine::input::pull::PullState;
use crate::engine::input::session::{Listing, SessionState};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    ARCHIVE_TRIES, ARCHIVED_AFTER, ARCHIVED_AT_ONCE, ARCHIVING_GIVEN_UP, PULL_POLL,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::PullNumber;

/// The object of headlines and report lines.
const WHAT: &str = "the session of pull request";

/// Archives the sessions that are due.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    let now = builder.now();
    let mut due: Vec<(Timestamp, PullNumber)> = Vec::new();
    for (number, known) in &builder.state.pulls {
        let Some(closed_at) = known.closed_at else {
            continue;
        };
        // A reopened pull request waits until it is closed again.
        let pull = builder.snapshot.pulls.get(number);
        if pull.is_some_and(|pull| pull.state == PullState::Open) {
            continue;
        }
        let again = pull.and_then(|pull| pull.closed_at).map(archive_time);
        let at = known.archive_at.unwrap_or_else(|| archive_time(closed_at));
        due.push((again.map_or(at, |again| at.max(again)), *number));
    }
    due.sort_unstable();
    // The first one that is not due sets the next check. One without room is due next time, because checked ones get a
    // later time.
    for (at, number) in due.into_iter().take(ARCHIVED_AT_ONCE) {
        if at > now {
            builder.wake_by(at);
            break;
        }
        archive_session(builder, number);
    }
}

fn archive_session(builder: &mut DecisionBuilder<'_>, number: PullNumber) {
    let snapshot = builder.snapshot;
    let now = builder.now();
    let Some(known) = builder.state.pulls.get(&number) else {
        return;
    };
    let id = known.session_id.clone();
    // Only the pull request itself tells whether it was reopened.
    let pull = snapshot.pulls.get(&number);
    if pull.is_none() && !snapshot.missing_pulls.contains(&number) {
        builder.reads.pulls.insert(number);
        let soon = builder.now_plus(PULL_POLL);
        builder.wake_by(soon);
        return;
    }
    let ended_at = pull.and_then(|pull| pull.closed_at).max(known.closed_at);
    // Count only from the first attempt: a pause may have delayed it.
    let was_tried = known.archive_at.is_some();
    let given_up =
        |at: Timestamp| was_tried && now.duration_since(at) >= ARCHIVED_AFTER + ARCHIVING_GIVEN_UP;
    if ended_at.is_none_or(given_up) {
        return forget_pull(builder, number, "is left as it is");
    }
    if snapshot.missing_sessions.contains(&id) {
        return forget_pull(builder, number, "is gone");
    }
    let listed = snapshot.listing().and_then(|listing| listing.get(&id));
    let Some(session) = listed.or_else(|| snapshot.single_sessions.get(&id)) else {
        // An unreadable session does not block the others.
        if let Some(outage) = snapshot.unread.get(&id) {
            let at = count_attempt(builder, number).max(outage.retry_at.unwrap_or(now));
            let most = builder.now_plus(ARCHIVED_AFTER);
            set_next_check(builder, number, at.min(most));
            return;
        }
        let is_away = matches!(snapshot.sessions, Listing::Failed(_));
        if builder.reads.listing.is_none() && !is_away {
            builder.reads.single_sessions.insert(id);
        }
        let soon = builder.now_plus(PULL_POLL);
        builder.wake_by(soon);
        return;
    };
    if session.archived {
        return forget_pull(builder, number, "is archived");
    }
    let quiet_at = archive_time(session.updated_at.unwrap_or(session.created_at));
    let waits = matches!(
        session.state,
        SessionState::AwaitingPlanApproval
            | SessionState::AwaitingUserFeedback
            | SessionState::Paused
    );
    // A session in use is checked again later, not by every tick.
    let is_busy = waits || quiet_at > now;
    if !is_busy && known.archive_tries >= ARCHIVE_TRIES {
        return forget_pull(builder, number, "cannot be archived");
    }
    let next = match (is_busy, waits) {
        (true, true) => builder.now_plus(ARCHIVED_AFTER),
        (true, false) => quiet_at,
        (false, _) => count_attempt(builder, number),
    };
    set_next_check(builder, number, next);
    if !is_busy {
        builder.add_effect(Effect::ArchiveSession { session: id });
        builder.add_headline(format!("{WHAT} #{number} is archived"), None);
        report_archiving(builder, number, "is being archived");
    }
}

/// Counts an attempt, and returns the time of the next one; the pause doubles.
fn count_attempt(builder: &mut DecisionBuilder<'_>, number: PullNumber) -> Timestamp {
    let mut pause = PULL_POLL;
    if let Some(known) = builder.state.pulls.get_mut(&number) {
        for _ in 0..known.archive_tries.min(ARCHIVE_TRIES) {
            pause = (pause * 2).min(ARCHIVED_AFTER);
        }
        known.archive_tries = known.archive_tries.saturating_add(1);
    }
    builder.now_plus(pause)
}

fn set_next_check(builder: &mut DecisionBuilder<'_>, number: PullNumber, at: Timestamp) {
    if let Some(known) = builder.state.pulls.get_mut(&number) {
        known.archive_at = Some(at);
    }
    builder.wake_by(at);
}

fn forget_pull(builder: &mut DecisionBuilder<'_>, number: PullNumber, became: &str) {
    builder.state.pulls.remove(&number);
    builder.add_headline(format!("{WHAT} #{number} {became}"), None);
    report_archiving(builder, number, became);
}

fn report_archiving(builder: &mut DecisionBuilder<'_>, number: PullNumber, became: &str) {
    let text = format!("{WHAT} #{number} {became}");
    let mut line = Line::about_repository(Verdict::Settled, Reason::SessionArchived, text);
    line.pr_number = Some(number);
    builder.report_line(line);
}

fn archive_time(at: Timestamp) -> Timestamp {
    at.checked_add(ARCHIVED_AFTER).unwrap_or(Timestamp::MAX)
}
