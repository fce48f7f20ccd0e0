//! Types that are read from TOML which people write, with every mistake told as those of the plan are: the location, what is
//! wrong in plain words, the key, and the help.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer, Error};

use crate::Diagnostic;
use crate::diagnostic::Mistakes;
use crate::plan::suggest::{closest, did_you_mean};
use crate::plan::{Document, join};

/// How many known keys an error lists if none of them is similar.
const MAX_LISTED: usize = 12;

/// How many wrong values are left out to find the next one. What then remains wrong is not listed.
const MAX_ROUNDS: usize = 64;

/// A text of TOML, under the name that its mistakes call it by.
#[derive(Debug, Clone, Copy)]
pub struct TomlText<'t> {
    file: &'t str,
    text: &'t str,
}

/// A value, or an element of an array, and where it and its key stand, in bytes.
struct Location {
    path: String,
    /// The path of the table or array that it is in.
    parent: String,
    key: Range<usize>,
    value: Range<usize>,
}

impl Location {
    /// Whether a table lacks a key only because this was left out: its value, or a key that is spelled like it.
    fn is_instead_of(&self, table: &str, field: &str) -> bool {
        let name = self.path.rsplit('.').next().unwrap_or(&self.path);
        self.parent == table && (name == field || closest(name, [field]).is_some())
    }
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
    /// All mistakes, each with its location and its key where they are known.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Mistakes> {
        match self.read_leniently() {
            (Some(read), mistakes) if mistakes.is_empty() => Ok(read),
            (_, mistakes) => Err(Mistakes(mistakes)),
        }
    }

    /// Reads what it says without what is wrong in it, and lists that in the order of the file. `None`: without it, the
    /// rest cannot be read.
    #[must_use]
    pub fn read_leniently<T: DeserializeOwned>(self) -> (Option<T>, Vec<Diagnostic>) {
        let document = Document::of(self.text);
        let mut mistakes = document.diagnostics(self.file);
        let locations = locations(&document.clean);
        let root = DeTable::parse(&document.clean).map_or(0..0, |root| root.span());
        let mut wrong: Vec<&Location> = Vec::new();
        let mut read = None;
        // A reader of types stops at the first mistake, so what is wrong is left out and the rest is read again.
        for _ in 0..MAX_ROUNDS {
            let error = match read_without(&document.clean, &wrong) {
                Ok(value) => {
                    read = Some(value);
                    break;
                }
                Err(error) => error,
            };
            let table = error.span().and_then(|span| match span == root {
                true => None,
                false => narrowest(&locations, span.start),
            });
            let location = table.map(|table| {
                narrow_down::<T>(&document.clean, &locations, &wrong, table, &error)
                    .unwrap_or(table)
            });
            let path = location.map_or("", |location| &location.path);
            // What was left out, or cannot be parsed, is missing only because of that.
            let is_told = missing_field(error.message()).is_some_and(|field| {
                document.is_broken(&join(path, field))
                    || wrong
                        .iter()
                        .any(|location| location.is_instead_of(path, field))
            });
            if !is_told {
                mistakes.push(self.diagnostic(&error, location));
            }
            match location {
                Some(location) => wrong.push(location),
                None => break,
            }
        }
        mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
        if wrong.len() == MAX_ROUNDS {
            let more = Diagnostic::error(self.file, "further mistakes are not listed");
            mistakes.push(more.help("fix the ones above first"));
        }
        (read, mistakes)
    }

    fn diagnostic(self, error: &Error, location: Option<&Location>) -> Diagnostic {
        let (message, help) = error_text(error.message());
        let mistake = Diagnostic::error(self.file, message).help(help);
        let Some(span) = error.span() else {
            return mistake;
        };
        let Some(location) = location else {
            return mistake.at_offset(self.text, span.start);
        };
        let at = if location.key.contains(&span.start) || location.value.contains(&span.start) {
            span.start
        } else if error.message().starts_with("unknown field ") {
            location.key.start
        } else {
            location.value.start
        };
        mistake.at_offset(self.text, at).key(&location.path)
    }

    /// A mistake at a byte offset that only shows beside other values.
    #[must_use]
    pub fn mistake_at(self, offset: usize, message: impl Into<String>) -> Diagnostic {
        let locations = locations(&Document::of(self.text).clean);
        let key = narrowest(&locations, offset).map_or("", |location| &location.path);
        Diagnostic::error(self.file, message)
            .at_offset(self.text, offset)
            .key(key)
    }

    /// A mistake in the value of a key, such as `acts[0].at`, that only shows beside other values.
    #[must_use]
    pub fn mistake(self, key: &str, message: impl Into<String>) -> Diagnostic {
        let mistake = Diagnostic::error(self.file, message).key(key);
        let locations = locations(&Document::of(self.text).clean);
        match locations.iter().find(|location| location.path == key) {
            Some(location) => mistake.at_offset(self.text, location.value.start),
            None => mistake,
        }
    }
}

