//! The clock of this machine.

use jiff::Timestamp;

use super::env_var::read_switch;
use crate::cli::exit::CliError;

/// The variable that says that this machine's clock is known to differ from GitHub's.
pub(crate) const CLOCK_MAY_DIFFER: &str = "PHILEAS_CLOCK_MAY_DIFFER";

/// The time of this machine. Decisions use GitHub's.
pub(crate) fn local_now() -> Timestamp {
    Timestamp::now()
}

/// Whether the clock may differ from GitHub's without a warning.
///
/// # Errors
///
/// When the variable is no switch.
pub(crate) fn may_differ() -> Result<bool, CliError> {
    read_switch(CLOCK_MAY_DIFFER)
}
