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
    let name = match line.split_once('=') {
        Some((name, _)) => name.trim(),
        None => line.split_whitespace().next()?,
    };
    Some(without_quotes(name))
}

/// Whether a line can only go on with what an earlier one began: an element or the end of an array.
pub(super) fn is_continuation(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with([',', ']', '}', '{'])
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
