//! Something is said to the session of a pull request: once, when it can hear it, and again only when it did not arrive.

use jiff::Timestamp;

use super::draft::Draft;
use super::limits::{LISTENERS_READ, MESSAGE_LAG, MESSAGE_REPEATS, PULL_POLL, QUIET};
use super::watched::Watched;
use super::{ActivityKind, Listing, SessionState};
use crate::model::{Oid, PullNumber};
use crate::state::Told;

/// The last line of a message about the checks of a commit.
pub(super) fn checks_marker(pull: PullNumber, head: &Oid) -> String {
    format!("phileas-message: pull {pull} checks {head}")
}

/// Whether a session can be spoken to.
pub(super) enum Listener {
    /// It can.
    Listens,
    /// Not now, and why.
    Later { why: String, until: Timestamp },
    /// Never again, and why.
    Gone(&'static str),
}

/// What became of a word that was counted.
pub(super) enum Heard {
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
pub(super) fn listener(draft: &mut Draft<'_>, watched: &Watched<'_>) -> Listener {
    let snapshot = draft.snapshot;
    let id = &watched.session;
    let later = |draft: &Draft<'_>, why: &str| Listener::Later {
        why: why.to_owned(),
        until: draft.after(PULL_POLL),
    };
    if snapshot.missing_sessions.contains(id) {
        return Listener::Gone("its session is gone from Jules");
    }
    let listed = snapshot.listing().and_then(|listing| listing.get(id));
    let Some(session) = listed.or_else(|| snapshot.alone.get(id)) else {
        if let Some(outage) = snapshot.unread.get(id) {
            let why = format!("its session cannot be read: {}", outage.detail);
            let until = outage.retry_at.unwrap_or_else(|| draft.after(PULL_POLL));
            return Listener::Later { why, until };
        }
        // A listing that is taken anyhow shows it most often.
        let is_room = snapshot.alone.len() + draft.needs.alone.len() < LISTENERS_READ;
        let is_away = matches!(snapshot.sessions, Listing::Failed(_));
        if draft.needs.listing.is_none() && !is_away && is_room {
            draft.needs.alone.insert(id.clone());
        }
        return later(draft, "its session was not looked at this time");
    };
    if session.archived {
        return Listener::Gone("its session is archived");
    }
    let moved_at = session.updated_at.unwrap_or(session.created_at);
    match session.state {
        SessionState::Completed => Listener::Listens,
        SessionState::Failed => Listener::Gone("its session has failed"),
        SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::Paused => later(draft, "its session waits for a person"),
        SessionState::Queued
        | SessionState::Planning
        | SessionState::InProgress
        | SessionState::Unknown(_) => {
            if draft.now().duration_since(moved_at) < QUIET {
                later(draft, "its session is at work")
            } else {
                Listener::Listens
            }
        }
    }
}

/// What became of a word. Asks for the session's activities where only they can tell.
pub(super) fn heard(
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
pub(super) fn told_of(draft: &mut Draft<'_>, pull: PullNumber, marker: &str) {
    let Some(known) = draft.state.pulls.get_mut(&pull) else {
        return;
    };
    if let Some(checks) = &mut known.checks
        && checks_marker(pull, &checks.head) == marker
    {
        checks.told = true;
    }
}

/// Counts a word, before it is said.
pub(super) fn count(slot: &mut Option<Told>, head: &Oid, now: Timestamp) {
    match slot {
        Some(told) if told.head == *head => {
            told.at = now;
            told.repeats += 1;
        }
        other => *other = Some(Told::new(head.clone(), now)),
    }
}
