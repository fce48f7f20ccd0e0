//! What is wrong with a value and how to fix it, in place of the words of the library that reads types.

use crate::plan::suggest::{closest, did_you_mean};

/// How many known keys an error lists if none of them is similar.
const MAX_LISTED: usize = 12;

/// The key that a table lacks.
pub(super) fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// The key that no table may hold.
pub(crate) fn unknown_field(message: &str) -> Option<&str> {
    not_known(message, "unknown field ").map(|(word, _)| word)
}

/// What is wrong with a value, and how to fix it. `kind`: the value's, where it is known better than from the message.
/// `table`: what the notation calls a group of keys.
pub(crate) fn error_text(message: &str, kind: Option<&str>, table: &str) -> (String, String) {
    if let Some((word, known)) = not_known(message, "unknown field ") {
        let help = if known.is_empty() {
            "remove it".to_owned()
        } else if known.len() > MAX_LISTED && closest(word, known.iter().copied()).is_none() {
            format!(
                "it is like none of the {} keys that may stand here",
                known.len()
            )
        } else {
            did_you_mean(word, &known)
        };
        return (format!("unknown key `{word}`"), help);
    }
    if let Some((word, known)) = not_known(message, "unknown variant ") {
        return (
            format!("unknown value `{word}`"),
            did_you_mean(word, &known),
        );
    }
    if let Some(missing) = message.strip_prefix("missing field ") {
        return (format!("{missing} is missing"), "add it".to_owned());
    }
    // A type with named keys may also be read from an array.
    if message.starts_with("invalid length ") && message.contains("expected struct ") {
        return wrong_kind(table, "an array", table);
    }
    if message == "wanted string or table" {
        return wrong_kind(
            "a text",
            kind.unwrap_or("another value"),
            "a text between double quotes",
        );
    }
    if message.ends_with("number overflowed") {
        return (
            "the number is too large".to_owned(),
            "write a smaller one".to_owned(),
        );
    }
    let expected = |begin: &str| {
        let (found, wanted) = message.strip_prefix(begin)?.rsplit_once(", expected ")?;
        Some((found, shape_name(wanted, table)))
    };
    if let Some((found, shape)) = expected("invalid type: ") {
        // To the library, a date is a table.
        let found = match kind {
            Some("a date or time") => "a date or time",
            _ => kind_name(found, table),
        };
        return wrong_kind(wanted_name(shape), found, shape);
    }
    if let Some((found, shape)) = expected("invalid value: ") {
        let value = found.split('`').nth(1).unwrap_or(found);
        return (format!("{value} is out of range"), format!("write {shape}"));
    }
    match message.split_once("; ") {
        Some((message, help)) => (message.to_owned(), help.to_owned()),
        None => (message.to_owned(), String::new()),
    }
}

fn wrong_kind(wanted: &str, found: &str, shape: &str) -> (String, String) {
    (
        format!("expected {wanted}, found {found}"),
        format!("write {shape}"),
    )
}

/// The word, and those that would be known, of ``unknown field `word`, expected one of `a`, `b` ``.
fn not_known<'m>(message: &'m str, begin: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let rest = message.strip_prefix(begin)?.strip_prefix('`')?;
    let (word, rest) = rest.split_once("`, ")?;
    Some((word, rest.split('`').skip(1).step_by(2).collect()))
}

/// What was found, in the words of a notation's readers.
fn kind_name<'m>(found: &'m str, table: &'m str) -> &'m str {
    let kinds = [
        ("integer", "a whole number"),
        ("floating point", "a number with a fraction"),
        ("boolean", "true or false"),
        ("string", "a text"),
        ("sequence", "an array"),
        ("map", table),
    ];
    let kind = kinds.iter().find(|(begin, _)| found.starts_with(begin));
    kind.map_or(found, |(_, kind)| kind)
}

/// What should be there, from what should be written.
fn wanted_name(shape: &str) -> &str {
    match shape {
        "`true` or `false`" => "true or false",
        _ => {
            let limits = [" between ", " from ", " of 0 "];
            let end = limits.iter().find_map(|word| shape.find(word));
            &shape[..end.unwrap_or(shape.len())]
        }
    }
}

/// What should be written, likewise.
fn shape_name<'m>(wanted: &'m str, table: &'m str) -> &'m str {
    match wanted {
        "a string" | "path string" => "a text between double quotes",
        "a sequence" => "an array between square brackets",
        "a boolean" => "`true` or `false`",
        "f64" => "a number",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number of 0 or more",
        "i64" => "a whole number",
        _ if wanted.contains("map") || wanted.contains("struct ") => table,
        _ if wanted.starts_with("internally tagged enum") => table,
        _ => wanted,
    }
}
