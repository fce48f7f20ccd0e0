//! Something is said to the session of a pull request: once, when it can hear it, and again only when it did not arrive.

use jiff::Timestamp;

use super::backoff;
use super::reminders::REMINDER_MARKER;
use super::tracked::Watched;
use crate::engine::input::pull::PullState;
use crate::engine::input::session::{Activity, ActivityKind, Listing, Session, SessionState};
use crate::engine::lookup::usage;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    CHECKS_POLL, FIX_PATIENCE, INTENT_VALID, LISTENERS_READ, MESSAGE_LAG, MESSAGE_REPEATS,
    PULL_POLL, PUSH_LAG, QUIET, REOPENED,
};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markers::{base_marker, checks_marker, reviews_marker};
use crate::model::{Oid, PullNumber};
use crate::state::{Told, WatchedPull};

/// What is to be said about a pull request's newest commit, and how often something like it was said.
pub(crate) struct Matter {
    /// What is wrong, as in `its checks failed`.
    pub(crate) problem: &'static str,
    /// Stands at the end of the text.
    pub(crate) marker: String,
    /// Whether it was counted before.
    pub(crate) told: Option<Told>,
    /// How often such a thing was said about all its commits.
    pub(crate) rounds: u32,
    /// How often that may be.
    pub(crate) most: u32,
    /// Said while it waits to be said, or for a person.
    pub(crate) waits: Reason,
    /// Said when it was said.
    pub(crate) said: Reason,
}

/// Whether it is to be said now. Otherwise the report tells why not, and a person is called where only one can help.
pub(crate) fn is_time(draft: &mut Draft<'_>, watched: &Watched<'_>, matter: &Matter) -> bool {
    let Matter { problem, waits, .. } = matter;
    let number = watched.number();
    if watched.is_held(draft) {
        let text =
            format!("pull request #{number}: {problem}, and `phileas:hold` keeps it for people");
        draft.say(watched.line(Verdict::Paused, Reason::SubjectHeld, text));
        return false;
    }
    let was_told = |until| {
        let text = format!("pull request #{number}: {problem}, and its session was told");
        let line = watched.line(Verdict::Waiting, matter.said, text);
        line.until(until)
    };
    match &matter.told {
        Some(told) => match heard(draft, watched, told, &matter.marker) {
            Heard::Yes => {
                let until = told.at.checked_add(FIX_PATIENCE).unwrap_or(Timestamp::MAX);
                if draft.now() < until {
                    draft.say(was_told(until));
                } else {
                    let text =
                        format!("{problem}, and its session has not mended it since it was told");
                    watched.call(draft, *waits, &text);
                }
                return false;
            }
            Heard::Unknown { until } => {
                draft.say(was_told(until));
                return false;
            }
            Heard::GivenUp => {
                let text = format!("{problem}, and its session cannot be told");
                watched.call(draft, *waits, &text);
                return false;
            }
            Heard::No => {}
        },
        None if matter.rounds >= matter.most => {
            let rounds = matter.rounds;
            let text = format!("{problem}, also after its session was told so {rounds} times");
            watched.call(draft, *waits, &text);
            return false;
        }
        None => {}
    }
    if let Some(until) = is_listening(draft, watched) {
        let text =
            format!("pull request #{number}: {problem}; its session was just told something else");
        let line = watched.line(Verdict::Waiting, *waits, text);
        draft.say(line.until(until));
        return false;
    }
    if let Some(text) = is_crowded(draft, watched) {
        let text = format!("pull request #{number}: {problem}; {text}");
        let line = watched.line(Verdict::Waiting, Reason::BudgetActive, text);
        let until = draft.after(CHECKS_POLL);
        draft.say(line.until(until));
        return false;
    }
    match listener(draft, watched) {
        Listener::Listens => true,
        Listener::Later { why, until } => {
            let text = format!("pull request #{number}: {problem}; {why}");
            draft.say(watched.line(Verdict::Waiting, *waits, text).until(until));
            false
        }
        Listener::Gone(why) => {
            watched.call(draft, *waits, &format!("{problem}, and {why}"));
            false
        }
    }
}

