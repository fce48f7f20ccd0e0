//! The tables of a TOML document and their values, read one by one so that no mistake hides another.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::Document;
use super::duration;
use super::keywords::Keyword;
use super::one_line::{escaped, one_line};
use super::policy::Share;
use super::suggest::{did_you_mean, either_of};
use crate::Diagnostic;

/// How many mistakes of one file are told; who has more wants to see the first ones.
pub const MAX_DIAGNOSTICS: usize = 200;

/// Labels have fixed names, and are put on issues.
const NO_LABELS: &str =
    "take it out: no plan names labels; the label `phileas:<persona>` on an issue starts a persona";

/// Collects the mistakes of one document.
pub(super) struct Reader<'t> {
    pub(super) document: &'t Document<'t>,
    /// The file that it is.
    file: &'static str,
    diagnostics: Vec<Diagnostic>,
    untold: usize,
}

/// A table.
#[derive(Clone)]
pub(super) struct Section<'t> {
    table: &'t DeTable<'t>,
    pub(super) path: String,
}

/// A key with its value, or an element of an array.
#[derive(Clone)]
pub(super) struct Entry<'t> {
    pub(super) key: &'t str,
    /// The whole key path.
    pub(super) path: String,
    /// Where the key stands; for an element, where it stands itself.
    pub(super) at: usize,
    value: &'t Spanned<DeValue<'t>>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &'static str, document: &'t Document<'t>) -> Self {
        let mut reader = Self {
            document,
            file,
            diagnostics: Vec::new(),
            untold: 0,
        };
        for mistake in &document.mistakes {
            reader.error(
                mistake.offset,
                &mistake.key,
                mistake.message.clone(),
                &mistake.help,
            );
        }
        reader
    }

    /// Notes an error at a byte offset.
    pub(super) fn error(
        &mut self,
        at: usize,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.note(Diagnostic::error(self.file, message).help(help), at, key);
    }

    /// Notes a warning at a byte offset.
    pub(super) fn warning(
        &mut self,
        at: usize,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.note(Diagnostic::warning(self.file, message).help(help), at, key);
    }

    fn note(&mut self, mut diagnostic: Diagnostic, at: usize, key: &str) {
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            self.untold += 1;
            return;
        }
        let place = &self.document.lines;
        let (line, column) = place.place(self.document.text, at);
        // A value can be as long as the file.
        diagnostic.message = one_line(diagnostic.message);
        diagnostic.help = one_line(diagnostic.help);
        self.diagnostics
            .push(diagnostic.at(line, column).key(one_line(key.to_owned())));
    }

    /// How many mistakes were noted.
    pub(super) fn count(&self) -> usize {
        self.diagnostics.len()
    }

    /// How many errors were noted. What is not listed counts as errors.
    pub(super) fn errors(&self) -> usize {
        let errors = self.diagnostics.iter().filter(|one| one.is_error());
        errors.count() + self.untold
    }

    /// Adds what counts in place of a broken value to an error that was noted after the first `before` ones.
    pub(super) fn add_fallback(&mut self, before: usize, fallback: &str) {
        let new = self.diagnostics.iter_mut().skip(before);
        for error in new.filter(|one| one.is_error()) {
            if !error.help.is_empty() {
                error.help.push_str("; ");
            }
            error
                .help
                .push_str(&format!("until then it counts as `{fallback}`"));
        }
    }

    /// Everything that was noted, in the order of the file.
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut found = self.diagnostics;
        found.sort_by_key(|diagnostic| (diagnostic.line, diagnostic.column));
        if self.untold > 0 {
            let last = found
                .last()
                .and_then(|last| Some((last.line?, last.column?)));
            let (line, column) = last.unwrap_or((1, 1));
            let more = format!("{} more mistakes are not listed", self.untold);
            found.push(
                Diagnostic::error(self.file, more)
                    .at(line, column)
                    .help("fix the ones above first"),
            );
        }
        found
    }

    /// Notes that a key is not known here; `homes` are other places and what they know.
    pub(super) fn unknown(&mut self, entry: &Entry<'_>, known: &[&str], homes: &[(&str, &[&str])]) {
        let elsewhere = homes.iter().filter(|(_, keys)| keys.contains(&entry.key));
        let homes: Vec<&str> = elsewhere.map(|(home, _)| *home).collect();
        let help = match homes.as_slice() {
            [] if matches!(entry.key, "label" | "labels") => NO_LABELS.to_owned(),
            [] => did_you_mean(entry.key, known),
            [home] if !home.starts_with('[') => format!("it belongs in {home}"),
            _ => format!("it belongs in {}", either_of(homes)),
        };
        self.error(
            entry.at,
            &entry.path,
            format!("unknown key `{}`", entry.key),
            help,
        );
    }
}

