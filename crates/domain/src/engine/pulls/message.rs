//! Messages the session of a pull request: once, when it can receive it, and again only when it was not delivered.

use jiff::Timestamp;

use super::backoff;
use super::reminders::REMINDER_MARKER;
use super::tracked::OpenPull;
use super::work_marks::{MARK_MARKER, record_comment};
use crate::engine::input::pull::PullState;
use crate::engine::input::session::{Activity, ActivityKind, Listing, Session, SessionState};
use crate::engine::lookup::usage;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    CHECKS_POLL, FIX_PATIENCE, INTENT_VALID, MESSAGE_LAG, MESSAGE_REPEATS, PULL_POLL, PUSH_LAG,
    QUIET, RECIPIENTS_READ, REOPENED,
};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markers::{base_marker, checks_marker, reviews_marker};
use crate::model::{Oid, PullNumber};
use crate::state::{PullAction, TrackedPull};

/// A message about a pull request's newest commit, and how many like it were sent.
pub(crate) struct Feedback {
    /// The problem, as in `its checks failed`.
    pub(crate) problem: &'static str,
    /// Ends the text.
    pub(crate) marker: String,
    /// The record of this message, where it was counted before.
    pub(crate) earlier: Option<PullAction>,
    /// How many such messages were sent about all its commits.
    pub(crate) rounds: u32,
    /// The maximum of these.
    pub(crate) max_rounds: u32,
    /// The reason while it waits to be sent, or for a person.
    pub(crate) waiting_reason: Reason,
    /// The reason after it was sent.
    pub(crate) sent_reason: Reason,
}

/// Whether the message may be sent now. Otherwise reports why not, and opens a notice where only a person can help.
pub(crate) fn may_send(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    feedback: &Feedback,
) -> bool {
    let Feedback {
        problem,
        waiting_reason,
        ..
    } = feedback;
    let number = tracked.number();
    if tracked.is_held(builder) {
        let text =
            format!("pull request #{number}: {problem}, and `phileas:hold` keeps it for people");
        builder.report_line(tracked.report_line(Verdict::Paused, Reason::SubjectHeld, text));
        return false;
    }
    match &feedback.earlier {
        Some(told) if !may_repeat(builder, tracked, feedback, told) => return false,
        None if feedback.rounds >= feedback.max_rounds => {
            let rounds = feedback.rounds;
            let text = format!("{problem}, also after {rounds} messages to its session");
            tracked.open_notice(builder, *waiting_reason, &text);
            return false;
        }
        _ => {}
    }
    if let Some(until) = settling_until(builder, tracked) {
        let text =
            format!("pull request #{number}: {problem}; its session just got another message");
        let line = tracked.report_line(Verdict::Waiting, *waiting_reason, text);
        builder.report_line(line.with_until(until));
        return false;
    }
    if let Some(text) = busy_text(builder, tracked) {
        let text = format!("pull request #{number}: {problem}; {text}");
        let line = tracked.report_line(Verdict::Waiting, Reason::BudgetActive, text);
        let until = builder.now_plus(CHECKS_POLL);
        builder.report_line(line.with_until(until));
        return false;
    }
    match check_reachability(builder, tracked) {
        Reachability::Listens => true,
        Reachability::Later { why, until } => {
            let text = format!("pull request #{number}: {problem}; {why}");
            builder.report_line(
                tracked
                    .report_line(Verdict::Waiting, *waiting_reason, text)
                    .with_until(until),
            );
            false
        }
        Reachability::Gone(why) => {
            tracked.open_notice(builder, *waiting_reason, &format!("{problem}, and {why}"));
            false
        }
    }
}

/// Whether a counted message never reached its session. Otherwise reports what it waits for.
fn may_repeat(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    feedback: &Feedback,
    told: &PullAction,
) -> bool {
    let (number, problem) = (tracked.number(), feedback.problem);
    let was_told = |until| {
        let text = format!("pull request #{number}: {problem}, and its session was messaged");
        let line = tracked.report_line(Verdict::Waiting, feedback.sent_reason, text);
        line.with_until(until)
    };
    match delivery_of(builder, tracked, told, &feedback.marker) {
        Delivery::Delivered => {
            let until = told.at.checked_add(FIX_PATIENCE).unwrap_or(Timestamp::MAX);
            if builder.now() < until {
                builder.report_line(was_told(until));
            } else {
                let text = format!("{problem}, and its session has not fixed it since the message");
                tracked.open_notice(builder, feedback.waiting_reason, &text);
            }
            false
        }
        Delivery::Unknown { until } => {
            builder.report_line(was_told(until));
            false
        }
        Delivery::GivenUp => {
            let text = format!("{problem}, and its session cannot be messaged");
            tracked.open_notice(builder, feedback.waiting_reason, &text);
            false
        }
        Delivery::Missing => true,
    }
}

