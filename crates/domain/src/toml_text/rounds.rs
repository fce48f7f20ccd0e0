//! A reader of types ends at the first mistake. So what is wrong is left out, what is missing is filled in, and the rest is
//! read again.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer, Error};

use super::locations::{Location, Locations, ROOT, without_indices};
use super::wording::{error_text, missing_field, unknown_field};
use crate::Diagnostic;
use crate::plan::suggest::closest;
use crate::plan::{Document, join, one_line};

/// How many bytes are read in all: a file may be read again and again, and a large one less often.
const MAX_READ_BYTES: usize = 4 << 20;

/// What stands in for a missing value, one after another until one fits. Most texts of a special form are spans of time.
const FILLERS: [&str; 5] = ["\"1h\"", "1", "true", "[]", "{}"];

/// The mistakes found so far.
pub(super) struct Rounds<'d> {
    file: &'d str,
    document: &'d Document<'d>,
    root: &'d Spanned<DeTable<'d>>,
    pub(super) locations: Locations,
    pub(super) mistakes: Vec<Diagnostic>,
    /// What is wrong, by the byte at which its key begins.
    left_out: BTreeSet<usize>,
    /// What is missing, by the byte at which the key of its table begins.
    missing: BTreeMap<usize, Vec<Missing>>,
    read_bytes: usize,
    /// Whether there may be further mistakes, because the file was read often enough.
    pub(super) is_cut: bool,
}

/// A key that a table lacks, as if it stood behind the end of the text.
struct Missing {
    /// The number of its location.
    number: usize,
    filler: usize,
}

impl<'d> Rounds<'d> {
    pub(super) fn new(
        file: &'d str,
        document: &'d Document<'d>,
        root: &'d Spanned<DeTable<'d>>,
    ) -> Self {
        Self {
            file,
            document,
            root,
            locations: Locations::of(root),
            mistakes: Vec::new(),
            left_out: BTreeSet::new(),
            missing: BTreeMap::new(),
            read_bytes: 0,
            is_cut: false,
        }
    }