impl<'t> Section<'t> {
    /// The document itself.
    pub(super) fn root(table: &'t DeTable<'t>) -> Self {
        Self {
            table,
            path: String::new(),
        }
    }

    /// Its entries in the order of the file. What a conflict has mangled is left out; it was told before.
    pub(super) fn entries(&self, reader: &Reader<'_>) -> Vec<Entry<'t>> {
        let mut entries: Vec<Entry<'t>> = self
            .table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref(),
                path: join(&self.path, key.get_ref()),
                at: key.span().start,
                value,
            })
            .filter(|entry| !reader.document.is_mangled(&entry.path))
            .collect();
        entries.sort_by_key(|entry| entry.at);
        entries
    }
}

impl<'t> Entry<'t> {
    /// Where the value stands.
    pub(super) fn value_at(&self) -> usize {
        self.value.span().start.max(self.at)
    }

    /// The value as it is written, shortened.
    pub(super) fn written(&self, reader: &Reader<'_>) -> String {
        let text = reader.document.text.get(self.value.span()).unwrap_or("");
        text.chars().filter(|c| !c.is_control()).take(40).collect()
    }

    pub(super) fn as_text(&self) -> Option<&'t str> {
        self.value.get_ref().as_str()
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    pub(super) fn is_array(&self) -> bool {
        self.value.get_ref().is_array()
    }

