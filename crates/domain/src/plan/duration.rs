//! Spans of time as people write them: `6h`, `90m`, `2d`, `1h30m`.

/// Seconds of a span: whole numbers with `d`, `h`, `m` or `s`, the largest first, each at most once.
pub(super) fn parse(text: &str) -> Option<u64> {
    const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
    let mut rest = text.trim();
    let mut next_unit = 0;
    let mut total: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let amount: u64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].chars().next()?.to_ascii_lowercase();
        let at = UNITS.iter().position(|(letter, _)| *letter == unit)?;
        if at < next_unit {
            return None;
        }
        next_unit = at + 1;
        total = total.checked_add(amount.checked_mul(UNITS[at].1)?)?;
        rest = rest[digits + unit.len_utf8()..].trim_start();
    }
    Some(total)
}

/// The shortest way to write a span.
pub(super) fn show(seconds: u64) -> String {
    let (amount, unit) = match seconds {
        0 => (0, 's'),
        s if s % 86_400 == 0 => (s / 86_400, 'd'),
        s if s % 3_600 == 0 => (s / 3_600, 'h'),
        s if s % 60 == 0 => (s / 60, 'm'),
        s => (s, 's'),
    };
    format!("{amount}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        for (text, seconds) in [
            ("6h", 21_600),
            ("90m", 5_400),
            ("2d", 172_800),
            ("1h30m", 5_400),
            ("1d 2h", 93_600),
            ("45s", 45),
            ("0m", 0),
            (" 1H ", 3_600),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn everything_else_is_not_a_span() {
        for text in [
            "",
            "6",
            "h",
            "6 h",
            "1.5h",
            "-1h",
            "30m1h",
            "1h1h",
            "6ħ",
            "1w",
            "99999999999999999999d",
            "18446744073709551615d",
            "١h",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn spans_are_shown_in_their_largest_whole_unit() {
        for (seconds, text) in [
            (21_600, "6h"),
            (172_800, "2d"),
            (5_400, "90m"),
            (61, "61s"),
            (0, "0s"),
        ] {
            assert_eq!(show(seconds), text);
            assert_eq!(parse(text), Some(seconds));
        }
    }
}
