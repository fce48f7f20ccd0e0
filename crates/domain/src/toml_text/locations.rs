//! Where the values of a text stand.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::plan::{join, kind_of, one_line};

/// The number of the whole text as a table.
pub(super) const ROOT: usize = 0;

/// All values of a text, what holds them before them.
#[derive(Debug, Default)]
pub(super) struct Locations(Vec<Location>);

/// A value, or an element of an array, and where it and its key stand, in bytes.
#[derive(Debug, Default)]
pub(super) struct Location {
    pub(super) path: String,
    /// The last part of the path.
    pub(super) name: String,
    /// The number of the table or array that it is in.
    pub(super) parent: usize,
    /// No two keys begin at the same byte; the root has none.
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
    /// The kind of value, in plain words.
    pub(super) kind: &'static str,
}

impl Locations {
    /// Those of a text without mistakes of syntax.
    pub(super) fn of(root: &Spanned<DeTable<'_>>) -> Self {
        let mut all = Self(vec![Location {
            key: usize::MAX..usize::MAX,
            value: root.span(),
            kind: "a table",
            ..Location::default()
        }]);
        all.list_table(root.get_ref(), ROOT);
        all
    }

    fn list_table(&mut self, table: &DeTable<'_>, parent: usize) {
        for (key, value) in table {
            let path = join(&self.0[parent].path, key.get_ref());
            self.list_value(value, path, key.get_ref(), parent, key.span());
        }
    }

    fn list_value(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        path: String,
        name: &str,
        parent: usize,
        key: Range<usize>,
    ) {
        let number = self.push(Location {
            path: one_line(path),
            name: name.to_owned(),
            parent,
            key,
            value: value.span(),
            kind: kind_of(value.get_ref()),
        });
        match value.get_ref() {
            DeValue::Table(table) => self.list_table(table, number),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{}[{index}]", self.0[number].path);
                    self.list_value(item, path, "", number, item.span());
                }
            }
            _ => {}
        }
    }

    /// Adds a location, and returns its number.
    pub(super) fn push(&mut self, location: Location) -> usize {
        self.0.push(location);
        self.0.len() - 1
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, number: usize) -> &Location {
        &self.0[number]
    }

    pub(super) fn with_path(&self, path: &str) -> Option<&Location> {
        self.0.iter().find(|location| location.path == path)
    }

    /// The numbers of the values in a table.
    pub(super) fn within(&self, table: usize) -> impl Iterator<Item = usize> {
        let all = self.0.iter().enumerate().skip(1);
        all.filter(move |(_, location)| location.parent == table)
            .map(|(number, _)| number)
    }

    /// The number of the location whose key or value is the narrowest one around a byte offset.
    pub(super) fn number_around(&self, offset: usize) -> usize {
        let spans = self.0.iter().enumerate().rev();
        let spans = spans.flat_map(|(number, at)| [(number, &at.value), (number, &at.key)]);
        let around = spans.filter(|(_, span)| span.contains(&offset));
        let found = around.min_by_key(|(_, span)| span.len());
        found.map_or(ROOT, |(number, _)| number)
    }

    /// The number of the last value that begins before a byte offset and has a path, which is without indices.
    pub(super) fn last_before(&self, offset: usize, path: &str) -> usize {
        let all = self.0.iter().enumerate();
        let before =
            all.filter(|(_, at)| at.value.start <= offset && without_indices(&at.path) == path);
        let last = before.max_by_key(|(_, at)| at.value.start);
        last.map_or(ROOT, |(number, _)| number)
    }
}

/// The path of a value as the lines of a file say it: `rules.fault` for `rules[2].fault`.
pub(super) fn without_indices(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| match part.split_once(']') {
        Some((_, rest)) => path + rest,
        None => path + "[" + part,
    })
}
