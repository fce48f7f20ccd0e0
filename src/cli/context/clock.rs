//! The clock of this machine.

use jiff::Timestamp;

use super::env_var::{env_value, is_switched_on};

/// The variable that says that this machine's clock is known to differ from GitHub's.
pub(crate) const CLOCK_MAY_DIFFER: &str = "PHILEAS_CLOCK_MAY_DIFFER";

/// The time of this machine. Decisions use GitHub's.
pub(crate) fn local_now() -> Timestamp {
    Timestamp::now()
}

/// Whether the clock may differ from GitHub's without a warning.
pub(crate) fn may_differ() -> bool {
    env_value(CLOCK_MAY_DIFFER).is_some_and(|value| is_switched_on(&value))
}
