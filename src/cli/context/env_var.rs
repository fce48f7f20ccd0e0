//! Environment variables.
//!
//! All variables that switch something on or off follow one rule: the words of [`parse_switch`], and a command that reads
//! one refuses any other text. `PHILEAS_PAUSED` alone takes another text, such as a reason, as on: a misspelt stop still stops.

use phileas_domain::model::parse_switch;

use crate::cli::exit::CliError;

/// The variable that pauses a repository.
pub(crate) const PAUSE_VARIABLE: &str = "PHILEAS_PAUSED";

pub(crate) fn env_value(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// Whether a variable switches something on.
///
/// # Errors
///
/// When its value is none of the words for on and off.
pub(crate) fn read_switch(name: &str) -> Result<bool, CliError> {
    let value = env_value(name).unwrap_or_default();
    parse_switch(&value).map_err(|help| {
        CliError::usage(format!(
            "{name}: `{}` is not a switch; {help}",
            value.trim()
        ))
    })
}

/// The value of `PHILEAS_PAUSED`, if it pauses.
pub(crate) fn pausing_value() -> Option<String> {
    env_value(PAUSE_VARIABLE).filter(|value| is_pausing(value))
}

/// Whether this value of `PHILEAS_PAUSED` pauses.
pub(crate) fn is_pausing(value: &str) -> bool {
    parse_switch(value).unwrap_or(true)
}