/// Until when its session only hears what it was told of this commit last; one thing at a time.
pub(crate) fn is_listening(draft: &Draft<'_>, watched: &Watched<'_>) -> Option<Timestamp> {
    let known = watched.known(draft)?;
    let newest = [&known.checks, &known.reviews, &known.base];
    let newest = newest.into_iter().flatten();
    let of_head = newest.filter(|told| told.head == watched.pull.head_oid);
    let at = of_head.map(|told| told.at).max()?;
    let until = at.checked_add(MESSAGE_LAG).unwrap_or(Timestamp::MAX);
    (draft.now() < until).then_some(until)
}

/// Whether enough sessions are at work: a word brings one that was done back to it. One is always let through, since a
/// repository that starts sessions all the time would never mend what they have made.
pub(crate) fn is_crowded(draft: &Draft<'_>, watched: &Watched<'_>) -> Option<String> {
    let limit = draft.snapshot.plan.budget.max_active as usize;
    let free = limit.saturating_sub(usage::live(draft)).max(1);
    let reopened = draft
        .state
        .pulls
        .iter()
        .filter(|(number, known)| {
            **number != watched.number() && is_reopened(draft, **number, known)
        })
        .count();
    (reopened >= free).then(|| {
        format!(
            "{reopened} sessions were asked to mend others, and the limit of live ones is {limit}"
        )
    })
}

/// Whether a session was told something lately and has not come back with a commit.
fn is_reopened(draft: &Draft<'_>, number: PullNumber, known: &WatchedPull) -> bool {
    let snapshot = draft.snapshot;
    let newest = [&known.checks, &known.reviews, &known.base];
    let newest = newest.into_iter().flatten().max_by_key(|told| told.at);
    let Some(told) = newest.filter(|told| draft.now().duration_since(told.at) < REOPENED) else {
        return false;
    };
    let pull = snapshot.pulls.get(&number);
    let waits =
        pull.is_some_and(|pull| pull.state == PullState::Open && pull.head_oid == told.head);
    let listed = snapshot.listing();
    let seen = listed.and_then(|listing| listing.get(&known.session_id));
    // Right after the word it may still show as done.
    let is_done = told.told
        && seen.is_some_and(|session| !session.state.is_live())
        && draft.now().duration_since(told.at) >= MESSAGE_LAG;
    waits && !is_done
}

/// Says it. It was counted before. `remark` ends the report's sentence.
pub(crate) fn say(
    draft: &mut Draft<'_>,
    watched: &Watched<'_>,
    matter: Matter,
    text: String,
    remark: &str,
) {
    let number = watched.number();
    let said = format!(
        "pull request #{number}: {}, and its session is told{remark}",
        matter.problem
    );
    let session = watched.session.clone();
    let not_after = draft.after(INTENT_VALID);
    draft.effect(Effect::TellPull {
        pull: number,
        session,
        marker: matter.marker,
        text,
        not_after,
    });
    let soon = draft.after(PULL_POLL);
    draft.say(
        watched
            .line(Verdict::Settled, matter.said, said)
            .until(soon),
    );
}

