//! Environment variables.

use phileas_domain::model::parse_switch;

pub(crate) fn env_value(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// Whether a variable that stops something is on. A text that is neither on nor off, such as a reason, means on.
pub(crate) fn is_switched_on(value: &str) -> bool {
    parse_switch(value).unwrap_or(true)
}
