//! How often something was tried, so that it is done once.

use jiff::Timestamp;

use crate::engine::output::limits::{DOING_REPEATS, DONE_AGAIN};
use crate::model::Oid;
use crate::state::Told;

/// When something is to be done that is done once, and again only where nobody knows whether it was.
pub(crate) enum Once {
    /// Now.
    Now,
    /// Not before this.
    Later(Timestamp),
    /// It was done, or tried often enough.
    Over,
}

/// When something that was counted is to be done.
pub(crate) fn once(slot: Option<&Told>, now: Timestamp) -> Once {
    let Some(told) = slot else {
        return Once::Now;
    };
    let again = told.at.checked_add(DONE_AGAIN).unwrap_or(Timestamp::MAX);
    if told.told || told.repeats >= DOING_REPEATS {
        Once::Over
    } else if now < again {
        Once::Later(again)
    } else {
        Once::Now
    }
}

/// Counts something that is done once, before it is done.
pub(crate) fn count_once(slot: &mut Option<Told>, head: &Oid, now: Timestamp) {
    match slot {
        Some(told) => {
            told.at = now;
            told.repeats += 1;
        }
        None => *slot = Some(Told::new(head.clone(), now)),
    }
}