/// Whether a session can be spoken to.
pub(crate) enum Listener {
    /// It can.
    Listens,
    /// Not now, and why.
    Later { why: String, until: Timestamp },
    /// Never again, and why.
    Gone(&'static str),
}

/// What became of a word that was counted.
pub(crate) enum Heard {
    /// It was said.
    Yes,
    /// That is not known yet.
    Unknown { until: Timestamp },
    /// The session does not show it: whoever should have said it died before.
    No,
    /// It was tried often enough.
    GivenUp,
}

/// Whether the session can be spoken to. Asks for a look at it where nobody has looked.
pub(crate) fn listener(draft: &mut Draft<'_>, watched: &Watched<'_>) -> Listener {
    let session = match look(draft, watched) {
        Ok(session) => session,
        Err(listener) => return listener,
    };
    let later = |draft: &mut Draft<'_>, why: &str, known| Listener::Later {
        why: why.to_owned(),
        until: wait(draft, watched, known),
    };
    if session.archived {
        wait(draft, watched, None);
        return Listener::Gone("its session is archived");
    }
    let moved_at = session.updated_at.unwrap_or(session.created_at);
    match session.state {
        SessionState::Completed => Listener::Listens,
        SessionState::Failed => {
            wait(draft, watched, None);
            Listener::Gone("its session has failed")
        }
        SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::Paused => later(draft, "its session waits for a person", None),
        SessionState::Queued
        | SessionState::Planning
        | SessionState::InProgress
        | SessionState::Unknown(_) => {
            if draft.now().duration_since(moved_at) < QUIET {
                let quiet_at = moved_at.checked_add(QUIET).ok();
                later(draft, "its session is at work", quiet_at)
            } else {
                Listener::Listens
            }
        }
    }
}

/// When its session is looked at next, since nothing can be done now. One that a listing shows anyhow needs no look of its
/// own.
pub(crate) fn wait(
    draft: &mut Draft<'_>,
    watched: &Watched<'_>,
    known: Option<Timestamp>,
) -> Timestamp {
    if draft.snapshot.alone.contains_key(&watched.session) {
        backoff::wait_longer(draft, watched, known)
    } else {
        draft.after(PULL_POLL)
    }
}

/// The session as it was seen, or why it was not. Asks for a look at it where nobody has looked.
pub(crate) fn look<'a>(
    draft: &mut Draft<'a>,
    watched: &Watched<'_>,
) -> Result<&'a Session, Listener> {
    let snapshot = draft.snapshot;
    let id = &watched.session;
    if snapshot.missing_sessions.contains(id) {
        backoff::wait_longer(draft, watched, None);
        return Err(Listener::Gone("its session is gone from Jules"));
    }
    let listed = snapshot.listing().and_then(|listing| listing.get(id));
    if let Some(session) = listed.or_else(|| snapshot.alone.get(id)) {
        return Ok(session);
    }
    if let Some(outage) = snapshot.unread.get(id) {
        let why = format!("its session cannot be read: {}", outage.detail);
        let until = backoff::wait_longer(draft, watched, outage.retry_at);
        return Err(Listener::Later { why, until });
    }
    if let Some(until) = backoff::not_before(draft, watched) {
        let why = "nothing could be done when it was looked at last".to_owned();
        return Err(Listener::Later { why, until });
    }
    // A listing that is taken anyhow shows it most often.
    let is_room = snapshot.alone.len() + draft.needs.alone.len() < LISTENERS_READ;
    let is_away = matches!(snapshot.sessions, Listing::Failed(_));
    if draft.needs.listing.is_none() && !is_away && is_room {
        draft.needs.alone.insert(id.clone());
    }
    Err(Listener::Later {
        why: "its session was not looked at this time".to_owned(),
        until: draft.after(PULL_POLL),
    })
}

/// Who has made the newest commit of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pusher {
    /// Its session.
    Session,
    /// Another account. A session that goes on writes its whole work again over its branch, and what others have pushed
    /// would be lost.
    Others,
    /// What the session did is read next.
    Unread,
}

