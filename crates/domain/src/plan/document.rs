//! A TOML text with everything that can still be read of it, however broken it is.
//!
//! A parser that meets a mistake drops what follows, or takes it for something else. So the statement that holds the
//! mistake is blanked out (offsets stay) and the rest is read again, until nothing is wrong any more. What was
//! blanked is remembered by key path: a track or schedule that lost a line must not run without it.

mod wording;

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Diagnostic;

use super::line_index::{Lines, duplicate, header, is_continuation, key};
use super::one_line::one_line;
use wording::value_at;

/// Of how many mistakes the first of two equal keys is looked up.
const MAX_LOOKED_UP: usize = 20;

/// How often the text is read again without what was wrong. What then remains wrong is given up.
const MAX_ROUNDS: usize = 64;

/// A text without its broken statements.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    /// As written.
    pub(super) text: &'t str,
    pub(super) lines: Lines,
    /// The same length, readable throughout.
    pub(crate) clean: String,
    /// The key paths of what was blanked.
    broken: BTreeSet<String>,
    /// The key paths of values that lost something in their middle and still look whole.
    mangled: BTreeSet<String>,
    /// Nothing of the text is left.
    pub(crate) given_up: bool,
    /// What was wrong, in the order in which it was found.
    pub(super) mistakes: Vec<Mistake>,
    /// For each line, the lines whose table and key it belongs to.
    homes: Vec<Home>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Home {
    table: Option<usize>,
    key: Option<usize>,
}

/// A mistake of syntax.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) offset: usize,
    pub(super) key: String,
    pub(super) message: String,
    pub(super) help: String,
}

impl<'t> Document<'t> {
    /// Reads as much as can be read.
    pub(crate) fn of(text: &'t str) -> Self {
        let lines = Lines::of(text);
        let mut document = Self {
            text,
            homes: homes(text, &lines),
            lines,
            clean: text.to_owned(),
            broken: BTreeSet::new(),
            mangled: BTreeSet::new(),
            given_up: false,
            mistakes: Vec::new(),
        };
        document.blank_conflicts();
        for _ in 0..MAX_ROUNDS {
            if !document.blank_mistakes() {
                return document;
            }
        }
        let offset = document.mistakes.last().map_or(0, |mistake| mistake.offset);
        document.mistakes.push(Mistake {
            offset,
            key: String::new(),
            message: "there are too many mistakes to read the rest".to_owned(),
            help: "fix the ones above first".to_owned(),
        });
        document.clean = blanks(text);
        document.given_up = true;
        document
    }

    /// What was wrong, as mistakes of a file.
    pub(crate) fn diagnostics(&self, file: &str) -> Vec<Diagnostic> {
        let each = self.mistakes.iter().map(|mistake| {
            let (line, column) = self.place(mistake.offset);
            Diagnostic::error(file, one_line(mistake.message.clone()))
                .help(one_line(mistake.help.clone()))
                .at(line, column)
                .key(one_line(mistake.key.clone()))
        });
        each.collect()
    }

    /// Line and column (from 1, in characters) of a byte offset.
    pub(crate) fn place(&self, offset: usize) -> (u32, u32) {
        self.lines.place(self.text, offset)
    }

    /// The byte offsets of what was wrong at or below a key path.
    pub(crate) fn places_of(&self, path: &str) -> impl Iterator<Item = usize> {
        let at_or_below = move |mistake: &&Mistake| {
            let below = mistake.key.strip_prefix(path);
            below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
        };
        let found = self.mistakes.iter().filter(at_or_below);
        found.map(|mistake| mistake.offset)
    }

    /// Whether something at or below a key path was blanked.
    pub(crate) fn is_broken(&self, path: &str) -> bool {
        self.given_up
            || self.broken.contains(path)
            || self
                .broken
                .range(format!("{path}.")..)
                .next()
                .is_some_and(|broken| broken.starts_with(&format!("{path}.")))
    }

    /// Whether there is a mistake of syntax outside these tables.
    pub(super) fn is_broken_outside(&self, tables: &[&str]) -> bool {
        self.mistakes.iter().any(|mistake| {
            let first = mistake.key.split(['.', '[']).next().unwrap_or_default();
            !tables.contains(&first)
        })
    }

    /// Whether the value at a key path is not the one that the file gives.
    pub(super) fn is_mangled(&self, path: &str) -> bool {
        self.mangled.contains(path)
    }

    /// What git leaves behind when a merge stops, each conflict as a whole.
    fn blank_conflicts(&mut self) {
        let mut open: Option<usize> = None;
        for index in 0..self.lines.count() {
            let line = &self.text[self.lines.range(index)];
            if line.starts_with("<<<<<<< ") && open.is_none() {
                open = Some(index);
            } else if line.starts_with(">>>>>>> ")
                && let Some(first) = open.take()
            {
                self.blank_conflict(first, index);
            }
        }
        if let Some(first) = open {
            self.blank_conflict(first, self.lines.count() - 1);
        }
    }