/// Until when its session has only the last message about this commit: one message at a time.
pub(crate) fn settling_until(
    builder: &DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
) -> Option<Timestamp> {
    let known = tracked.record(builder)?;
    let newest = [&known.checks, &known.reviews, &known.conflicts];
    let newest = newest.into_iter().flatten();
    let of_head = newest.filter(|told| told.head == tracked.pull.head_oid);
    let at = of_head.map(|told| told.at).max()?;
    let until = at.checked_add(MESSAGE_LAG).unwrap_or(Timestamp::MAX);
    (builder.now() < until).then_some(until)
}

/// Whether enough sessions are working: a message brings a finished one back to work. One is always allowed, because a
/// repository that starts sessions all the time would never fix their pull requests.
pub(crate) fn busy_text(builder: &DecisionBuilder<'_>, tracked: &OpenPull<'_>) -> Option<String> {
    let limit = builder.snapshot.plan.budget.max_active as usize;
    let free = limit.saturating_sub(usage::count_live(builder)).max(1);
    let reopened = builder
        .state
        .pulls
        .iter()
        .filter(|(number, known)| {
            **number != tracked.number() && is_reopened(builder, **number, known)
        })
        .count();
    (reopened >= free).then(|| {
        format!(
            "{reopened} sessions are fixing other pull requests, and the limit of live ones is {limit}"
        )
    })
}

/// Whether a session got a message recently and has not pushed a commit since.
fn is_reopened(builder: &DecisionBuilder<'_>, number: PullNumber, known: &TrackedPull) -> bool {
    let snapshot = builder.snapshot;
    let newest = [&known.checks, &known.reviews, &known.conflicts];
    let newest = newest.into_iter().flatten().max_by_key(|told| told.at);
    let Some(told) = newest.filter(|told| builder.now().duration_since(told.at) < REOPENED) else {
        return false;
    };
    let pull = snapshot.pulls.get(&number);
    let waits =
        pull.is_some_and(|pull| pull.state == PullState::Open && pull.head_oid == told.head);
    let listed = snapshot.listing();
    let seen = listed.and_then(|listing| listing.get(&known.session_id));
    // Right after the message it may still show as done.
    let is_done = told.notified
        && seen.is_some_and(|session| !session.state.is_live())
        && builder.now().duration_since(told.at) >= MESSAGE_LAG;
    waits && !is_done
}

/// Sends a message that was counted before. `remark` ends the report's sentence.
pub(crate) fn send_feedback(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    feedback: Feedback,
    text: String,
    remark: &str,
) {
    let number = tracked.number();
    let said = format!(
        "pull request #{number}: {}, and its session is messaged{remark}",
        feedback.problem
    );
    let session = tracked.session.clone();
    let not_after = builder.now_plus(INTENT_VALID);
    builder.add_effect(Effect::NotifyPullSession {
        pull: number,
        session,
        marker: feedback.marker,
        text,
        not_after,
    });
    let soon = builder.now_plus(PULL_POLL);
    builder.report_line(
        tracked
            .report_line(Verdict::Settled, feedback.sent_reason, said)
            .with_until(soon),
    );
}

