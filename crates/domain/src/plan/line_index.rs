//! Where the lines of a file begin, and what a line of TOML is about, without parsing it.

use std::ops::Range;

/// The lines of a text, and the place of an offset in it in logarithmic time.
#[derive(Debug)]
pub(super) struct Lines {
    /// The byte offset at which each line begins.
    starts: Vec<usize>,
    length: usize,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(after_breaks.map(|(at, _)| at + 1));
        Self {
            starts: starts.collect(),
            length: text.len(),
        }
    }

    /// How many lines there are; at least one.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The index of the line that holds an offset, from 0.
    pub(super) fn index(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    /// The bytes of a line with its line break; empty past the end.
    pub(super) fn range(&self, index: usize) -> Range<usize> {
        let start = self.starts.get(index).copied().unwrap_or(self.length);
        start..self.starts.get(index + 1).copied().unwrap_or(self.length)
    }

    /// Line and column (from 1, in characters) of an offset.
    pub(super) fn place(&self, text: &str, offset: usize) -> (u32, u32) {
        let offset = offset.min(text.len());
        let index = self.index(offset);
        let line = &text[self.range(index)];
        let (_, column) = crate::diagnostic::line_and_column(line, offset - self.starts[index]);
        (u32::try_from(index + 1).unwrap_or(u32::MAX), column)
    }
}

/// The table that a line opens: `tracks.quality` for `[tracks.quality]`, `[[tracks.quality]]` or an unfinished
/// `[tracks.quality`. A line that begins an array's element (`["a"]`, `[`) is none.
pub(super) fn header(line: &str) -> Option<String> {
    let inside = line.trim().strip_prefix('[')?;
    let inside = inside.strip_prefix('[').unwrap_or(inside);
    let end = inside.find([']', '#', '=']).unwrap_or(inside.len());
    let name = inside[..end].trim();
    let element = name.starts_with(['"', '\'', '{', '[']) || name.contains(',');
    let empty = name.is_empty() && !inside.starts_with(']');
    (!element && !empty).then(|| without_quotes(name))
}

/// The key that a line sets: `a.b` for `a.b = 1`, and the first word of a line that forgot its `=`.
pub(super) fn key(line: &str) -> Option<String> {
    let line = line.trim();
    if is_continuation(line) || line.is_empty() || line.starts_with(['#', '[']) {
        return None;
    }
    let name = match (colon_key(line), line.split_once('=')) {
        (Some((name, _)), _) => name,
        (None, Some((name, _))) => name.trim(),
        (None, None) => line.split_whitespace().next()?,
    };
    Some(without_quotes(name))
}

/// The key and the value of a line such as `max_active: 2`, which is YAML.
pub(super) fn colon_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim();
    let bare = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    bare.then(|| (key, value.trim()))
}

/// The words for a key that stands twice, from those of the library, with the line of the first one: the library names the
/// place of the second one alone.
pub(crate) fn duplicate(message: &str, text: &str, offset: usize) -> String {
    if !message.contains("duplicate key") {
        return message.to_owned();
    }
    match first_of(text, offset) {
        Some((name, line)) => format!("duplicate key `{name}`, first in line {line}"),
        None => message.to_owned(),
    }
}

/// The key on the line of an offset, and the line before it that sets the same one.
fn first_of(text: &str, offset: usize) -> Option<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let at = text
        .get(..offset)?
        .matches('\n')
        .count()
        .min(lines.len().checked_sub(1)?);
    let line = lines[at];
    // Inside a table on one line the first one stands on that line, too.
    let begin = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let before = text[begin..offset].trim_start();
    if header(line).is_none() && before.contains('=') {
        let name = text[offset..].split(['=', '.', ' ', '\t']).next()?;
        return Some((without_quotes(name), at + 1));
    }
    let scope = (0..=at).rev().find(|index| header(lines[*index]).is_some());
    let table = scope.and_then(|index| header(lines[index]));
    let path = |table: Option<&str>, name: Option<String>| match (table, name) {
        (Some(table), Some(name)) => Some(format!("{table}.{name}")),
        (None, name) => name,
        (Some(table), None) => Some(table.to_owned()),
    };
    let wanted = if header(line).is_some() {
        path(table.as_deref(), None)?
    } else {
        path(table.as_deref(), Some(key(line)?))?
    };
    let mut table = None;
    let mut found = None;
    for (index, line) in lines[..at].iter().enumerate() {
        let full = match header(line) {
            Some(name) => {
                // Another element of an array has keys of its own.
                if line.trim_start().starts_with("[[") && wanted.starts_with(&format!("{name}.")) {
                    found = None;
                }
                table = Some(name);
                table.clone()
            }
            None => key(line).and_then(|name| path(table.as_deref(), Some(name))),
        };
        let is_first = |full: &String| {
            *full == wanted
                || full
                    .strip_prefix(&wanted)
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        if found.is_none() && full.as_ref().is_some_and(is_first) {
            found = Some(index + 1);
        }
    }
    let name = wanted.rsplit('.').next().unwrap_or(&wanted).to_owned();
    found.map(|line| (name, line))
}

