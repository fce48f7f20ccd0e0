//! Renders a work item for the people who approve it. The session gets the same text, so everything that could hide a
//! part of it is removed from both, and the rest is literal.

use super::artifact::{Filed, WorkItem};
use super::limits::{SHOWN_FINDINGS_CHARS, SHOWN_LIMIT_CHARS, SHOWN_LINE_CHARS};
use super::model::Stream;
use crate::diagnostic::Diagnostic;
use crate::prompt::{clean_line, clean_text, without_secrets};
use crate::yaml::{Node, Value};

/// Keys that say nothing about the work, and the title, which has its own place.
const OWN: [&str; 4] = ["schema_version", "id", "title", "source_events"];
/// The replacement of a tab, which a page may show as up to eight columns.
const TAB: &str = "    ";
/// How many empty lines are kept in a row.
const EMPTY_LINES: usize = 2;
/// The shortest fence in Markdown.
const FENCE_CHARS: usize = 3;

/// Everything that a work item says, why it was returned, and the findings that it covers, as far as they fit.
/// Everything that agents wrote is literal text in fences. `stream`: the item's stream.
///
/// # Errors
///
/// It is longer than [`SHOWN_LIMIT_CHARS`]: people cannot approve what an issue cannot show.
pub fn issue_text(stream: &Stream, item: &Filed<WorkItem>) -> Result<String, Diagnostic> {
    let mut sections = vec![section_text(
        "title",
        &[without_secrets(&clean_line(&item.value.title))],
    )];
    if let Value::Map(entries) = &item.node.value {
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            let lines = outline_lines(value);
            if OWN.contains(&name) || lines.is_empty() {
                continue;
            }
            let is_word = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            sections.push(match is_word && !name.is_empty() {
                true => section_text(&name.replace('_', " "), &lines),
                false => section_text("further", &outline_of_entry(key, value)),
            });
        }
    }
    let count = sections.join("\n\n").chars().count();
    if count > SHOWN_LIMIT_CHARS {
        let message = format!(
            "it has {count} characters as an issue, more than {SHOWN_LIMIT_CHARS}: it is not shown, because \
             people cannot approve what they cannot read"
        );
        let one = Diagnostic::warning(&item.path, message);
        return Err(one.help("say it shorter, or make several work items of it"));
    }
    sections.extend(finding_lines(
        stream,
        item,
        SHOWN_FINDINGS_CHARS.min(SHOWN_LIMIT_CHARS - count),
    ));
    Ok(sections.join("\n\n"))
}

/// The events that an item covers. Those that do not fit are counted, and neither people nor the session get them.
fn finding_lines(stream: &Stream, item: &Filed<WorkItem>, mut room: usize) -> Vec<String> {
    let (mut sections, mut left_out) = (Vec::new(), 0);
    for id in &item.value.source_events {
        for event in stream.events_of(id) {
            let one = section_text(
                &format!("finding {}", id_text(id)),
                &outline_lines(&event.node),
            );
            match room.checked_sub(one.chars().count() + 2) {
                Some(left) => {
                    room = left;
                    sections.push(one);
                }
                None => left_out += 1,
            }
        }
    }
    if left_out > 0 {
        sections.push(format!(
            "Findings for which there is no room here, and which its session is not given: {left_out}."
        ));
    }
    sections
}

/// An unchecked id, reduced to safe characters for a heading.
fn id_text(id: &str) -> String {
    id.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Untrusted lines below a heading of ours. They can neither end the fence nor leave the visible area.
fn section_text(heading: &str, lines: &[String]) -> String {
    let text = lines
        .iter()
        .flat_map(|line| break_line(line))
        .collect::<Vec<_>>()
        .join("\n");
    let mut longest = 0;
    for run in text.split(|c| c != '`') {
        longest = longest.max(run.len());
    }
    let fence = "`".repeat(FENCE_CHARS.max(longest + 1));
    format!("### {heading}\n\n{fence}text\n{text}\n{fence}")
}

/// A line in pieces that fit on the page without scrolling. No character is lost.
fn break_line(line: &str) -> Vec<String> {
    let mut rest: Vec<char> = line.chars().collect();
    let mut pieces = Vec::new();
    while let Some(most) = break_position(&rest) {
        let space = rest[..most].iter().rposition(|c| *c == ' ');
        let end = space.map_or(most, |at| at + 1);
        pieces.push(rest.drain(..end).collect());
    }
    pieces.push(rest.into_iter().collect());
    pieces
}

/// How many characters fit in a line, if not all do. Characters beyond ASCII may be twice as wide.
fn break_position(line: &[char]) -> Option<usize> {
    let mut columns = 0;
    line.iter().position(|c| {
        columns += if c.is_ascii() { 1 } else { 2 };
        columns > SHOWN_LINE_CHARS
    })
}

/// Lines without what would push text out of sight: tabs and many empty lines.
fn in_sight(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.replace('\t', TAB);
        let empty = |line: &String| line.trim().is_empty();
        if empty(&line)
            && lines
                .iter()
                .rev()
                .take(EMPTY_LINES)
                .filter(|one| empty(one))
                .count()
                == EMPTY_LINES
        {
            continue;
        }
        lines.push(line);
    }
    lines
}

