//! Variables of the environment.

use phileas_domain::model::parse_switch;

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// Whether a variable that stops something says so. A word that is neither on nor off, such as a reason, stops it: a
/// person who writes one wants that.
pub(crate) fn is_set(value: &str) -> bool {
    parse_switch(value).unwrap_or(true)
}