    fn blank_conflict(&mut self, first: usize, last: usize) {
        // What stands between the markers, and what the next line goes on with.
        let mut told = Home::default();
        let mut key = self.path_of(first);
        for index in first..self.lines.count().min(last + 2) {
            let line = &self.text[self.lines.range(index)];
            let counts = if index > last {
                is_continuation(line)
            } else {
                says_something(line)
            };
            let home = self.homes[index];
            if counts && home != told {
                told = home;
                let path = self.path_of(index);
                // In several tables it concerns the file as a whole.
                if path.split('.').next() != key.split('.').next() {
                    key.clear();
                }
                if home.key.is_some() {
                    self.mangled.insert(path.clone());
                }
                self.mark(path);
            }
        }
        self.mistakes.push(Mistake {
            offset: self.lines.range(first).start,
            key,
            message: "a merge conflict was never resolved here".to_owned(),
            help:
                "keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
                    .to_owned(),
        });
        let opens_table = (first..=last).any(|index| self.header_at(index).is_some());
        let end = if opens_table {
            self.before_next_header(last)
        } else {
            last
        };
        self.blank(first..=end);
    }

    /// Blanks what the parser stumbles over. Says whether there was anything.
    fn blank_mistakes(&mut self) -> bool {
        let clean = std::mem::take(&mut self.clean);
        let (table, errors) = DeTable::parse_recoverable(&clean);
        let mut found: Vec<(usize, String)> = errors
            .iter()
            .map(|error| {
                let offset = error.span().map_or(0, |span| span.start);
                // What is missing at the end is missing after the last word.
                let offset = if offset >= clean.len() {
                    clean.trim_end().len()
                } else {
                    offset
                };
                (offset, error.message().to_owned())
            })
            .collect();
        let statements = statements(&table);
        self.clean = clean.clone();
        found.sort();
        let mut done = 0;
        for (offset, message) in &found {
            if *offset < done {
                continue;
            }
            let before = statements.partition_point(|statement| statement.start <= *offset);
            let inside = before.checked_sub(1).map(|index| statements[index].clone());
            let inside = inside.filter(|statement| *offset <= statement.end);
            done = self.blank_statement(*offset, inside, message);
        }
        !found.is_empty()
    }

    /// Blanks the statement around a mistake and answers where it ends.
    fn blank_statement(
        &mut self,
        offset: usize,
        inside: Option<Range<usize>>,
        message: &str,
    ) -> usize {
        // A file of nothing but duplicates must not be searched for each of them.
        let looked_up = if self.mistakes.len() < MAX_LOOKED_UP {
            duplicate(message, self.text, offset)
        } else {
            message.to_owned()
        };
        let message = looked_up.as_str();
        let first = self.first_line(offset, inside.as_ref());
        let (last, swallowed) = self.last_line(first, offset, inside.as_ref(), message);
        // At the end of a file the parser says so itself, and points behind all that it took for a part of it.
        let unclosed = inside.is_some() && message.starts_with("unclosed ");
        let (begins, ends) = inside.map_or((offset, offset), |statement| {
            (statement.start, statement.end)
        });
        let path = self.path_of(first);
        let up_to = self.lines.index(offset).clamp(first, last);
        let written = self.lines.range(first).start..self.lines.range(up_to).end;
        let wording = wording::slip(self.text, written.clone()).unwrap_or_else(|| {
            let line = &self.text[self.lines.range(first)];
            match swallowed || unclosed {
                true => wording::never_closed(self.text, begins),
                false => wording::of_message(self.text, offset, message, line),
            }
        });
        self.mistakes.push(Mistake {
            offset: wording.offset,
            key: path.clone(),
            message: wording.message,
            help: wording.help,
        });
        self.mark(path);
        self.blank(first..=last);
        if swallowed {
            // Everything after it was read as a part of it, so what the parser says of the rest means nothing.
            return self.text.len() + 1;
        }
        // What else was wrong inside follows from the first mistake, or shows itself in the next round.
        self.lines.range(last).end.max(ends + 1).max(offset + 1)
    }

    /// The line on which the statement around a mistake begins.
    fn first_line(&self, offset: usize, inside: Option<&Range<usize>>) -> usize {
        let begins = inside.map_or(offset, |statement| statement.start.min(offset));
        let first = self.lines.index(begins);
        if inside.is_none() && is_continuation(&self.text[self.lines.range(first)]) {
            return self.homes[first].key.unwrap_or(first);
        }
        first
    }

    /// The line on which it ends, and whether it swallowed what follows because it is never closed.
    fn last_line(
        &self,
        first: usize,
        offset: usize,
        inside: Option<&Range<usize>>,
        message: &str,
    ) -> (usize, bool) {
        let at = self.lines.index(offset);
        let mut last = at.max(first);
        let mut swallowed = false;
        if let Some(statement) = inside {
            let end = self
                .lines
                .index(statement.end.max(offset).saturating_sub(1))
                .max(last);
            // What is never closed swallows whole tables; they are set free again.
            let table = (first + 1..=end).find(|index| self.header_at(*index).is_some());
            swallowed = table.is_some();
            last = table.map_or(end, |index| index - 1).max(first);
            if at > first && self.is_assignment(at) && self.stops_at_key(offset, message) {
                // Where the value is closed further down, it only lacks a comma. Otherwise the key is set free, too.
                let closed = self.closing_line(first, at);
                swallowed = closed.is_none();
                last = closed.unwrap_or(at - 1);
            }
        }
        if self.header_at(first).is_some() {
            return (self.before_next_header(first), swallowed);
        }
        (self.with_continuations(last), swallowed)
    }