    pub(super) fn as_integer(&self) -> Option<i64> {
        let integer = self.value.get_ref().as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    pub(super) fn text(&self, reader: &mut Reader<'_>) -> Option<&'t str> {
        let text = self.as_text();
        self.or_wrong_type(text, reader, "a text", "a text between double quotes")
    }

    pub(super) fn flag(&self, reader: &mut Reader<'_>) -> Option<bool> {
        let flag = self.value.get_ref().as_bool();
        self.or_wrong_type(flag, reader, "true or false", "`true` or `false`")
    }

    pub(super) fn table(&self, reader: &mut Reader<'_>, shape: &str) -> Option<Section<'t>> {
        let table = self.value.get_ref().as_table();
        let table = self.or_wrong_type(table, reader, "a table", shape)?;
        Some(Section {
            table,
            path: self.path.clone(),
        })
    }

    /// The elements of an array.
    pub(super) fn items(&self, reader: &mut Reader<'_>, shape: &str) -> Option<Vec<Entry<'t>>> {
        let array = self.value.get_ref().as_array();
        let array = self.or_wrong_type(array, reader, "an array", shape)?;
        let item = |(index, value): (usize, &'t Spanned<DeValue<'t>>)| Entry {
            key: self.key,
            path: format!("{}[{index}]", self.path),
            at: value.span().start,
            value,
        };
        Some(array.iter().enumerate().map(item).collect())
    }

    /// One of the words of a knob.
    pub(super) fn read_keyword<W: Keyword>(&self, reader: &mut Reader<'_>) -> Option<W> {
        let words = W::all();
        let text = self.as_text();
        let shape = either_of(words.iter().copied());
        let text = self.or_wrong_type(text, reader, "a text", &shape)?;
        let value = W::of(text);
        if value.is_none() {
            let help = match super::suggest::closest(text, words.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`? it is one of {shape}"),
                None => format!("write {shape}"),
            };
            reader.error(
                self.value_at(),
                &self.path,
                format!("unknown value `{text}`"),
                help,
            );
        }
        value
    }

    /// A whole number within limits.
    pub(super) fn number(
        &self,
        reader: &mut Reader<'_>,
        limits: RangeInclusive<u64>,
    ) -> Option<u64> {
        let integer = self.value.get_ref().as_integer();
        let shape = format!("a whole number from {} to {}", limits.start(), limits.end());
        let integer = self.or_wrong_type(integer, reader, "a whole number", &shape)?;
        let value = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let value = value.filter(|value| limits.contains(value));
        if value.is_none() {
            let message = format!("{integer} is out of range");
            reader.error(
                self.value_at(),
                &self.path,
                message,
                format!("write {shape}"),
            );
        }
        value
    }

    /// A whole number within limits that fit 32 bits.
    pub(super) fn small(
        &self,
        reader: &mut Reader<'_>,
        limits: RangeInclusive<u32>,
    ) -> Option<u32> {
        let limits = u64::from(*limits.start())..=u64::from(*limits.end());
        self.number(reader, limits)
            .and_then(|value| u32::try_from(value).ok())
    }

    /// A part of a whole: a number from 0 to 1.
    pub(super) fn share(&self, reader: &mut Reader<'_>) -> Option<Share> {
        const SHAPE: &str = "a number from 0 to 1, such as 0.5";
        let value = self.value.get_ref();
        let float = value.as_float().map(|float| float.as_str());
        let text = float.or_else(|| value.as_integer().map(|integer| integer.as_str()));
        let text = self.or_wrong_type(text, reader, "a number", SHAPE)?;
        let share = Share::parse(text);
        if share.is_none() {
            let message = format!("{text} is out of range");
            reader.error(
                self.value_at(),
                &self.path,
                message,
                format!("write {SHAPE}"),
            );
        }
        share
    }

    /// A span of time within limits, in seconds.
    pub(super) fn seconds(
        &self,
        reader: &mut Reader<'_>,
        limits: RangeInclusive<u64>,
    ) -> Option<u64> {
        const SHAPE: &str = "a span of time such as \"6h\", \"90m\" or \"2d\"";
        let text = self.or_wrong_type(self.as_text(), reader, "a span of time", SHAPE)?;
        let Some(seconds) = duration::parse(text) else {
            reader.error(
                self.value_at(),
                &self.path,
                format!("`{text}` is not a span of time"),
                "write whole days, hours or minutes, such as `6h`, `90m`, `2d` or `1h30m`",
            );
            return None;
        };
        if limits.contains(&seconds) {
            return Some(seconds);
        }
        let [least, most] = [*limits.start(), *limits.end()].map(duration::show);
        reader.error(
            self.value_at(),
            &self.path,
            format!("`{text}` is out of range"),
            format!("write something from {least} to {most}"),
        );
        None
    }

    /// Notes that the value is not of the wanted type, where it is not. The help shows the shape to write.
    pub(super) fn or_wrong_type<V>(
        &self,
        value: Option<V>,
        reader: &mut Reader<'_>,
        wanted: &str,
        shape: &str,
    ) -> Option<V> {
        if value.is_none() {
            let kind = kind_of(self.value.get_ref());
            reader.error(
                self.value_at(),
                &self.path,
                format!("expected {wanted}, found {kind}"),
                format!("write {shape}"),
            );
        }
        value
    }
}

/// The kind of a value, in plain words.
pub(crate) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// `path.key`, the key between quotes where TOML wants them.
pub(crate) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let key = if bare {
        key.to_owned()
    } else {
        format!("\"{}\"", key.chars().map(escaped).collect::<String>())
    };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}
