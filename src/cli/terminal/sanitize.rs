//! Sanitizes text of other people for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The first character of a colour sequence.
const ESCAPE: char = '\u{1b}';
/// The colours and weights that phileas uses, as escape sequences. The first resets all.
const OWN_STYLES: [&str; 10] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[34m",
    "\u{1b}[35m",
    "\u{1b}[36m",
    "\u{1b}[37m",
];

/// One line of at most `limit` characters. Control characters become spaces.
pub(crate) fn sanitize(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || is_control(c)) {
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    match line.char_indices().nth(limit) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// One line with visible control characters: line breaks and tabs become spaces, the rest become escapes such as
/// `\u001b`.
///
/// In JSON on one line such characters occur in strings only, where the escape means the same.
pub(crate) fn sanitize_line(text: &str) -> Cow<'_, str> {
    escape_controls(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// Like [`sanitize_line()`], but keeps line breaks and tabs.
pub(crate) fn sanitize_lines(text: &str) -> Cow<'_, str> {
    escape_controls(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

/// Applies `clean` to the text between phileas' own colours, which stay.
pub(crate) fn sanitize_between_styles(text: &str, clean: fn(&str) -> Cow<'_, str>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((start, style)) = next_style(rest) {
        out.push_str(&clean(&rest[..start]));
        out.push_str(style);
        rest = &rest[start + style.len()..];
    }
    out.push_str(&clean(rest));
    out
}

fn next_style(text: &str) -> Option<(usize, &'static str)> {
    text.match_indices(ESCAPE).find_map(|(start, _)| {
        let style = OWN_STYLES
            .iter()
            .find(|style| text[start..].starts_with(**style))?;
        Some((start, *style))
    })
}

fn escape_controls(text: &str, stand_in: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match stand_in(c) {
            Some(other) => out.push(other),
            None if is_control(c) => {
                // Writing to a string cannot fail.
                let _infallible = write!(out, "\\u{:04x}", u32::from(c));
            }
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Like [`sanitize_lines()`], but keeps sequences that begin with [`ESCAPE`], because the logging library has escaped
/// those of other people.
pub(crate) fn sanitize_log_line(text: &str) -> Cow<'_, str> {
    escape_controls(text, |c| matches!(c, '\n' | '\t' | ESCAPE).then_some(c))
}

/// Whether a character moves the cursor, begins a control sequence, or changes the direction of text: each of Unicode's
/// `Bidi_Control`.
/// <https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters>
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left() {
        assert_eq!(sanitize("a\u{1b}[31m\n b\u{9b}c", 20), "a [31m b c");
        assert_eq!(sanitize("äöü", 2), "äö…");
        assert_eq!(
            sanitize_line("a\u{1b}]0;title\u{7}\nb\u{9b}\u{202e}"),
            "a\\u001b]0;title\\u0007 b\\u009b\\u202e"
        );
        assert_eq!(sanitize_lines("a\n\tb\rc"), "a\n\tb\\u000dc");
        let bidi = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        for clean in [sanitize_line, sanitize_lines, sanitize_log_line] {
            let cleaned = clean(bidi);
            assert!(cleaned.is_ascii(), "{cleaned:?}");
        }
        assert_eq!(sanitize(bidi, 20), "");
        assert_eq!(
            sanitize_log_line("a\u{1b}[2m\u{9b}b\n"),
            "a\u{1b}[2m\\u009bb\n"
        );
        assert_eq!(sanitize_line("👩‍💻 ⚙️ é"), "👩‍💻 ⚙️ é");
    }

    #[test]
    fn own_colours_stay_and_others_do_not() {
        let text = "\u{1b}[1m\u{1b}[32mbold\u{1b}[0m \u{1b}[8mhidden \u{1b}[2J\u{1b}";
        assert_eq!(
            sanitize_between_styles(text, sanitize_line),
            "\u{1b}[1m\u{1b}[32mbold\u{1b}[0m \\u001b[8mhidden \\u001b[2J\\u001b"
        );
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let document = serde_json::json!({ "a\u{9b}": "\u{7f}\n\u{1b}\u{202e}" });
        let text = document.to_string();
        let seen = sanitize_line(&text);
        assert_ne!(seen, text);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&seen).unwrap(),
            document
        );
    }
}
