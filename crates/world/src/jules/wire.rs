//! proto3's JSON: defaults are left out, timestamps have 0, 3, 6 or 9 fractional digits.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// Adds a text unless it is empty.
pub(super) fn put_text(map: &mut Map<String, Value>, name: &str, text: &str) {
    if !text.is_empty() {
        map.insert(name.to_owned(), Value::from(text));
    }
}

/// Adds a flag unless it is false.
pub(super) fn put_flag(map: &mut Map<String, Value>, name: &str, flag: bool) {
    if flag {
        map.insert(name.to_owned(), Value::Bool(true));
    }
}

/// Adds a timestamp.
pub(super) fn put_time(map: &mut Map<String, Value>, name: &str, at: Timestamp) {
    map.insert(name.to_owned(), Value::from(format_time(at)));
}

/// RFC 3339 with `Z` and the fewest digits of 0, 3, 6 and 9 that lose nothing.
pub(super) fn format_time(at: Timestamp) -> String {
    let nanos = at.subsec_nanosecond();
    let digits = match nanos {
        0 => 0,
        _ if nanos % 1_000_000 == 0 => 3,
        _ if nanos % 1_000 == 0 => 6,
        _ => 9,
    };
    format!("{at:.digits$}")
}

/// A listing: `{"<name>": [entries…], "nextPageToken": …}`, both left out when empty. The entries are JSON texts.
pub(super) fn list_page<'a>(
    name: &str,
    entries: impl Iterator<Item = &'a str>,
    next_page_token: Option<&str>,
) -> String {
    let mut text = String::from("{");
    for entry in entries {
        if text.len() == 1 {
            text.push_str(&format!("\"{name}\":["));
        } else {
            text.push(',');
        }
        text.push_str(entry);
    }
    if text.len() > 1 {
        text.push(']');
    }
    if let Some(token) = next_page_token {
        let comma = if text.len() > 1 { "," } else { "" };
        text.push_str(&format!("{comma}\"nextPageToken\":{}", Value::from(token)));
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_three_six_or_nine_digits_or_none() {
        for (given, written) in [
            ("2026-01-14T10:00:00Z", "2026-01-14T10:00:00Z"),
            ("2026-01-14T10:00:00.5Z", "2026-01-14T10:00:00.500Z"),
            ("2026-01-14T10:00:00.1234Z", "2026-01-14T10:00:00.123400Z"),
            (
                "2026-01-14T11:00:00.000000001+01:00",
                "2026-01-14T10:00:00.000000001Z",
            ),
        ] {
            assert_eq!(format_time(given.parse().unwrap()), written);
        }
    }

    #[test]
    fn an_empty_listing_is_an_empty_object() {
        assert_eq!(list_page("sessions", [].into_iter(), None), "{}");
        assert_eq!(
            list_page("a", ["1", "2"].into_iter(), None),
            "{\"a\":[1,2]}"
        );
        assert_eq!(
            list_page("a", ["1"].into_iter(), Some("t")),
            "{\"a\":[1],\"nextPageToken\":\"t\"}"
        );
    }
}
