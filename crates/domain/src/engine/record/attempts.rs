//! Counts attempts of actions that must happen once.

use jiff::Timestamp;

use crate::engine::output::limits::{ACTION_AGAIN, ACTION_REPEATS};
use crate::model::Oid;
use crate::state::PullAction;

/// When the next attempt of an action is due. It is repeated only while its success is unknown.
pub(crate) enum NextAttempt {
    /// Now.
    Now,
    /// Not before this.
    Later(Timestamp),
    /// Never: it succeeded, or was tried often enough.
    Over,
}

/// Returns when the next attempt of a counted action is due.
pub(crate) fn next_attempt(slot: Option<&PullAction>, now: Timestamp) -> NextAttempt {
    let Some(told) = slot else {
        return NextAttempt::Now;
    };
    let again = told.at.checked_add(ACTION_AGAIN).unwrap_or(Timestamp::MAX);
    if told.notified || told.repeats >= ACTION_REPEATS {
        NextAttempt::Over
    } else if now < again {
        NextAttempt::Later(again)
    } else {
        NextAttempt::Now
    }
}

/// Counts an attempt before it is made.
pub(crate) fn count_attempt(slot: &mut Option<PullAction>, head: &Oid, now: Timestamp) {
    match slot {
        Some(told) => {
            told.at = now;
            told.repeats += 1;
        }
        None => *slot = Some(PullAction::new(head.clone(), now)),
    }
}
