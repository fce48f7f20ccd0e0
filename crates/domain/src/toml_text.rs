//! Types that are read from TOML which people write, with every mistake told as those of the plan are: the place, what is
//! wrong in plain words, the key, and the help.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::Diagnostic;
use crate::plan::suggest::{closest, did_you_mean};
use crate::plan::{duplicate, first_mistake, join};

/// How many known keys an error lists if none of them is similar.
const MAX_LISTED: usize = 12;

/// Is shown a key's path, where the key stands and where its value does, in bytes.
type KeyVisitor<'s> = dyn FnMut(&str, Range<usize>, Range<usize>) + 's;

/// A text of TOML, under the name that its mistakes call it by.
#[derive(Debug, Clone, Copy)]
pub struct TomlText<'t> {
    file: &'t str,
    text: &'t str,
}

impl<'t> TomlText<'t> {
    /// The text of a file.
    #[must_use]
    pub const fn new(file: &'t str, text: &'t str) -> Self {
        Self { file, text }
    }

    /// Reads what it says.
    ///
    /// # Errors
    ///
    /// The first mistake, with its place and its key where they are known.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Box<Diagnostic>> {
        toml::from_str(self.text).map_err(|error| {
            if let Some(mistake) = first_mistake(self.file, self.text) {
                return Box::new(mistake);
            }
            let Some(span) = error.span() else {
                let (message, help) = error_text(error.message());
                return Box::new(Diagnostic::error(self.file, message).help(help));
            };
            let key = self.key_at(span.start);
            let message = duplicate(error.message(), self.text, span.start);
            let (message, help) = error_text(&message);
            let mistake = Diagnostic::error(self.file, message).help(help);
            Box::new(mistake.at_offset(self.text, span.start).key(key))
        })
    }

    /// A mistake in the value of a key, such as `acts[0].at`, that only shows beside other values.
    #[must_use]
    pub fn mistake(self, key: &str, message: impl Into<String>) -> Diagnostic {
        let mistake = Diagnostic::error(self.file, message).key(key);
        let mut value_at = None;
        self.for_each_key(&mut |path, _, value| {
            if path == key {
                value_at = Some(value.start);
            }
        });
        match value_at {
            Some(offset) => mistake.at_offset(self.text, offset),
            None => mistake,
        }
    }

    /// The key whose own place, or that of its value, is the narrowest one around a byte offset.
    fn key_at(self, offset: usize) -> String {
        let mut found: Option<(usize, String)> = None;
        self.for_each_key(&mut |path, key, value| {
            for span in [key, value] {
                let narrower = found.as_ref().is_none_or(|(width, _)| span.len() <= *width);
                if span.contains(&offset) && narrower {
                    found = Some((span.len(), path.to_owned()));
                }
            }
        });
        found.map(|(_, path)| path).unwrap_or_default()
    }

    /// Shows every key and every element with the places of the key and of the value. None of a text that is no TOML.
    fn for_each_key(self, see: &mut KeyVisitor<'_>) {
        if let Ok(table) = DeTable::parse(self.text) {
            each_of_table(table.get_ref(), "", see);
        }
    }
}

fn each_of_table(table: &DeTable<'_>, path: &str, see: &mut KeyVisitor<'_>) {
    for (key, value) in table {
        let path = join(path, key.get_ref());
        see(&path, key.span(), value.span());
        each_of_value(value.get_ref(), &path, see);
    }
}

fn each_of_value(value: &DeValue<'_>, path: &str, see: &mut KeyVisitor<'_>) {
    match value {
        DeValue::Table(table) => each_of_table(table, path, see),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                see(&path, item.span(), item.span());
                each_of_value(item.get_ref(), &path, see);
            }
        }
        _ => {}
    }
}

/// What is wrong and how to fix it, from the words of the library that reads types.
fn error_text(message: &str) -> (String, String) {
    let message = message.replace('\n', " ");
    if let Some((word, known)) = not_known(&message, "unknown field ") {
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
    if let Some((word, known)) = not_known(&message, "unknown variant ") {
        return (
            format!("unknown value `{word}`"),
            did_you_mean(word, &known),
        );
    }
    if let Some(missing) = message.strip_prefix("missing field ") {
        return (format!("{missing} is missing"), "add it".to_owned());
    }
    let expected = |begin: &str| {
        let (found, wanted) = message.strip_prefix(begin)?.rsplit_once(", expected ")?;
        Some((found, shape_name(wanted)))
    };
    if let Some((found, shape)) = expected("invalid type: ") {
        let found = kind_name(found);
        let wanted = wanted_name(shape);
        return (
            format!("expected {wanted}, found {found}"),
            format!("write {shape}"),
        );
    }
    if let Some((found, shape)) = expected("invalid value: ") {
        let value = found.split('`').nth(1).unwrap_or(found);
        return (format!("{value} is out of range"), format!("write {shape}"));
    }
    if message.starts_with("duplicate key") {
        return (message, "remove one of the two".to_owned());
    }
    match message.split_once("; ") {
        Some((message, help)) => (message.to_owned(), help.to_owned()),
        None => (message, String::new()),
    }
}

/// The word, and those that would be known, of ``unknown field `word`, expected one of `a`, `b` ``.
fn not_known<'m>(message: &'m str, begin: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let rest = message.strip_prefix(begin)?.strip_prefix('`')?;
    let (word, rest) = rest.split_once("`, ")?;
    Some((word, rest.split('`').skip(1).step_by(2).collect()))
}

/// What was found, in the words of TOML's readers.
fn kind_name(found: &str) -> &str {
    const KINDS: [(&str, &str); 6] = [
        ("integer", "a whole number"),
        ("floating point", "a number with a fraction"),
        ("boolean", "true or false"),
        ("string", "a text"),
        ("sequence", "an array"),
        ("map", "a table"),
    ];
    let kind = KINDS.iter().find(|(begin, _)| found.starts_with(begin));
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
fn shape_name(wanted: &str) -> &str {
    match wanted {
        "a string" | "path string" => "a text between double quotes",
        "a sequence" => "an array between square brackets",
        "a boolean" => "`true` or `false`",
        "f64" => "a number",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number of 0 or more",
        "i64" => "a whole number",
        _ if wanted.contains("map") || wanted.contains("struct ") => "a table",
        _ if wanted.starts_with("internally tagged enum") => "a table",
        _ => wanted,
    }
}

#[cfg(test)]
mod tests;
