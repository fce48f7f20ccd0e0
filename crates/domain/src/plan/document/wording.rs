//! The words for a mistake of syntax: what people write who know another notation, and what the parser's words mean.

use std::borrow::Cow;
use std::ops::Range;

use crate::plan::frontmatter::NEVER_CLOSED;
use crate::plan::line_index::colon_key;

/// Quotation marks of texts that were written with a word processor or copied from a page.
const TYPOGRAPHIC: [char; 10] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛', '«', '»'];

/// Where a mistake is, what it is, and how to fix it.
#[derive(Debug)]
pub(super) struct Wording {
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) help: String,
}

impl Wording {
    fn new(offset: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
            help: help.into(),
        }
    }
}

/// A well-known slip in a statement of which `written` goes from the beginning to the line with the mistake. The parser
/// points at what follows from it.
pub(super) fn slip(text: &str, written: Range<usize>) -> Option<Wording> {
    let statement = &text[written.clone()];
    let line = statement.lines().next()?;
    if let Some((key, value)) = colon_key(line)
        && let Some(value) = as_toml(value)
    {
        let colon = written.start + line.find(':')?;
        return Some(Wording::new(
            colon,
            "a colon stands in place of `=`",
            format!("write `{key} = {value}`"),
        ));
    }
    let value = value_at(text, written.start);
    if text[value..].starts_with('(') && line.contains('=') {
        return Some(Wording::new(
            value,
            "an array stands between round brackets",
            "write `[` and `]` in their place",
        ));
    }
    // A text of several lines may hold any quotation mark.
    if statement.contains("\"\"\"") || statement.contains("'''") {
        return None;
    }
    let mut begins = written.start;
    statement.split_inclusive('\n').find_map(|line| {
        let slip = quote_slip(begins, line);
        begins += line.len();
        slip
    })
}

/// The value behind a colon as TOML writes it. `None`: it is a sentence, and the line a remark.
fn as_toml(value: &str) -> Option<Cow<'_, str>> {
    let is_written = value.is_empty()
        || matches!(value, "true" | "false")
        || value
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '[' | '{' | '-'));
    if let Some(words) = bare_words(value) {
        return Some(format!("[{}]", words.join(", ")).into());
    }
    match is_written {
        true => Some(value.into()),
        false if value.contains(char::is_whitespace) => None,
        false => Some(format!("\"{value}\"").into()),
    }
}

/// The items of an array of which some are bare words, each as TOML writes it. `None`: it is no such array.
fn bare_words(value: &str) -> Option<Vec<Cow<'_, str>>> {
    let inner = value.strip_prefix('[')?.strip_suffix(']')?;
    if inner.contains(['[', ']', '{', '}', '#']) || is_toml(value) {
        return None;
    }
    let quoted = |item| match is_toml(item) {
        true => Cow::from(item),
        false => format!("\"{}\"", item.replace(['"', '\'', '\\'], "")).into(),
    };
    let items = array_items(inner).into_iter().map(str::trim);
    Some(items.filter(|item| !item.is_empty()).map(quoted).collect())
}

/// The items between the brackets of an array. A comma in a text that begins with a quotation mark separates none.
fn array_items(inner: &str) -> Vec<&str> {
    let (mut items, mut begins, mut open) = (Vec::new(), 0, None);
    for (at, c) in inner.char_indices() {
        match open {
            Some(quote) if c == quote => open = None,
            Some(_) => {}
            None if c == ',' => {
                items.push(&inner[begins..at]);
                begins = at + 1;
            }
            None if matches!(c, '"' | '\'') && inner[begins..at].trim().is_empty() => {
                open = Some(c)
            }
            None => {}
        }
    }
    // Where a quotation mark is not closed, the end of its text is unknown.
    if open.is_some() {
        return inner.split(',').collect();
    }
    items.push(&inner[begins..]);
    items
}

fn is_toml(value: &str) -> bool {
    format!("x = {value}").parse::<toml::Table>().is_ok()
}

/// A quotation mark that is missing on a line, or is none of TOML.
fn quote_slip(begins: usize, line: &str) -> Option<Wording> {
    // The text that holds the place, and the first one that has a word right before or behind it.
    let mut open: Option<(usize, char)> = None;
    let mut suspect: Option<usize> = None;
    let mut escaped = false;
    let mut before = ' ';
    let mut word = 0;
    let mut behind_text: Option<usize> = None;
    for (at, c) in line.char_indices() {
        match open {
            Some(_) if escaped => escaped = false,
            Some((_, '"')) if c == '\\' => escaped = true,
            Some((start, quote)) if c == quote => {
                open = None;
                behind_text = Some(start);
            }
            Some(_) => {}
            None if c == '#' => break,
            None if TYPOGRAPHIC.contains(&c) => return Some(typographic(begins + at, c)),
            None if matches!(c, '"' | '\'') => {
                if before.is_alphanumeric() {
                    suspect = suspect.or(Some(word));
                }
                open = Some((at, c));
                behind_text = None;
            }
            None => {
                if c.is_alphanumeric() {
                    suspect = suspect.or(behind_text);
                }
                if !before.is_alphanumeric() {
                    word = at;
                }
                behind_text = None;
            }
        }
        before = c;
    }
    let (start, quote) = open?;
    let typographic_at = line.char_indices().find(|(_, c)| TYPOGRAPHIC.contains(c));
    if let Some((at, c)) = typographic_at {
        return Some(typographic(begins + at, c));
    }
    Some(Wording::new(
        begins + suspect.unwrap_or(start),
        "the text that begins here lacks a quotation mark",
        format!("put `{quote}` before and behind it"),
    ))
}

