//! Parses times of the command line.

use jiff::Timestamp;

/// Parses a time in RFC 3339.
///
/// # Errors
///
/// The text has another form. The error shows an example.
pub(crate) fn parse_instant(text: &str) -> Result<Timestamp, String> {
    let wrong = |_| "write an instant in RFC 3339, such as 2026-01-05T09:00:00Z".to_owned();
    text.parse().map_err(wrong)
}
