//! Arithmetic on times, and times as text.

use jiff::{SignedDuration, Timestamp};

/// A pause that doubles with each repetition, up to a limit.
pub(crate) fn doubled_pause(
    base: SignedDuration,
    times: u32,
    limit: SignedDuration,
) -> SignedDuration {
    let factor = 1_i32.checked_shl(times.min(16)).unwrap_or(i32::MAX);
    base.checked_mul(factor)
        .map_or(limit, |span| span.min(limit))
}

pub(crate) fn time_after(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// An instant as people read it, in UTC.
#[must_use]
pub fn format_utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Since when something is so, with a space before it.
pub(crate) fn since_text(at: Timestamp) -> String {
    format!(" since {}", format_utc(at))
}

/// A length in its one or two largest units.
#[must_use]
pub fn span_text(length: SignedDuration) -> String {
    // Half a minute counts as a whole one.
    let minutes = (length.as_secs() + 30) / 60;
    match (minutes / (24 * 60), minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{} min", minutes.max(1)),
        (0, hours, 0) => format!("{hours} h"),
        (0, hours, minutes) => format!("{hours} h {minutes:02} min"),
        (days @ 1..=9, hours @ 1.., _) => format!("{days} d {hours} h"),
        (days, ..) => format!("{days} d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        for (minutes, text) in [
            (0, "1 min"),
            (59, "59 min"),
            (120, "2 h"),
            (125, "2 h 05 min"),
            (24 * 60 + 30, "1 d"),
            (51 * 60, "2 d 3 h"),
            (20 * 24 * 60 + 60, "20 d"),
        ] {
            assert_eq!(span_text(SignedDuration::from_mins(minutes)), text);
        }
    }
}
