//! The clock of this machine.

use jiff::Timestamp;

/// The time of this machine. Decisions use GitHub's.
pub(crate) fn local_now() -> Timestamp {
    Timestamp::now()
}
