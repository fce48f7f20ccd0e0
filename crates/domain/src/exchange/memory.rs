//! Creates the memory of a role, and adds to it.

use jiff::Timestamp;

use super::edit::{self, new_node, text_node};
use super::limits::{LINE_LIMIT_CHARS, LIST_LIMIT, RECENT_PROPOSALS_LIMIT};
use super::model::Stream;
use crate::yaml::{Node, Value};

/// The role that a memory belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// An observer of the flat layout.
    Observer(&'a str),
    /// An observer of a workstream: its role and stream.
    StreamObserver(&'a str, &'a str),
    /// An innovator.
    Innovator(&'a str),
}

/// The goal of a new observer.
pub(super) const GOAL: &str =
    "Look at the repository through this role, and keep what proves worth it.";

/// The memory of a new role: valid and almost empty.
#[must_use]
pub fn seed_text(owner: Owner<'_>, now: Timestamp) -> String {
    const FOCUS: &str = "What this role cares for, in its own words after its first session.";
    let empty = || Value::List(Vec::new());
    let map = |entries: Vec<(&str, Value)>| {
        let entry = |(key, value): (&str, Value)| (text_node(key), new_node(value));
        Value::Map(entries.into_iter().map(entry).collect())
    };
    let name = |name: &str| Value::Text(name.to_owned());
    let at = || Value::Text(now.to_string());
    let root = match owner {
        Owner::Observer(role) => map(vec![
            ("schema_version", Value::Integer(2)),
            ("observer", name(role)),
            ("updated_at", at()),
            ("goals", Value::List(vec![text_node(GOAL)])),
            ("rules", empty()),
            ("ignore", empty()),
            ("log", empty()),
        ]),
        Owner::StreamObserver(role, stream) => map(vec![
            ("schema_version", Value::Integer(1)),
            ("observer", name(role)),
            ("workstream", name(stream)),
            ("updated_at", at()),
            (
                "goals",
                map(vec![("short_term", Value::List(vec![text_node(GOAL)]))]),
            ),
            (
                "biases",
                map(vec![
                    ("assumptions", empty()),
                    ("blind_spots", empty()),
                    ("heuristics", empty()),
                ]),
            ),
            ("recent_runs", empty()),
            ("learned_exclusions", empty()),
        ]),
        Owner::Innovator(role) => map(vec![
            ("schema_version", Value::Integer(1)),
            ("persona", name(role)),
            ("focus", name(FOCUS)),
            ("recent_proposals", empty()),
        ]),
    };
    edit::emit_yaml(&new_node(root))
}

/// Adds `lines` to what an observer should leave alone; returns whether anything changed. `lessons` holds all lessons
/// of rejections: if space is short, those that are not in `lines` are removed first, then the observer's own oldest
/// entries.
pub(super) fn leave_alone(root: &mut Node, lines: &[String], lessons: &[String]) -> bool {
    // Version 1 is the one of workstreams.
    let version = root.get("schema_version").and_then(Node::integer);
    let key = match version {
        Some(1) => "learned_exclusions",
        _ => "ignore",
    };
    let before = root.get(key).map(Node::items).unwrap_or_default().to_vec();
    let mut entries = before.clone();
    let among = |entry: &Node, list: &[String]| {
        entry
            .text()
            .is_some_and(|text| list.iter().any(|line| line == text))
    };
    for line in lines {
        if !entries.iter().any(|entry| entry.text() == Some(line)) {
            entries.push(text_node(line.as_str()));
        }
    }
    let mut surplus = entries.len().saturating_sub(LIST_LIMIT);
    for of_lessons in [true, false] {
        entries.retain(|entry| {
            let goes = surplus > 0 && !among(entry, lines) && among(entry, lessons) == of_lessons;
            surplus -= usize::from(goes);
            !goes
        });
    }
    // If there are more lines than fit, the oldest are removed.
    entries.drain(..surplus);
    let same = |(one, other): (&Node, &Node)| one.text() == other.text();
    if entries.len() == before.len() && entries.iter().zip(&before).all(same) {
        return false;
    }
    edit::put_key(root, key, Value::List(entries));
    true
}

/// The lessons of a role's rejections, the newest last.
pub(super) fn role_lessons(stream: &Stream, role: &str) -> Vec<String> {
    let of_role = |id: &str| {
        stream
            .events_of(id)
            .any(|event| event.value.author_role == role)
    };
    let mut all: Vec<_> = stream
        .feedback
        .iter()
        .filter(|feedback| of_role(feedback.file_stem()))
        .map(|feedback| (&feedback.value.date, &feedback.path, &feedback.value))
        .collect();
    all.sort_by_key(|(date, path, _)| (*date, *path));
    let lesson = all
        .into_iter()
        .map(|(_, _, one)| lesson_text(&one.topic, &one.guidance));
    lesson.collect()
}

/// Adds titles in front of an innovator's recent proposals, and keeps the older ones as far as they fit.
pub(super) fn note_proposals(root: &mut Node, titles: &[String], before: &[String]) -> bool {
    let key = "recent_proposals";
    let own = root.get(key).map(Node::items).unwrap_or_default();
    let own: Vec<String> = own
        .iter()
        .filter_map(Node::text)
        .map(str::to_owned)
        .collect();
    let new = titles.iter().filter(|title| !own.contains(title));
    let mut all: Vec<String> = new.cloned().collect();
    for title in own.iter().chain(before) {
        if !all.contains(title) {
            all.push(title.clone());
        }
    }
    all.truncate(RECENT_PROPOSALS_LIMIT);
    if all == own {
        return false;
    }
    let list = all.iter().map(|title| text_node(title.as_str())).collect();
    edit::put_key(root, key, Value::List(list));
    true
}

/// The lesson of a rejection, on one line.
pub(super) fn lesson_text(topic: &str, guidance: &str) -> String {
    let whole = format!("{topic}: {guidance}");
    let words: Vec<&str> = whole.split_whitespace().collect();
    words.join(" ").chars().take(LINE_LIMIT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::super::shapes::{INNOVATOR_PERSPECTIVE, PERSPECTIVE, PERSPECTIVE_V1};
    use super::*;
    use crate::yaml::parse;

    fn now() -> Timestamp {
        "2026-01-05T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn what_a_role_begins_with_is_sound() {
        for (owner, shape) in [
            (Owner::Observer("taxonomy"), &PERSPECTIVE),
            (Owner::StreamObserver("taxonomy", "core"), &PERSPECTIVE_V1),
            (
                Owner::Innovator("leverage_architect"),
                &INNOVATOR_PERSPECTIVE,
            ),
        ] {
            let text = seed_text(owner, now());
            assert_eq!(shape.validate("x.yml", &text), [], "{text}");
        }
    }

    #[test]
    fn lists_grow_at_one_end_and_make_room_at_the_other() {
        let mut root = parse(&seed_text(Owner::Observer("a"), now())).0.unwrap();
        let lines: Vec<String> = (0..LIST_LIMIT + 5).map(|n| n.to_string()).collect();
        assert!(leave_alone(&mut root, &lines, &[]));
        let kept = root.get("ignore").unwrap().items();
        assert_eq!((kept.len(), kept[0].text()), (LIST_LIMIT, Some("5")));
        assert!(!leave_alone(&mut root, &lines[10..11], &lines));
        let mut root = parse(&seed_text(Owner::Innovator("a"), now())).0.unwrap();
        let titles: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        assert!(note_proposals(&mut root, &titles[..3], &titles[3..]));
        let kept = root.get("recent_proposals").unwrap().items();
        assert_eq!(
            (kept.len(), kept[0].text()),
            (RECENT_PROPOSALS_LIMIT, Some("0"))
        );
        assert!(!note_proposals(&mut root, &titles[..3], &[]));
        assert_eq!(lesson_text("a\nb", " c "), "a b: c");
    }
}
