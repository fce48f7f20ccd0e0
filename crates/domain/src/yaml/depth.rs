//! How deep a text nests, looked at before a parser sees it.
//!
//! A parser that streams stops at a limit of its own. `serde_yaml` loads the whole text first, and for each token goes
//! through every list and map that is open: 60 KB of `[` took five seconds. This look takes one pass.

use saphyr_parser::{Event, Parser};

/// How deep lists and maps may be nested in a text that is loaded as a whole. No file of people is anywhere near.
pub const NESTING_LIMIT: usize = 64;

/// Line and column, from 1, at which a text of YAML nests deeper than [`NESTING_LIMIT`].
///
/// What the streaming parser cannot read is counted by its signs alone: `serde_yaml` may read on where that one stops.
#[must_use]
pub fn too_deep(text: &str) -> Option<(u32, u32)> {
    let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut open: usize = 0;
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else {
            return too_many_signs(text);
        };
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => open += 1,
            Event::SequenceEnd | Event::MappingEnd => open = open.saturating_sub(1),
            _ => {}
        }
        if open > NESTING_LIMIT {
            return Some((place(span.start.line()), place(span.start.col() + 1)));
        }
    }
    None
}

/// Where a text has more open brackets, or more signs of items in a line, than may be nested. Brackets in quotes and
/// comments count as well.
fn too_many_signs(text: &str) -> Option<(u32, u32)> {
    let mut open: usize = 0;
    for (number, line) in (1..).zip(text.lines()) {
        // `- - - a` begins a list in each list.
        let words = line.split_ascii_whitespace();
        let begun = words.take_while(|word| matches!(*word, "-" | "?")).count();
        if begun > NESTING_LIMIT {
            return Some((number, 1));
        }
        for (column, c) in (1..).zip(line.chars()) {
            match c {
                '[' | '{' => open += 1,
                ']' | '}' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > NESTING_LIMIT {
                return Some((number, column));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_where_it_gets_too_deep() {
        let at_limit = "[".repeat(NESTING_LIMIT);
        let items = "- ".repeat(NESTING_LIMIT);
        for (text, place) in [
            (at_limit.clone(), None),
            (format!("a: {at_limit}{{"), Some((1, 67))),
            (format!("a: 1\nb: {}", "{a: ".repeat(100)), Some((2, 256))),
            ("[]".repeat(1_000), None),
            (format!("{items}a"), None),
            (format!("a:\n{items}- a"), Some((2, 127))),
            (format!("{items}? a"), Some((1, 129))),
            // What stands in comments and quotes closes nothing.
            (
                format!("{at_limit} #{}\n{at_limit}", "]".repeat(64)),
                Some((2, 1)),
            ),
            ("[\"]\",".repeat(100), Some((1, 321))),
            ("-".repeat(1_000), None),
        ] {
            assert_eq!(too_deep(&text), place, "{text}");
        }
    }
}
