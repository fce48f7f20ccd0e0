//! Parses durations of the command line.

use std::time::Duration;

use jiff::SignedDuration;

/// The longest duration, in days.
const MAX_DAYS: i64 = 366;

/// Parses `90m`, `6h`, `2d`, `1h30m`: whole numbers with units s, m, h, d, a year at most.
///
/// # Errors
///
/// The text has another form. The error shows examples.
pub(crate) fn parse_duration(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("`{text}` is not a duration; write it as `90m`, `6h`, `2d` or `1h30m`");
    let parts: Vec<&str> = text
        .split_inclusive(|c: char| !c.is_ascii_digit())
        .collect();
    if parts.is_empty() {
        return Err(wrong());
    }
    // `None`: the value overflows.
    let mut seconds = Some(0_i64);
    for part in parts {
        let unit = match part.chars().next_back() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 60 * 60,
            Some('d') => 24 * 60 * 60,
            _ => return Err(wrong()),
        };
        let digits = &part[..part.len() - 1];
        if digits.is_empty() {
            return Err(wrong());
        }
        let number = digits.parse::<i64>().ok();
        seconds = number
            .and_then(|number| number.checked_mul(unit))
            .and_then(|part| seconds?.checked_add(part));
    }
    let most = SignedDuration::from_hours(MAX_DAYS * 24);
    match seconds.map(SignedDuration::from_secs) {
        Some(SignedDuration::ZERO) => Err(format!(
            "`{text}` is not a length of time; give a second (`1s`) or more"
        )),
        Some(total) if total <= most => Ok(total),
        _ => Err(format!(
            "`{text}` is too long; say {MAX_DAYS} days (`{MAX_DAYS}d`) or less"
        )),
    }
}

/// A duration as people write it on the command line: `10m`, `1h 30m`.
pub(crate) fn duration_text(length: Duration) -> String {
    let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
    format!("{length:#}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{duration_text, parse_duration};

    #[test]
    fn is_shown_in_the_largest_units() {
        for (seconds, text) in [(2, "2s"), (600, "10m"), (5400, "1h 30m")] {
            assert_eq!(duration_text(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn takes_units_and_refuses_the_rest() {
        assert_eq!(parse_duration("1h30m").unwrap().as_mins(), 90);
        assert_eq!(parse_duration("1s").unwrap().as_secs(), 1);
        assert_eq!(parse_duration("2d").unwrap().as_hours(), 48);
        assert_eq!(parse_duration("366d").unwrap().as_hours(), 366 * 24);
        for (wrong, word) in [
            ("", "is not a duration"),
            ("5", "is not a duration"),
            ("5h3", "is not a duration"),
            ("h", "is not a duration"),
            ("1w", "is not a duration"),
            ("1é", "is not a duration"),
            ("-1h", "is not a duration"),
            ("0m", "is not a length of time"),
            ("0s", "give a second (`1s`) or more"),
            ("367d", "366 days (`366d`) or less"),
            ("366d1s", "366 days (`366d`) or less"),
            ("99999999999999d", "366 days (`366d`) or less"),
            ("99999999999999999999d", "366 days (`366d`) or less"),
            ("99999999999999999999d1h", "366 days (`366d`) or less"),
            ("99999999999999999999w", "is not a duration"),
        ] {
            let said = parse_duration(wrong).unwrap_err();
            assert!(said.contains(word), "{said}");
        }
    }
}