fn typographic(offset: usize, mark: char) -> Wording {
    let message = format!("`{mark}` is not a quotation mark of TOML");
    Wording::new(offset, message, "write the straight `\"` in its place")
}

/// A value that was begun by the statement at `begins`, and swallowed what follows.
pub(super) fn never_closed(text: &str, begins: usize) -> Wording {
    let offset = value_at(text, begins);
    let help = match text[offset..].chars().next() {
        Some('[') => "put `]` where the array ends",
        Some('{') => "put `}` where the table ends",
        Some('"' | '\'') => "put the same quotation mark where the text ends",
        _ => "close it where it ends",
    };
    Wording::new(offset, NEVER_CLOSED, help)
}

/// What the parser says of a statement that begins with `line`.
pub(super) fn of_message(text: &str, offset: usize, message: &str, line: &str) -> Wording {
    let unquoted =
        message.contains("must be quoted") || is_taken_for_a_value(text, offset, message);
    let message = if unquoted && has_no_value(line) {
        "its value is missing".to_owned()
    } else if unquoted && !begins_with_digit(line) {
        "a text stands here without quotation marks".to_owned()
    } else {
        lower_first(message)
    };
    let help = help_for(&message, line);
    Wording::new(offset, message, help)
}

/// Whether the parser takes a word for another value because of its first letter: `free` for `false`.
fn is_taken_for_a_value(text: &str, offset: usize, message: &str) -> bool {
    let rest = text.get(offset..).unwrap_or_default();
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next();
    let word = word.unwrap_or_default().to_ascii_lowercase();
    let is_meant = matches!(word.as_str(), "true" | "false" | "inf" | "nan");
    message.to_lowercase().starts_with("invalid ")
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !is_meant
        && text[..offset].trim_end().ends_with(['=', '[', ','])
}

fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

fn help_for(message: &str, line: &str) -> String {
    let help: Cow<'_, str> = if message.contains("duplicate key") {
        "remove one of the two".into()
    } else if message.contains("value is missing") {
        "write it behind the `=`, or put `#` before the line".into()
    } else if message.contains("must be quoted") {
        "write the number by itself, or a text between double quotes".into()
    } else if message.contains("without quotation marks") {
        "put the text between double quotes".into()
    } else if message.contains("invalid boolean") {
        "write `true` or `false`, in small letters".into()
    } else if message.contains("key with no value") {
        "write `key = value`".into()
    } else if message.contains("missing comma") {
        "put a comma between the two".into()
    } else if line.trim_start().starts_with('[') {
        format!(
            "write the table's name between brackets, for example `{}`",
            closed_header(line)
        )
        .into()
    } else if line.contains('=') {
        "write one `key = value` a line: texts between double quotes, arrays between brackets"
            .into()
    } else {
        "take it out, or put `#` before it if it is a remark".into()
    };
    help.into_owned()
}

/// The header of a table with as many brackets behind its name as before it.
fn closed_header(line: &str) -> String {
    let name = line.trim().trim_matches(['[', ']']);
    let name = name
        .split([']', '#', '='])
        .next()
        .unwrap_or_default()
        .trim();
    let name = if name.is_empty() { "name" } else { name };
    match line.trim_start().starts_with("[[") {
        true => format!("[[{name}]]"),
        false => format!("[{name}]"),
    }
}

/// Whether nothing stands behind a line's equals sign but a remark.
fn has_no_value(line: &str) -> bool {
    line.split_once('=').is_some_and(|(_, value)| {
        let value = value.trim_start();
        value.is_empty() || value.starts_with('#')
    })
}

/// Where the value of a statement begins that begins at an offset: on the line of its key, or with the key where nothing
/// stands there.
pub(super) fn value_at(text: &str, begins: usize) -> usize {
    let line = text[begins..].lines().next().unwrap_or_default();
    match line.split_once('=') {
        // An equals sign may stand in a quoted key.
        Some((name, value)) if !value.trim().is_empty() && !name.contains(['"', '\'']) => {
            let blank = value.len() - value.trim_start().len();
            begins + name.len() + 1 + blank
        }
        _ => begins,
    }
}

fn begins_with_digit(line: &str) -> bool {
    let value = line.split_once('=').map_or(line, |(_, value)| value);
    value.trim_start().starts_with(|c: char| c.is_ascii_digit())
}