/// Judges by the committer and by the session's activities. `updateTime` is no heartbeat, and an author may be the user
/// alone; where Jules shows no activity before the commit, `updateTime` is all that there is.
pub(crate) fn pusher(
    draft: &mut Draft<'_>,
    watched: &Watched<'_>,
    committed_at: Option<Timestamp>,
    by_jules: bool,
) -> Pusher {
    let (Some(committed_at), Ok(session)) = (committed_at, look(draft, watched)) else {
        return Pusher::Session;
    };
    if by_jules {
        return Pusher::Session;
    }
    let Some(activities) = read_activities(draft, watched) else {
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

/// Whether Jules did it, and not a user.
pub(crate) fn is_by_jules(activity: &Activity) -> bool {
    !matches!(activity.kind, ActivityKind::UserMessaged(_))
}

/// The session's activities. Asks for them where they were not read; where they cannot be read, there are none.
pub(crate) fn read_activities<'a>(
    draft: &mut Draft<'a>,
    watched: &Watched<'_>,
) -> Option<&'a [Activity]> {
    let snapshot = draft.snapshot;
    let session = &watched.session;
    if let Some(activities) = snapshot.activities.get(session) {
        return Some(activities);
    }
    let away = matches!(snapshot.sessions, Listing::Failed(_));
    if away || snapshot.unread.contains_key(session) {
        return Some(&[]);
    }
    draft.needs.activities.insert(session.clone());
    None
}

/// What became of a word. Asks for the session's activities where only they can tell.
pub(crate) fn heard(
    draft: &mut Draft<'_>,
    watched: &Watched<'_>,
    told: &Told,
    marker: &str,
) -> Heard {
    if told.told {
        return Heard::Yes;
    }
    let shown = told.at.checked_add(MESSAGE_LAG).unwrap_or(Timestamp::MAX);
    if draft.now() < shown {
        return Heard::Unknown { until: shown };
    }
    let session = &watched.session;
    let Some(activities) = draft.snapshot.activities.get(session) else {
        let unread = draft.snapshot.unread.contains_key(session);
        if !unread && !matches!(draft.snapshot.sessions, Listing::Failed(_)) {
            draft.needs.activities.insert(session.clone());
        }
        let until = draft.after(PULL_POLL);
        return Heard::Unknown { until };
    };
    let is_shown = activities
        .iter()
        .any(|one| matches!(&one.kind, ActivityKind::UserMessaged(text) if text.contains(marker)));
    if is_shown {
        told_of(draft, watched.number(), marker);
        return Heard::Yes;
    }
    if told.repeats < MESSAGE_REPEATS {
        Heard::No
    } else {
        Heard::GivenUp
    }
}

/// Notes that a word was said.
pub(crate) fn told_of(draft: &mut Draft<'_>, pull: PullNumber, marker: &str) {
    let Some(known) = draft.state.pulls.get_mut(&pull) else {
        return;
    };
    if let Some(reminded) = &mut known.reminded
        && marker == REMINDER_MARKER
    {
        reminded.told = true;
    }
    if let Some(checks) = &mut known.checks
        && checks_marker(pull, &checks.head) == marker
    {
        checks.told = true;
    }
    if let Some(reviews) = &mut known.reviews
        && reviews_marker(pull, &reviews.head) == marker
    {
        reviews.told = true;
    }
    if let Some(base) = &mut known.base
        && base_marker(pull, &base.head) == marker
    {
        base.told = true;
    }
}

/// Counts a word, before it is said. The commits that such words were about before are kept, so that a look that lags
/// behind does not have one said again.
pub(crate) fn count(slot: &mut Option<Told>, before: &mut Vec<Oid>, head: &Oid, now: Timestamp) {
    match slot {
        Some(told) if told.head == *head => {
            told.at = now;
            told.repeats += 1;
        }
        other => {
            before.extend(other.take().map(|told| told.head));
            *other = Some(Told::new(head.clone(), now));
        }
    }
}

/// What was said about this very commit: the newest word, or one before it.
pub(crate) fn told_about(newest: Option<&Told>, before: &[Oid], head: &Oid) -> Option<Told> {
    let newest = newest?;
    if newest.head == *head {
        return Some(newest.clone());
    }
    before.contains(head).then(|| Told {
        told: true,
        ..Told::new(head.clone(), newest.at)
    })
}
