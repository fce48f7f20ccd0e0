//! Instants as people type them.

use jiff::Timestamp;

/// Reads an instant in RFC 3339.
///
/// # Errors
///
/// Says how to write it.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    let wrong = |_| "it is an instant in RFC 3339, such as 2026-01-05T09:00:00Z".to_owned();
    text.parse().map_err(wrong)
}