/// Whether a line can only go on with what an earlier one began: an element or the end of an array.
pub(super) fn is_continuation(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with([',', ']', '}', '{', ')'])
        // A quoted key sets something; a quoted element does not.
        || (line.starts_with(['"', '\'']) && !line.contains('='))
}

fn without_quotes(name: &str) -> String {
    name.split('.')
        .map(|part| part.trim().trim_matches(['"', '\'']))
        .collect::<Vec<_>>()
        .join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the second place was named.
    #[test]
    fn the_first_of_two_keys_is_found() {
        for (text, at, told) in [
            (
                "a = 1\n\na = 2\n",
                "a = 2",
                "duplicate key `a`, first in line 1",
            ),
            (
                "[t]\na = 1\n[u]\na = 1\n\"a\" = 2\n",
                "\"a\" = 2",
                "duplicate key `a`, first in line 4",
            ),
            (
                "[t]\na = 1\n[u]\n[t]\nb = 1\n",
                "t]\nb",
                "duplicate key `t`, first in line 1",
            ),
            (
                "[t]\nx.y = 1\nx.y = 2\n",
                "y = 2",
                "duplicate key `y`, first in line 2",
            ),
            (
                "[t]\nx = 1\n[t.x]\ny = 2\n",
                "x]",
                "duplicate key `x`, first in line 2",
            ),
            (
                "[[r]]\nn = 1\n[[r]]\nn = 1\nn = 2\n",
                "n = 2",
                "duplicate key `n`, first in line 4",
            ),
            (
                "t = { a = 1, a = 2 }\n",
                "a = 2",
                "duplicate key `a`, first in line 1",
            ),
        ] {
            let offset = text.rfind(at).unwrap();
            assert_eq!(duplicate("duplicate key", text, offset), told, "{text}");
        }
        assert_eq!(duplicate("duplicate key", "", 0), "duplicate key");
        assert_eq!(duplicate("other", "a = 1\na = 2", 6), "other");
    }

    #[test]
    fn places_agree_with_the_slow_way() {
        let text = "a\n\nüb = 1\r\n  é\n";
        let lines = Lines::of(text);
        for offset in 0..=text.len() + 2 {
            assert_eq!(
                lines.place(text, offset),
                crate::diagnostic::line_and_column(text, offset),
                "{offset}"
            );
        }
    }

    #[test]
    fn lines_say_what_they_are_about() {
        for (line, expected) in [
            ("[tracks.q]  # x", Some("tracks.q")),
            ("[[gate.bots]]", Some("gate.bots")),
            ("[tracks.q", Some("tracks.q")),
            (" [ tracks . 'q r' ]", Some("tracks.q r")),
            ("[\"a\", \"b\"],", None),
            ("[tracks.a/b]", Some("tracks.a/b")),
            ("[]", Some("")),
            ("[", None),
            ("a = [1]", None),
        ] {
            assert_eq!(header(line).as_deref(), expected, "{line}");
        }
        for (line, expected) in [
            ("a.b = 1", Some("a.b")),
            ("start \"x\"", Some("start")),
            ("start: \"x=1\"", Some("start")),
            ("\"a b\" = 1", Some("a b")),
            ("\"a\",", None),
            ("]", None),
            ("{ persona = \"x\" },", None),
            ("# a = 1", None),
            ("", None),
        ] {
            assert_eq!(key(line).as_deref(), expected, "{line}");
        }
    }
}
