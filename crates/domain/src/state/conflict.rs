//! Merge-conflict markers: where they are, and what each side says.
//!
//! Agents have committed state files with them, also with markers of several merges inside each other, and not all of
//! those nest properly. So every side of every level is tried; what loads counts.

use std::collections::BTreeSet;

/// How many levels of markers are taken apart; both sides of each make 2^6 readings. Deeper ones stay with "ours".
pub(super) const MAX_LEVELS: usize = 6;
/// A marker is this many equal characters at the start of a line.
const MARKER_LENGTH: usize = 7;

/// What a line of a conflict marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkerKind {
    Begin,
    Ancestor,
    Middle,
    End,
}

/// The text as one choice of sides reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Resolution {
    /// The sides from the outermost level inwards, for people: `ours`, `theirs/ours`.
    pub(super) sides: String,
    /// The text without markers.
    pub(super) text: String,
}

/// The lines, from 1, in which markers stand. Never empty lines of a JSON file: no JSON line begins like a marker.
pub(super) fn marker_lines(text: &str) -> Vec<usize> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| parse_marker(line).is_some())
        .map(|(index, _)| index + 1)
        .collect()
}

/// Every reading of the text by whole sides, "ours" everywhere first; equal ones once.
pub(super) fn resolutions(text: &str) -> Vec<Resolution> {
    let levels = nesting_levels(text).min(MAX_LEVELS);
    let mut seen = BTreeSet::new();
    let mut readings = Vec::new();
    for choice in 0..1_u32 << levels {
        let theirs = |level: usize| level < levels && choice >> level & 1 == 1;
        let read = resolve_sides(text, theirs);
        if seen.insert(read.clone()) {
            let sides: Vec<&str> = (0..levels)
                .map(|level| if theirs(level) { "theirs" } else { "ours" })
                .collect();
            readings.push(Resolution {
                sides: sides.join("/"),
                text: read,
            });
        }
    }
    readings
}

fn parse_marker(line: &str) -> Option<MarkerKind> {
    let bytes = line.as_bytes();
    let first = *bytes.first()?;
    let run = bytes.iter().take_while(|byte| **byte == first).count();
    let ends = matches!(bytes.get(run), None | Some(b' ' | b'\t' | b'\r'));
    if run != MARKER_LENGTH || !ends {
        return None;
    }
    match first {
        b'<' => Some(MarkerKind::Begin),
        b'|' => Some(MarkerKind::Ancestor),
        b'=' => Some(MarkerKind::Middle),
        b'>' => Some(MarkerKind::End),
        _ => None,
    }
}

fn nesting_levels(text: &str) -> usize {
    let mut open = 0_usize;
    let mut deepest = 0;
    for line in text.lines() {
        match parse_marker(line) {
            Some(MarkerKind::Begin) => {
                open += 1;
                deepest = deepest.max(open);
            }
            Some(MarkerKind::End) => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Which part of a conflict a line stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Ours,
    Ancestor,
    Theirs,
}

fn resolve_sides(text: &str, theirs: impl Fn(usize) -> bool) -> String {
    let mut open: Vec<Part> = Vec::new();
    let mut read = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match parse_marker(line.trim_end_matches(['\n', '\r'])) {
            Some(MarkerKind::Begin) => open.push(Part::Ours),
            Some(MarkerKind::Ancestor) => set_part(&mut open, Part::Ancestor),
            Some(MarkerKind::Middle) => set_part(&mut open, Part::Theirs),
            Some(MarkerKind::End) => {
                open.pop();
            }
            None => {
                let taken = open.iter().enumerate().all(|(level, part)| match part {
                    Part::Ours => !theirs(level),
                    Part::Ancestor => false,
                    Part::Theirs => theirs(level),
                });
                if taken {
                    read.push_str(line);
                }
            }
        }
    }
    read
}

/// Goes on to another part of the innermost conflict; a stray marker changes nothing.
fn set_part(open: &mut [Part], part: Part) {
    if let Some(innermost) = open.last_mut() {
        *innermost = part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_read() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> theirs\nd\n";
        let texts: Vec<_> = resolutions(text).into_iter().map(|r| r.text).collect();
        assert_eq!(texts, ["a\nb\nd\n", "a\nc\nd\n"]);
        assert_eq!(marker_lines(text), [2, 4, 6, 8]);
    }

    #[test]
    fn inner_conflicts_are_taken_apart() {
        let text = "<<<<<<< ours\na\n=======\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> t\n>>>>>>> t\n";
        let said: Vec<_> = resolutions(text)
            .into_iter()
            .map(|r| (r.sides, r.text))
            .collect();
        assert_eq!(
            said,
            [
                ("ours/ours".to_owned(), "a\n".to_owned()),
                ("theirs/ours".to_owned(), "b\n".to_owned()),
                ("theirs/theirs".to_owned(), "c\n".to_owned()),
            ]
        );
    }

    #[test]
    fn only_seven_characters_are_a_marker() {
        for line in [
            "<<<<<<",
            "<<<<<<<<",
            "<<<<<<<x",
            "      =======",
            "\"=======\"",
            "",
        ] {
            assert_eq!(parse_marker(line), None, "{line}");
        }
        assert_eq!(parse_marker("=======\r"), Some(MarkerKind::Middle));
    }

    #[test]
    fn strays_and_towers_end() {
        let tower = "<<<<<<< x\n".repeat(500);
        assert!(resolutions(&tower).len() <= 1 << MAX_LEVELS);
        assert_eq!(resolutions(">>>>>>> t\n=======\nx\n")[0].text, "x\n");
    }
}
