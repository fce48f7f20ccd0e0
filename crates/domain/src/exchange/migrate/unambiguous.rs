//! Fixes values that other releases omit or write differently, if the fix is unambiguous.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::document::Document;
use crate::exchange::edit::{self, text_node};
use crate::exchange::layout::Layout;
use crate::exchange::placeholder::left_behind;
use crate::exchange::values;
use crate::yaml::{Node, Value, quoted};

/// The number of goals in a memory of version 2.
const GOALS: usize = 3;

/// Fixes an event: its version, its empty link while it is pending, its date, and single places that are no list.
pub(super) fn fix_event(document: &mut Document) {
    is_there(document, "schema_version", "1");
    let decided = ["/decided/", "/rejected/"];
    if !decided.iter().any(|folder| document.path.contains(folder)) {
        is_there(document, "issue_id", "\"\"");
    }
    let said = document.root.get("created_at").and_then(Node::text);
    let at: Option<Timestamp> = said.and_then(|said| said.parse().ok());
    if let Some(at) = at.filter(|_| said.is_some_and(|said| !values::is_date(said))) {
        let day = at.to_zoned(TimeZone::UTC).date().to_string();
        let text = edit::set_key(&document.text, &document.root, "created_at", &quoted(&day));
        document.rewrite_text(text, "`created_at` is a day".to_owned());
    }
    let items = document.root.get("evidence").map(Node::items);
    let places = items
        .unwrap_or_default()
        .iter()
        .filter_map(|one| one.get("loc"));
    let single: Vec<(std::ops::Range<usize>, String)> = places
        .filter_map(|place| match &place.value {
            Value::Text(text) => Some((place.range.clone(), format!("[{}]", quoted(text)))),
            Value::Integer(number) => Some((place.range.clone(), format!("[{number}]"))),
            _ => None,
        })
        .collect();
    replace_parts(document, single, "`loc` is a list");
    quote_ids(document, &["id", "issue_id"]);
}

/// Fixes a work item: its version, and missing empty lists.
pub(super) fn fix_item(document: &mut Document) {
    is_there(document, "schema_version", "2");
    is_there(document, "constraints", "[]");
    is_there(document, "risks", "[]");
    quote_ids(document, &["id", "source_events"]);
}

/// Fixes an observer's memory: its owner follows from its folder, and a surplus goal becomes a rule.
pub(super) fn fix_memory(document: &mut Document) {
    let role = document.path.rsplit('/').nth(1).unwrap_or_default();
    let said = document.root.get("observer").and_then(Node::text);
    if said.is_some_and(|said| said != role) && values::is_name(role) {
        let role = role.to_owned();
        let text = edit::set_key(&document.text, &document.root, "observer", &quoted(&role));
        document.rewrite_text(text, format!("it is the memory of `{role}`, by its folder"));
    }
    let goals = document.root.get("goals").map(Node::items);
    let goals = goals.unwrap_or_default().to_vec();
    let rules = document
        .root
        .get("rules")
        .map(|rules| rules.items().to_vec());
    if let Some(mut rules) = rules.filter(|_| goals.len() > GOALS) {
        let (kept, more) = goals.split_at(GOALS);
        rules.extend(more.iter().map(|goal| match goal.text() {
            Some(line) => text_node(format!("Goal: {line}")),
            None => goal.clone(),
        }));
        let mut root = document.root.clone();
        edit::put_key(&mut root, "goals", Value::List(kept.to_vec()));
        edit::put_key(&mut root, "rules", Value::List(rules));
        let done = format!("goals beyond {GOALS} became rules");
        document.rewrite_text(edit::emit_yaml(&root), done);
    }
}

/// Whether a memory is an unfilled template, apart from its owner. The release of seed 001 creates such memories.
pub(super) fn is_unfilled(root: &Node, layout: Layout) -> bool {
    let Value::Map(entries) = &root.value else {
        return false;
    };
    let of_owner = [
        "schema_version",
        "observer",
        "persona",
        "role",
        "workstream",
    ];
    let (mut blanks, mut all) = (0, true);
    for (key, value) in entries {
        if key.text().is_some_and(|key| of_owner.contains(&key)) {
            continue;
        }
        visit_texts(value, &mut |text| match text {
            "" => {}
            text if left_behind(text).is_some() || text.starts_with("YYYY-") => blanks += 1,
            _ => all = false,
        });
    }
    layout == Layout::Flat && all && blanks > 0
}

fn visit_texts(node: &Node, see: &mut impl FnMut(&str)) {
    match &node.value {
        Value::Text(text) => see(text.trim()),
        Value::List(items) => items.iter().for_each(|item| visit_texts(item, see)),
        Value::Map(entries) => entries
            .iter()
            .for_each(|(_, value)| visit_texts(value, see)),
        Value::Null => {}
        _ => see("filled in"),
    }
}

fn is_there(document: &mut Document, key: &str, yaml: &str) {
    if !document.has_key(key) {
        let text = edit::set_key(&document.text, &document.root, key, yaml);
        document.rewrite_text(text, format!("added `{key}: {yaml}`"));
    }
}

/// Quotes ids of six digits, which would parse as numbers.
fn quote_ids(document: &mut Document, keys: &[&str]) {
    let nodes = keys.iter().filter_map(|key| document.root.get(key));
    let nodes = nodes.flat_map(|node| match &node.value {
        Value::List(items) => items.iter().collect::<Vec<_>>(),
        _ => vec![node],
    });
    let numbers = nodes.filter(|node| node.text().is_none());
    let ids = numbers.filter_map(|node| {
        let written = document.text.get(node.range.clone())?;
        values::is_id(written).then(|| (node.range.clone(), quoted(written)))
    });
    let ids: Vec<_> = ids.collect();
    replace_parts(document, ids, "ids stand between quotes");
}

/// Replaces byte ranges of a document, if they are known.
fn replace_parts(
    document: &mut Document,
    parts: Vec<(std::ops::Range<usize>, String)>,
    done: &str,
) {
    let mut parts: Vec<_> = parts
        .into_iter()
        .filter(|(range, _)| !range.is_empty())
        .collect();
    if parts.is_empty() {
        return;
    }
    parts.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = document.text.clone();
    for (range, part) in parts {
        text.replace_range(range, &part);
    }
    document.rewrite_text(text, done.to_owned());
}