/// Whether a session can receive a message.
pub(crate) enum Reachability {
    /// It can.
    Listens,
    /// Not now, and why.
    Later { why: String, until: Timestamp },
    /// Never again, and why.
    Gone(&'static str),
}

/// Whether a counted message was delivered.
pub(crate) enum Delivery {
    /// It was delivered.
    Delivered,
    /// Unknown so far.
    Unknown { until: Timestamp },
    /// The session does not show it: the process died before it sent it.
    Missing,
    /// It was tried often enough.
    GivenUp,
}

/// Whether the session can receive a message. Requests a read of it where it was not read.
pub(crate) fn check_reachability(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
) -> Reachability {
    let session = match find_session(builder, tracked) {
        Ok(session) => session,
        Err(listener) => return listener,
    };
    let later = |builder: &mut DecisionBuilder<'_>, why: &str, known| Reachability::Later {
        why: why.to_owned(),
        until: next_session_check(builder, tracked, known),
    };
    if session.archived {
        next_session_check(builder, tracked, None);
        return Reachability::Gone("its session is archived");
    }
    let moved_at = session.updated_at.unwrap_or(session.created_at);
    match session.state {
        SessionState::Completed => Reachability::Listens,
        SessionState::Failed => {
            next_session_check(builder, tracked, None);
            Reachability::Gone("its session has failed")
        }
        SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::Paused => later(builder, "its session waits for a person", None),
        SessionState::Queued
        | SessionState::Planning
        | SessionState::InProgress
        | SessionState::Unknown(_) => {
            if builder.now().duration_since(moved_at) < QUIET {
                let quiet_at = moved_at.checked_add(QUIET).ok();
                later(builder, "its session is at work", quiet_at)
            } else {
                Reachability::Listens
            }
        }
    }
}

/// When its session is checked next. One that a listing shows needs no check of its own.
pub(crate) fn next_session_check(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    known: Option<Timestamp>,
) -> Timestamp {
    if builder
        .snapshot
        .single_sessions
        .contains_key(&tracked.session)
    {
        backoff::lengthen_wait(builder, tracked, known)
    } else {
        builder.now_plus(PULL_POLL)
    }
}

/// The session as it was read, or why it was not. Requests a read where it is missing.
pub(crate) fn find_session<'a>(
    builder: &mut DecisionBuilder<'a>,
    tracked: &OpenPull<'_>,
) -> Result<&'a Session, Reachability> {
    let snapshot = builder.snapshot;
    let id = &tracked.session;
    if snapshot.missing_sessions.contains(id) {
        backoff::lengthen_wait(builder, tracked, None);
        return Err(Reachability::Gone("its session is gone from Jules"));
    }
    let listed = snapshot.listing().and_then(|listing| listing.get(id));
    if let Some(session) = listed.or_else(|| snapshot.single_sessions.get(id)) {
        return Ok(session);
    }
    if let Some(outage) = snapshot.unread.get(id) {
        let why = format!("its session cannot be read: {}", outage.detail);
        let until = backoff::lengthen_wait(builder, tracked, outage.retry_at);
        return Err(Reachability::Later { why, until });
    }
    if let Some(until) = backoff::next_check(builder, tracked) {
        let why = "nothing could be done at the last check".to_owned();
        return Err(Reachability::Later { why, until });
    }
    // A listing that is read anyway usually shows it.
    let is_room =
        snapshot.single_sessions.len() + builder.reads.single_sessions.len() < RECIPIENTS_READ;
    let is_away = matches!(snapshot.sessions, Listing::Failed(_));
    if builder.reads.listing.is_none() && !is_away && is_room {
        builder.reads.single_sessions.insert(id.clone());
    }
    Err(Reachability::Later {
        why: "its session was not read this time".to_owned(),
        until: builder.now_plus(PULL_POLL),
    })
}

/// Who pushed the newest commit of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pusher {
    /// Its session.
    Session,
    /// Another account. A session that continues overwrites its branch, and other accounts' commits would be lost.
    Others,
    /// The session's activities must be read first.
    Unread,
}

/// Decides by the committer and the session's activities. `updateTime` is no heartbeat, and an author may be the
/// connected user; it counts only where Jules shows no activity before the commit.
pub(crate) fn newest_pusher(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    committed_at: Option<Timestamp>,
    by_jules: bool,
) -> Pusher {
    let (Some(committed_at), Ok(session)) = (committed_at, find_session(builder, tracked)) else {
        return Pusher::Session;
    };
    if by_jules {
        return Pusher::Session;
    }
    let Some(activities) = read_activities(builder, tracked) else {
        return Pusher::Unread;
    };
    let latest = committed_at.checked_add(PUSH_LAG).unwrap_or(committed_at);
    let own = activities.iter().filter(|one| is_by_jules(one));
    let before = own.map(|one| one.at).filter(|at| *at <= latest).max();
    let moved_at = before.unwrap_or(session.updated_at.unwrap_or(session.created_at));
    if committed_at.duration_since(moved_at) <= PUSH_LAG {
        Pusher::Session
    } else {
        Pusher::Others
    }
}

