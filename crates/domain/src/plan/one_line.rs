//! Parts of a mistake, cut and in one line.

/// How many characters of one part of a mistake are shown.
const MAX_CHARS: usize = 400;

/// At most [`MAX_CHARS`] characters in one line, so that no part of a mistake looks like another one.
pub(crate) fn one_line(text: String) -> String {
    let end = text.char_indices().nth(MAX_CHARS);
    let cut = match end {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    if !cut.contains(char::is_control) {
        return cut;
    }
    cut.chars().map(escaped).collect()
}

/// A character, or how a text of TOML writes it where it would not show as itself.
pub(super) fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        _ if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        _ => c.to_string(),
    }
}
