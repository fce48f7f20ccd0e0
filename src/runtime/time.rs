//! Adds to times without overflow.

use jiff::{SignedDuration, Timestamp};

/// Returns the time this much later. At the end of time it stays there.
pub(crate) fn time_after(at: Timestamp, length: SignedDuration) -> Timestamp {
    at.checked_add(length).unwrap_or(Timestamp::MAX)
}