    /// Reads as much as can be read, and notes what is wrong. `None`: without that, the rest cannot be read.
    pub(super) fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        let read = loop {
            let error = match self.read_once(|_| true)? {
                Ok(read) => break read,
                Err(error) => error,
            };
            let number = self.culprit::<T>(&error);
            let goes_on = match missing_field(error.message()) {
                _ if self.is_filled_in(number) => self.fill_differently(number),
                Some(field) => self.note_missing(number, field, &error),
                None => {
                    self.note(number, &error);
                    self.leave_out(number)
                }
            };
            if !goes_on {
                return None;
            }
        };
        // What was made up is not part of the file.
        let incomplete: Vec<usize> = std::mem::take(&mut self.missing).into_keys().collect();
        if incomplete.is_empty() {
            return Some(read);
        }
        if incomplete.contains(&self.key_of(ROOT)) {
            return None;
        }
        self.left_out.extend(incomplete);
        self.read_bytes = 0;
        self.read_once(|_| true)?.ok()
    }

    /// Reads the text without what was left out, and without what the filter leaves out of it by the byte at which its key
    /// begins. `None`: the text was read often enough.
    fn read_once<T: DeserializeOwned>(
        &mut self,
        filter: impl Fn(usize) -> bool,
    ) -> Option<Result<T, Error>> {
        if self.read_bytes > MAX_READ_BYTES {
            self.is_cut = true;
            return None;
        }
        self.read_bytes += self.document.clean.len();
        let keeps = |key: usize| !self.left_out.contains(&key) && filter(key);
        let table = self.copy_table(self.root.get_ref(), self.key_of(ROOT), &keeps);
        let table = Spanned::new(self.root.span(), table);
        Some(T::deserialize(Deserializer::from(table)))
    }

    fn copy_table(
        &self,
        table: &DeTable<'d>,
        at: usize,
        keeps: &impl Fn(usize) -> bool,
    ) -> DeTable<'d> {
        let mut copy = DeTable::new();
        for (key, value) in table {
            if let Some(value) = self.copy_value(value, key.span().start, keeps) {
                copy.insert(key.clone(), value);
            }
        }
        for missing in self.missing.get(&at).into_iter().flatten() {
            let location = self.locations.get(missing.number);
            let key = Spanned::new(location.key.clone(), location.name.clone().into());
            if keeps(location.key.start)
                && let Some(value) = FILLERS.get(missing.filler)
                && let Ok(value) = DeValue::parse(value)
            {
                let value = Spanned::new(location.value.clone(), value.into_inner());
                copy.insert(key, value);
            }
        }
        copy
    }

    fn copy_value(
        &self,
        value: &Spanned<DeValue<'d>>,
        key: usize,
        keeps: &impl Fn(usize) -> bool,
    ) -> Option<Spanned<DeValue<'d>>> {
        if !keeps(key) {
            return None;
        }
        let copy = match value.get_ref() {
            DeValue::Table(table) => DeValue::Table(self.copy_table(table, key, keeps)),
            DeValue::Array(items) => {
                let mut copy = DeArray::new();
                let kept = items
                    .iter()
                    .filter_map(|item| self.copy_value(item, item.span().start, keeps));
                kept.for_each(|item| copy.push(item));
                DeValue::Array(copy)
            }
            single => single.clone(),
        };
        Some(Spanned::new(value.span(), copy))
    }

    fn key_of(&self, number: usize) -> usize {
        self.locations.get(number).key.start
    }

    /// The number of the value that is wrong, or of the table that lacks one.
    fn culprit<T: DeserializeOwned>(&mut self, error: &Error) -> usize {
        let root = self.root.span();
        let Some(span) = error.span() else {
            return ROOT;
        };
        let number = match span == root {
            true => ROOT,
            false => self.locations.number_around(span.start),
        };
        // A reader that names a key of a table, or what the table lacks, is exact.
        if span != self.locations.get(number).value || missing_field(error.message()).is_some() {
            return number;
        }
        let within: Vec<usize> = self.locations.within(number).collect();
        let named = unknown_field(error.message()).and_then(|word| self.named(&within, word));
        named
            .or_else(|| self.narrow_down::<T>(within, error.message()))
            .unwrap_or(number)
    }

    fn named(&self, within: &[usize], name: &str) -> Option<usize> {
        let mut within = within.iter().copied();
        within.find(|number| self.locations.get(*number).name == name)
    }

    /// The number of the value in a table that is wrong. The reader of a table whose kind one of its keys names says only
    /// that something in the table is.
    fn narrow_down<T: DeserializeOwned>(
        &mut self,
        mut within: Vec<usize>,
        message: &str,
    ) -> Option<usize> {
        within.retain(|number| !self.left_out.contains(&self.key_of(*number)));
        // What such a reader needs first is no culprit: without it, it does not see the others.
        let mut needed = Vec::new();
        loop {
            let error = self.error_without::<T>(&within)?;
            if error == message {
                return needed.pop();
            }
            let missing = missing_field(&error).and_then(|name| self.named(&within, name));
            let Some(missing) = missing else {
                break;
            };
            within.retain(|number| *number != missing);
            needed.push(missing);
        }
        // It reads them one after another, so the mistake shows as soon as the first wrong one is there.
        let (mut without, mut with) = (0, within.len());
        while with - without > 1 {
            let middle = usize::midpoint(without, with);
            match self.error_without::<T>(&within[middle..])? == message {
                true => with = middle,
                false => without = middle,
            }
        }
        within.get(without).copied()
    }

    /// What is wrong without some values. Empty: nothing; `None`: the text was read often enough.
    fn error_without<T: DeserializeOwned>(&mut self, numbers: &[usize]) -> Option<String> {
        let out: BTreeSet<usize> = numbers.iter().map(|number| self.key_of(*number)).collect();
        let error = self.read_once::<T>(|key| !out.contains(&key))?.err();
        Some(error.map_or_else(String::new, |error| error.message().to_owned()))
    }

    /// Leaves a value out from now on, unless it is everything.
    fn leave_out(&mut self, number: usize) -> bool {
        let key = self.key_of(number);
        number != ROOT && self.left_out.insert(key)
    }

    /// Notes that a table lacks a key, and fills it in.
    fn note_missing(&mut self, table: usize, field: &str, error: &Error) -> bool {
        let filled_in = self.missing.get(&self.key_of(table)).into_iter().flatten();
        let mut names = filled_in.map(|missing| &self.locations.get(missing.number).name);
        if names.any(|name| name == field) {
            return self.leave_out(table);
        }
        if !self.is_reported(table, field) {
            self.note(table, error);
        }
        let behind = self.document.clean.len() + self.locations.count();
        let number = self.locations.push(Location {
            path: one_line(join(&self.locations.get(table).path, field)),
            name: field.to_owned(),
            parent: table,
            key: behind..behind + 1,
            value: behind..behind + 1,
            kind: "",
        });
        let key = self.key_of(table);
        self.missing
            .entry(key)
            .or_default()
            .push(Missing { number, filler: 0 });
        true
    }

    /// Whether a value stands in for a missing one.
    fn is_filled_in(&self, number: usize) -> bool {
        let location = self.locations.get(number);
        number != ROOT && location.key.start >= self.document.clean.len()
    }

    /// Tries the next value in place of a missing one. Where none fits, the table is left out.
    fn fill_differently(&mut self, number: usize) -> bool {
        let table = self.locations.get(number).parent;
        let key = self.key_of(table);
        let mut beside = self.missing.get_mut(&key).into_iter().flatten();
        let missing = beside.find(|missing| missing.number == number);
        match missing.filter(|missing| missing.filler + 1 < FILLERS.len()) {
            Some(missing) => {
                missing.filler += 1;
                true
            }
            None => self.leave_out(table),
        }
    }

    /// Whether a table lacks a key only because of what was reported: its value, a key that is spelled like it, or a
    /// mistake of syntax.
    fn is_reported(&self, table: usize, field: &str) -> bool {
        let mut left_out = self.locations.within(table).filter_map(|number| {
            let location = self.locations.get(number);
            let is_out = self.left_out.contains(&location.key.start);
            is_out.then_some(&location.name)
        });
        if left_out.any(|name| name == field || closest(name, [field]).is_some()) {
            return true;
        }
        // The parser of syntax does not count the elements of an array.
        let path = without_indices(&self.locations.get(table).path);
        let key = join(&path, field);
        let mut places = self.document.places_of(&key).peekable();
        match places.peek() {
            Some(_) => places.any(|offset| self.locations.last_before(offset, &path) == table),
            None => self.document.is_broken(&key),
        }
    }

    fn note(&mut self, number: usize, error: &Error) {
        let location = self.locations.get(number);
        let (message, help) = error_text(error.message(), Some(location.kind), "a table");
        let mut offset = match unknown_field(error.message()) {
            Some(_) => location.key.start,
            None => location.value.start,
        };
        if let Some(span) = error.span()
            && (location.key.contains(&span.start) || location.value.contains(&span.start))
        {
            offset = span.start;
        }
        let (line, column) = self.document.place(offset);
        let mistake = Diagnostic::error(self.file, one_line(message)).help(one_line(help));
        self.mistakes
            .push(mistake.at(line, column).key(&location.path));
    }
}