/// Every value and every element of a text without mistakes of syntax, what holds them before them.
fn locations(text: &str) -> Vec<Location> {
    let mut locations = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        list_table(table.get_ref(), "", &mut locations);
    }
    locations
}

fn list_table(table: &DeTable<'_>, parent: &str, locations: &mut Vec<Location>) {
    for (key, value) in table {
        list_value(
            value,
            join(parent, key.get_ref()),
            parent,
            key.span(),
            locations,
        );
    }
}

fn list_value(
    value: &Spanned<DeValue<'_>>,
    path: String,
    parent: &str,
    key: Range<usize>,
    locations: &mut Vec<Location>,
) {
    locations.push(Location {
        path: path.clone(),
        parent: parent.to_owned(),
        key,
        value: value.span(),
    });
    match value.get_ref() {
        DeValue::Table(table) => list_table(table, &path, locations),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                list_value(
                    item,
                    format!("{path}[{index}]"),
                    &path,
                    item.span(),
                    locations,
                );
            }
        }
        _ => {}
    }
}

/// The location whose key or value is the narrowest one around a byte offset.
fn narrowest(locations: &[Location], offset: usize) -> Option<&Location> {
    let spans = locations
        .iter()
        .rev()
        .flat_map(|location| [(location, &location.value), (location, &location.key)]);
    let around = spans.filter(|(_, span)| span.contains(&offset));
    let found = around.min_by_key(|(_, span)| span.len());
    found.map(|(location, _)| location)
}

/// The value in a table that is wrong. The reader of a table whose kind one of its keys names says only that something in
/// the table is.
fn narrow_down<'p, T: DeserializeOwned>(
    text: &str,
    locations: &'p [Location],
    wrong: &[&'p Location],
    table: &Location,
    error: &Error,
) -> Option<&'p Location> {
    let error_without = |more: &[&'p Location]| {
        let error = read_without::<T>(text, &[wrong, more].concat()).err()?;
        Some(error.message().to_owned())
    };
    // A reader that names a key of the table, or what the table lacks, is exact.
    if error.span().as_ref() != Some(&table.value) || missing_field(error.message()).is_some() {
        return None;
    }
    let within = locations
        .iter()
        .filter(|location| location.parent == table.path);
    let mut suspects: Vec<&Location> = within
        .filter(|location| error_without(&[location]).as_deref() != Some(error.message()))
        .collect();
    // The keys that such a reader needs first are no culprits: it misses them before it sees the others.
    while suspects.len() > 1 {
        let message = error_without(&suspects)?;
        let needed = join(&table.path, missing_field(&message)?);
        let index = suspects
            .iter()
            .position(|location| location.path == needed)?;
        suspects.remove(index);
    }
    suspects.pop()
}

/// Reads a text without some of its values.
fn read_without<T: DeserializeOwned>(text: &str, wrong: &[&Location]) -> Result<T, Error> {
    let mut table = DeTable::parse(text)?;
    remove_values(table.get_mut(), wrong);
    T::deserialize(Deserializer::from(table))
}

fn remove_values(table: &mut DeTable<'_>, wrong: &[&Location]) {
    *table = std::mem::take(table)
        .into_iter()
        .filter(|(key, _)| !wrong.iter().any(|location| location.key == key.span()))
        .collect();
    for (_, value) in table.iter_mut() {
        remove_within(value.get_mut(), wrong);
    }
}

fn remove_within(value: &mut DeValue<'_>, wrong: &[&Location]) {
    match value {
        DeValue::Table(table) => remove_values(table, wrong),
        DeValue::Array(items) => {
            *items = std::mem::replace(items, DeArray::new())
                .into_iter()
                .filter(|item| !wrong.iter().any(|location| location.key == item.span()))
                .collect();
            for item in items.iter_mut() {
                remove_within(item.get_mut(), wrong);
            }
        }
        _ => {}
    }
}

/// The key that a table lacks.
fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
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