    /// Whether the parser met a line's key where it wanted the next element or the end of a value.
    fn stops_at_key(&self, offset: usize, message: &str) -> bool {
        let line = self.lines.range(self.lines.index(offset)).start;
        message.contains("missing comma")
            || (message.contains("must be quoted") && self.text[line..offset].trim().is_empty())
    }

    /// The line, from one in the middle of a list or table on, that closes it.
    fn closing_line(&self, first: usize, middle: usize) -> Option<usize> {
        let begun = &self.text[value_at(self.text, self.lines.range(first).start)..];
        let (open, close) = match begun.chars().next() {
            Some('{') => ('{', '}'),
            _ => ('[', ']'),
        };
        let mut closers = 0_usize;
        let mut openers = 0_usize;
        (middle..=self.before_next_header(middle)).find(|index| {
            let line = &self.text[self.lines.range(*index)];
            closers += line.matches(close).count();
            openers += line.matches(open).count();
            closers > openers
        })
    }

    fn mark(&mut self, path: String) {
        if !path.is_empty() {
            self.broken.insert(path);
        }
    }

    /// The key path that a line is about.
    fn path_of(&self, index: usize) -> String {
        let home = self.homes[index.min(self.homes.len() - 1)];
        let line = |index: usize| &self.text[self.lines.range(index)];
        let table = home.table.and_then(|index| header(line(index)));
        let key = home.key.and_then(|index| key(line(index)));
        table.into_iter().chain(key).collect::<Vec<_>>().join(".")
    }

    /// Whether a line gives a key a value, and is no part of a value.
    fn is_assignment(&self, index: usize) -> bool {
        let line = self.text[self.lines.range(index)].trim_start();
        line.starts_with(|c: char| c.is_ascii_alphanumeric()) && line.contains('=')
    }

    fn header_at(&self, index: usize) -> Option<String> {
        header(&self.text[self.lines.range(index)])
    }

    /// The last line before the next table.
    fn before_next_header(&self, index: usize) -> usize {
        (index + 1..self.lines.count())
            .find(|next| self.header_at(*next).is_some())
            .unwrap_or(self.lines.count())
            - 1
    }

    /// The last line that goes on with what a broken one began.
    fn with_continuations(&self, index: usize) -> usize {
        let mut last = index;
        for next in index + 1..self.lines.count() {
            let line = self.text[self.lines.range(next)].trim();
            if is_continuation(line) && self.header_at(next).is_none() {
                last = next;
            } else if !line.is_empty() && !line.starts_with('#') {
                break;
            }
        }
        last
    }

    fn blank(&mut self, lines: std::ops::RangeInclusive<usize>) {
        let range = self.lines.range(*lines.start()).start..self.lines.range(*lines.end()).end;
        let blanked = blanks(&self.clean[range.clone()]);
        self.clean.replace_range(range, &blanked);
    }
}

/// From the key to the end of the value, for every value that is not a table with a header of its own.
fn statements(table: &Spanned<DeTable<'_>>) -> Vec<Range<usize>> {
    fn collect(table: &DeTable<'_>, into: &mut Vec<Range<usize>>) {
        for (key, value) in table {
            match value.get_ref() {
                // Only what stands on lines of its own; the tables of an inline table belong to its statement.
                DeValue::Table(inner) if value.span().start <= key.span().start => {
                    collect(inner, into);
                }
                _ => into.push(key.span().start..value.span().end.max(key.span().end)),
            }
        }
    }
    let mut ranges = Vec::new();
    collect(table.get_ref(), &mut ranges);
    ranges.sort_by_key(|range| range.start);
    ranges
}

fn homes(text: &str, lines: &Lines) -> Vec<Home> {
    let mut home = Home::default();
    let about = |index| {
        let line = &text[lines.range(index)];
        if header(line).is_some() {
            home = Home {
                table: Some(index),
                key: None,
            };
        } else if !is_marker(line) && key(line).is_some() {
            home.key = Some(index);
        }
        home
    };
    (0..lines.count()).map(about).collect()
}

/// Spaces of the same length, line breaks kept.
fn blanks(text: &str) -> String {
    text.bytes()
        .map(|b| if b == b'\n' { '\n' } else { ' ' })
        .collect()
}

fn says_something(line: &str) -> bool {
    !is_marker(line) && !line.trim_start().starts_with('#') && !line.trim().is_empty()
}

fn is_marker(line: &str) -> bool {
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
        .iter()
        .any(|marker| line.starts_with(marker))
}

#[cfg(test)]
mod tests;
