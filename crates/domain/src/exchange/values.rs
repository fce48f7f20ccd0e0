//! What small values look like: each as a pattern for the schema and as a check, side by side.

use jiff::civil::Date;

use super::limits::NAME_LIMIT_BYTES;

/// Six characters.
pub(super) const ID: &str = "^[a-z0-9]{6}$";
/// Six characters, or none.
pub(super) const LINK: &str = "^([a-z0-9]{6})?$";
/// A role, a stream.
pub(super) const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]*$";
/// A day of this century.
pub(super) const DATE: &str = "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$";
/// An instant of this century.
pub(super) const INSTANT: &str = "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";
/// A commit, whole or shortened.
pub(super) const COMMIT: &str = "^[0-9a-f]{7,64}$";
/// Not blank.
pub(super) const TEXT: &str = "[^ \\t\\r\\n]";
/// Not blank, on one line.
pub(super) const LINE: &str = "^[^\\r\\n]*[^ \\t\\r\\n][^\\r\\n]*$";
/// What starts an agent, which no command of a work item may.
pub(super) const AGENT: &str = "[Jj][Uu][Ll][Ee][Ss]|[Jj][Ll][Oo] [Rr][Uu][Nn]";

/// Whether a text is an id.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 6
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// Whether a text can name a role, a label or a stream.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= NAME_LIMIT_BYTES
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Whether a text is a day.
pub(crate) fn is_date(text: &str) -> bool {
    let shape = text.len() == 10
        && text.starts_with("20")
        && text.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        });
    shape && text.parse::<Date>().is_ok()
}

/// Whether a text is an instant: a day, `T`, a time to the second and an offset.
pub(crate) fn is_instant(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else {
        return false;
    };
    let Some((clock, rest)) = time.split_at_checked(8) else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let below = |text: Option<&str>, limit: u8| {
        text.is_some_and(|text| {
            text.len() == 2 && digits(text) && text.parse().is_ok_and(|n: u8| n < limit)
        })
    };
    let is_clock = |text: &str, parts: usize| {
        let mut fields = text.split(':');
        below(fields.next(), 24)
            && (1..parts).all(|_| below(fields.next(), 60))
            && fields.next().is_none()
    };
    let end = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (fraction, offset) = rest.split_at(end);
    let fraction = fraction.is_empty()
        || fraction
            .strip_prefix('.')
            .is_some_and(|figures| digits(figures) && figures.len() <= 9);
    let offset = offset == "Z" || offset.get(1..).is_some_and(|clock| is_clock(clock, 2));
    is_date(date) && is_clock(clock, 3) && fraction && offset
}

/// Whether a text is a commit.
pub(super) fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}

/// Whether nothing stands in a text.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n'))
}

/// Whether a text has several lines.
pub(super) fn has_breaks(text: &str) -> bool {
    text.contains(['\r', '\n'])
}

/// Whether a command would start an agent.
pub(super) fn starts_an_agent(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("jules") || lower.contains("jlo run")
}

/// Whether a file's name is kebab-case: words of lower-case letters and digits with a dash between them.
pub(super) fn is_kebab(text: &str) -> bool {
    !text.is_empty()
        && text.split('-').all(|word| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check, what it takes and what it does not.
    type Row = (
        fn(&str) -> bool,
        &'static [&'static str],
        &'static [&'static str],
    );

    #[test]
    fn each_check_takes_what_it_should() {
        let table: [Row; 6] = [
            (
                is_id,
                &["abc123", "000000"],
                &["abc12", "abc1234", "ABC123", "abc-12", ""],
            ),
            (
                is_name,
                &["a", "data_arch", "x-1", "Q"],
                &["", "-a", "_a", "a b", "a/b", "ä"],
            ),
            (
                is_date,
                &["2026-01-05", "2024-02-29"],
                &[
                    "2026-02-29",
                    "2026-1-5",
                    "1999-01-01",
                    "2026-13-01",
                    "2026-01-05T00:00:00Z",
                    "+020-01-1",
                ],
            ),
            (
                is_instant,
                &[
                    "2026-01-05T10:00:00Z",
                    "2026-01-05T10:00:00.123456789+05:30",
                    "2026-01-05T23:59:59-23:59",
                ],
                &[
                    "2026-01-05T10:00Z",
                    "2026-01-05T10:00:00",
                    "2026-01-05 10:00:00Z",
                    "2026-01-05T24:00:00Z",
                    "2026-01-05T10:00:60Z",
                    "2026-01-05T10:00:00.Z",
                    "2026-01-05T10:00:00+24:00",
                    "2026-01-05T10:00:00+05",
                    "2026-02-30T10:00:00Z",
                    "2026-01-05T10:00:00.1234567890Z",
                    "2026-01-05T1\u{e9}:00:00Z",
                    "2026-01-05T10:00:00z",
                ],
            ),
            (is_commit, &["4c1d2e3"], &["4c1d2e", "4C1D2E3", "4c1d2eg"]),
            (
                is_kebab,
                &["a", "cov001", "unify-tests-2"],
                &["", "-a", "a-", "a--b", "A", "a_b", "a.b"],
            ),
        ];
        for (row, (check, right, wrong)) in table.into_iter().enumerate() {
            for text in right {
                assert!(check(text), "{row}: {text}");
            }
            for text in wrong {
                assert!(!check(text), "{row}: {text}");
            }
        }
        assert!(!is_name(&"a".repeat(NAME_LIMIT_BYTES + 1)));
        assert!(is_name(&"a".repeat(NAME_LIMIT_BYTES)));
        assert!(!is_commit(&"a".repeat(65)));
        assert!(starts_an_agent("JULES new") && starts_an_agent("x jlo RUN d"));
        assert!(!starts_an_agent("cargo test"));
        assert!(is_blank(" \t\r\n") && !is_blank(" x") && !is_blank("\u{a0}"));
    }
}
