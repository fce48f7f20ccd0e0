//! Times that cannot overflow.

use jiff::{SignedDuration, Timestamp};

/// The time that lies this length after another. The end of time is not reached by any length of ours; where it is, it
/// stays there.
pub(crate) fn time_after(at: Timestamp, length: SignedDuration) -> Timestamp {
    at.checked_add(length).unwrap_or(Timestamp::MAX)
}
