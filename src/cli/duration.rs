//! Durations as people type them.

use jiff::SignedDuration;

/// Reads `90m`, `6h`, `2d`, `1h30m`: whole numbers with units s, m, h, d, each at most once a unit.
///
/// # Errors
///
/// Says how to write it.
pub(super) fn parse(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("`{text}` is not a duration; write it as `90m`, `6h`, `2d` or `1h30m`");
    let mut total = SignedDuration::ZERO;
    let mut digits = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let number: i64 = digits.parse().map_err(|_| wrong())?;
        digits.clear();
        let unit_secs = match c {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return Err(wrong()),
        };
        let part = number
            .checked_mul(unit_secs)
            .map(SignedDuration::from_secs)
            .ok_or_else(wrong)?;
        total = total.checked_add(part).ok_or_else(wrong)?;
    }
    if digits.is_empty() && !text.is_empty() && total.is_zero() {
        Err(format!(
            "`{text}` is no time at all; say a minute (`1m`) or more"
        ))
    } else if digits.is_empty() && total > SignedDuration::ZERO {
        Ok(total)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn takes_units_and_refuses_the_rest() {
        assert_eq!(parse("1h30m").unwrap().as_mins(), 90);
        assert_eq!(parse("2d").unwrap().as_hours(), 48);
        for wrong in ["", "5", "h", "1w", "-1h", "0m", "99999999999999999999d"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