/// Whether the activity is Jules', not a user's.
pub(crate) fn is_by_jules(activity: &Activity) -> bool {
    !matches!(activity.kind, ActivityKind::UserMessaged(_))
}

/// The session's activities. Requests them where they were not read; unreadable ones count as none.
pub(crate) fn read_activities<'a>(
    builder: &mut DecisionBuilder<'a>,
    tracked: &OpenPull<'_>,
) -> Option<&'a [Activity]> {
    let snapshot = builder.snapshot;
    let session = &tracked.session;
    if let Some(activities) = snapshot.activities.get(session) {
        return Some(activities);
    }
    let away = matches!(snapshot.sessions, Listing::Failed(_));
    if away || snapshot.unread.contains_key(session) {
        return Some(&[]);
    }
    builder.reads.activities.insert(session.clone());
    None
}

/// Whether a message was delivered. Requests the session's activities where only they can tell.
pub(crate) fn delivery_of(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    told: &PullAction,
    marker: &str,
) -> Delivery {
    if told.notified {
        return Delivery::Delivered;
    }
    let shown = told.at.checked_add(MESSAGE_LAG).unwrap_or(Timestamp::MAX);
    if builder.now() < shown {
        return Delivery::Unknown { until: shown };
    }
    let session = &tracked.session;
    let Some(activities) = builder.snapshot.activities.get(session) else {
        let unread = builder.snapshot.unread.contains_key(session);
        if !unread && !matches!(builder.snapshot.sessions, Listing::Failed(_)) {
            builder.reads.activities.insert(session.clone());
        }
        let until = builder.now_plus(PULL_POLL);
        return Delivery::Unknown { until };
    };
    let is_shown = activities
        .iter()
        .any(|one| matches!(&one.kind, ActivityKind::UserMessaged(text) if text.contains(marker)));
    if is_shown {
        record_delivery(builder, tracked.number(), marker);
        return Delivery::Delivered;
    }
    if told.repeats < MESSAGE_REPEATS {
        Delivery::Missing
    } else {
        Delivery::GivenUp
    }
}

/// Records that a message was delivered.
pub(crate) fn record_delivery(builder: &mut DecisionBuilder<'_>, pull: PullNumber, marker: &str) {
    if marker == MARK_MARKER {
        return record_comment(builder, pull);
    }
    let Some(known) = builder.state.pulls.get_mut(&pull) else {
        return;
    };
    if let Some(reminded) = &mut known.reminded
        && marker == REMINDER_MARKER
    {
        reminded.notified = true;
    }
    if let Some(checks) = &mut known.checks
        && checks_marker(pull, &checks.head) == marker
    {
        checks.notified = true;
    }
    if let Some(reviews) = &mut known.reviews
        && reviews_marker(pull, &reviews.head) == marker
    {
        reviews.notified = true;
    }
    if let Some(base) = &mut known.conflicts
        && base_marker(pull, &base.head) == marker
    {
        base.notified = true;
    }
}

/// Counts a message before it is sent. The commits of earlier messages are kept, so that a lagging read does not repeat
/// one.
pub(crate) fn count_message(
    slot: &mut Option<PullAction>,
    before: &mut Vec<Oid>,
    head: &Oid,
    now: Timestamp,
) {
    match slot {
        Some(told) if told.head == *head => {
            told.at = now;
            told.repeats += 1;
        }
        other => {
            before.extend(other.take().map(|told| told.head));
            *other = Some(PullAction::new(head.clone(), now));
        }
    }
}

/// The record of a message about this commit: the newest one, or an earlier one.
pub(crate) fn message_about(
    newest: Option<&PullAction>,
    before: &[Oid],
    head: &Oid,
) -> Option<PullAction> {
    let newest = newest?;
    if newest.head == *head {
        return Some(newest.clone());
    }
    before.contains(head).then(|| PullAction {
        notified: true,
        ..PullAction::new(head.clone(), newest.at)
    })
}
