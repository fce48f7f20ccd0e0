//! Parses how long a service still accepts deliveries after a shutdown was requested.

use std::time::Duration;

/// The longest drain. Health checks of load balancers are more frequent.
pub const LONGEST_DRAIN: Duration = Duration::from_secs(10 * 60);

/// A text that is no drain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a valid drain; write it as `15s` or `1m`, at most ten minutes (`10m`), or `0s` for none"
)]
pub struct DrainError {
    /// The text.
    pub text: String,
}

/// Parses a drain such as `0s`, `15s`, `1m`.
///
/// # Errors
///
/// Says how to write it.
pub fn parse_drain(text: &str) -> Result<Duration, DrainError> {
    let wrong = || DrainError {
        text: text.to_owned(),
    };
    let trimmed = text.trim();
    let (digits, unit) = match trimmed.strip_suffix('m') {
        Some(digits) => (digits, 60),
        None => (trimmed.strip_suffix('s').ok_or_else(wrong)?, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let drain = number.checked_mul(unit).map(Duration::from_secs);
    drain
        .filter(|drain| *drain <= LONGEST_DRAIN)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_minutes_are_read_and_the_rest_is_refused() {
        let seconds = |text| parse_drain(text).map(|drain| drain.as_secs());
        for (text, wanted) in [("0s", 0), (" 15s", 15), ("600s", 600), ("10m", 600)] {
            assert_eq!(seconds(text), Ok(wanted), "{text}");
        }
        for wrong in ["", "s", "15", "-1s", "+1s", "1.5s", "1h", "601s", "11m"] {
            let refused = seconds(wrong).unwrap_err().to_string();
            assert!(refused.contains("`15s`"), "{refused}");
        }
        assert!(seconds("99999999999999999999m").is_err());
    }
}