/// A value as lines, with maps and lists shown by indentation.
fn outline_lines(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Null => Vec::new(),
        Value::Text(text) => {
            let text = without_secrets(&clean_text(text));
            let text = text.trim_matches('\n');
            if text.trim().is_empty() {
                return Vec::new();
            }
            in_sight(text)
        }
        Value::List(items) => {
            let mut lines = Vec::new();
            for item in items {
                for (index, line) in outline_lines(item).into_iter().enumerate() {
                    lines.push(format!("{}{line}", if index == 0 { "- " } else { "  " }));
                }
            }
            lines
        }
        Value::Map(entries) => {
            let entries = entries.iter();
            entries
                .flat_map(|(key, value)| outline_of_entry(key, value))
                .collect()
        }
        _ => vec![node.json().to_string()],
    }
}

fn outline_of_entry(key: &Node, value: &Node) -> Vec<String> {
    let key = clean_line(key.text().unwrap_or_default());
    let inner = outline_lines(value);
    let is_nested = matches!(value.value, Value::List(_) | Value::Map(_));
    match inner.as_slice() {
        [] => Vec::new(),
        [only] if !is_nested => vec![format!("{key}: {only}")],
        _ => {
            let mut lines = vec![format!("{key}:")];
            lines.extend(inner.into_iter().map(|line| format!("  {line}")));
            lines
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_pushed_out_of_sight() {
        let far = format!("{}do as I say", "\t".repeat(25));
        for piece in break_line(&in_sight(&far)[0]) {
            assert!(piece.len() <= SHOWN_LINE_CHARS, "{piece:?}");
        }
        let wide = format!("{}do as I say", "\u{3000}".repeat(90));
        assert_eq!(break_line(&wide)[0].chars().count(), SHOWN_LINE_CHARS / 2);
        let deep = format!("a{}b", "\n \n".repeat(500));
        assert_eq!(in_sight(&deep).len(), 2 + EMPTY_LINES);
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        let lines = ["a", "````", "[x]: hidden", "# b"].map(str::to_owned);
        let text = section_text("problem", &lines);
        assert_eq!(
            text,
            "### problem\n\n`````text\na\n````\n[x]: hidden\n# b\n`````"
        );
    }

    #[test]
    fn a_long_line_is_broken_and_whole() {
        let words = "word ".repeat(60);
        for line in [
            words,
            "x".repeat(300),
            " ".repeat(300) + "evil",
            String::new(),
        ] {
            let pieces = break_line(&line);
            assert!(
                pieces
                    .iter()
                    .all(|one| one.chars().count() <= SHOWN_LINE_CHARS)
            );
            assert_eq!(pieces.concat(), line);
        }
        let words = break_line(&"word ".repeat(60));
        assert_eq!(words[0], "word ".repeat(20), "a line ends with its space");
    }

    #[test]
    fn one_value_stands_beside_its_key_and_what_holds_others_below() {
        let (root, mistakes) =
            crate::yaml::parse("a: x\nb: [y]\nc: {d: z}\ne: \"\"\nf: |\n  1\n  2\n");
        assert_eq!(mistakes, []);
        let lines = outline_lines(&root.unwrap());
        let expected = ["a: x", "b:", "  - y", "c:", "  d: z", "f:", "  1", "  2"];
        assert_eq!(lines, expected);
    }
}
