//! Converts older shapes of memories, also between the layouts.

use super::document::Document;
use super::unambiguous;
use crate::diagnostic::Diagnostic;
use crate::exchange::edit::{self, new_node, text_node};
use crate::exchange::layout::Layout;
use crate::exchange::memory::GOAL;
use crate::exchange::shapes::PERSPECTIVE;
use crate::prompt::clean_line;
use crate::yaml::{Node, Value};

/// Keys of the workstreams' memory that the flat one lacks.
const OLDER: [&str; 4] = ["workstream", "biases", "recent_runs", "learned_exclusions"];
/// Keys of both.
const SHARED: [&str; 4] = ["schema_version", "observer", "updated_at", "goals"];
/// Keys of the flat memory that the workstreams' one lacks, each with the old key of the same meaning.
const NEWER: [(&str, &str); 3] = [
    ("ignore", "learned_exclusions"),
    ("rules", "biases"),
    ("log", "recent_runs"),
];
/// All keys of the flat memory.
const FLAT: [&str; 7] = [
    "schema_version",
    "observer",
    "updated_at",
    "goals",
    "rules",
    "ignore",
    "log",
];
/// The number of goals in a flat memory.
const GOALS: usize = 3;

pub(super) fn convert_memory(
    document: &mut Document,
    layout: Layout,
) -> Result<(), Box<Diagnostic>> {
    if layout == Layout::Workstreams {
        unambiguous::fix_memory(document);
        return Ok(());
    }
    convert_owner(document)?;
    unambiguous::fix_memory(document);
    without_workstream(document);
    if !OLDER.iter().any(|key| document.has_key(key)) {
        return Ok(());
    }
    for (newer, older) in NEWER {
        if document.has_key(newer) {
            let older = OLDER
                .into_iter()
                .find(|key| document.has_key(key))
                .unwrap_or(older);
            return Err(document.half_renamed(older, newer));
        }
    }
    let known = [&OLDER[..], &SHARED].concat();
    if let Some(key) = foreign_key(&document.root, &known) {
        document.keep_key(
            &key,
            "no memory has this key, so this one stays as it is",
            "remove it, and migrate again",
        );
        return Ok(());
    }
    if let Some((key, message)) = unconvertible_stream_key(&document.root) {
        document.keep_key(key, &message, "correct it, and migrate again");
        return Ok(());
    }
    let rewritten = edit::emit_yaml(&flat_memory(&document.root));
    if let Some(wrong) = PERSPECTIVE
        .validate(&document.path, &rewritten)
        .into_iter()
        .next()
    {
        let message = format!(
            "it stays as it is, for its newer form would not be sound: {}",
            wrong.message
        );
        document.keep_key("", &message, "fix it, and migrate again");
        return Ok(());
    }
    document.rewrite_text(
        rewritten,
        "the memory of a workstream became one of the flat layout".to_owned(),
    );
    Ok(())
}

/// A key that is not among the known ones.
fn foreign_key(root: &Node, known: &[&str]) -> Option<String> {
    let Value::Map(entries) = &root.value else {
        return None;
    };
    let mut keys = entries.iter().filter_map(|(key, _)| key.text());
    keys.find(|key| !known.contains(key)).map(str::to_owned)
}

/// A memory of version 2 in a workstream differs from a flat one only by the workstream's name.
fn without_workstream(document: &mut Document) {
    const KEY: &str = "workstream";
    let root = &document.root;
    let version = root.get("schema_version").and_then(Node::integer);
    let Some(node) = root.get(KEY).filter(|_| version == Some(2)) else {
        return;
    };
    let is_line = |(index, line): &(usize, &str)| {
        u32::try_from(index + 1).ok() == Some(node.line) && line.starts_with(&format!("{KEY}:"))
    };
    let lines = document.text.split_inclusive('\n').enumerate();
    let text: String = match lines.clone().any(|line| is_line(&line)) {
        true => lines
            .filter(|line| !is_line(line))
            .map(|(_, line)| line)
            .collect(),
        false => {
            let mut rest = root.clone();
            edit::remove_key(&mut rest, KEY);
            edit::emit_yaml(&rest)
        }
    };
    document.rewrite_text(
        text,
        format!("removed `{KEY}`, which a flat layout has no use for"),
    );
}

/// Renames the key of the owner, which later versions named alike for all roles.
fn convert_owner(document: &mut Document) -> Result<(), Box<Diagnostic>> {
    let innovator = document.has_key("focus") || document.has_key("recent_proposals");
    document.rename_key("role", if innovator { "persona" } else { "observer" })
}

/// A key of a workstream's memory whose value has no place in a flat one, and why.
fn unconvertible_stream_key(root: &Node) -> Option<(&'static str, String)> {
    let parts: [(&'static str, &[&str]); 2] = [
        ("goals", &["short_term"]),
        ("biases", &["assumptions", "blind_spots", "heuristics"]),
    ];
    for (key, parts) in parts {
        let Some(node) = root.get(key).filter(|node| node.value != Value::Null) else {
            continue;
        };
        if !matches!(node.value, Value::Map(_)) {
            return Some((key, format!("`{key}` has no keys")));
        }
        if let Some(other) = foreign_key(node, parts) {
            return Some((
                key,
                format!("the other form has no place for `{key}.{other}`"),
            ));
        }
        if let Some(part) = parts.iter().find(|part| !is_list(node.get(part))) {
            return Some((key, format!("`{key}.{part}` is not a list")));
        }
    }
    let known = ["created_at", "summary", "history_path"];
    unconvertible_list(root, &["learned_exclusions", "recent_runs"])
        .or_else(|| unconvertible_entry(root, "recent_runs", &known))
}

fn is_list(node: Option<&Node>) -> bool {
    let value = node.map(|node| &node.value);
    matches!(value, None | Some(Value::Null | Value::List(_)))
}

/// A key that should hold a list and does not.
fn unconvertible_list(root: &Node, keys: &[&'static str]) -> Option<(&'static str, String)> {
    let key = keys.iter().find(|key| !is_list(root.get(key)))?;
    Some((key, format!("`{key}` is not a list")))
}

/// An entry of a list of sessions that has no place in the other form, where each entry has these texts.
fn unconvertible_entry(
    root: &Node,
    list: &'static str,
    keys: &[&str],
) -> Option<(&'static str, String)> {
    let entries = root.get(list).map(Node::items).unwrap_or_default();
    entries.iter().enumerate().find_map(|(index, entry)| {
        let is_no_text = |key: &&&str| entry.get(key).is_some_and(|text| text.text().is_none());
        let message = match foreign_key(entry, keys) {
            Some(key) => format!("the other form has no place for `{list}[{index}].{key}`"),
            None if entry.get("summary").is_none() => format!("`{list}[{index}]` has no `summary`"),
            None => {
                let key = keys.iter().find(is_no_text)?;
                format!("`{list}[{index}].{key}` is not a text")
            }
        };
        Some((list, message))
    })
}

/// The memory in the flat layout's shape. A key without a counterpart becomes a rule.
fn flat_memory(root: &Node) -> Node {
    let list = |of: Option<&Node>, key: &str| -> Vec<Node> {
        of.and_then(|of| of.get(key))
            .map(Node::items)
            .unwrap_or_default()
            .to_vec()
    };
    let called = |what: &str, nodes: Vec<Node>| -> Vec<Node> {
        let line = |one: &Node| one.text().map(|line| text_node(format!("{what}: {line}")));
        nodes
            .iter()
            .map(|one| line(one).unwrap_or_else(|| one.clone()))
            .collect()
    };
    let mut goals = list(root.get("goals"), "short_term");
    let more = goals.split_off(goals.len().min(GOALS));
    if goals.is_empty() {
        goals.push(text_node(GOAL));
    }
    let biases = root.get("biases");
    let mut rules = list(biases, "heuristics");
    rules.extend(called("Assumption", list(biases, "assumptions")));
    rules.extend(called("Blind spot", list(biases, "blind_spots")));
    rules.extend(called("Goal", more));
    let runs = root.get("recent_runs").map(Node::items).unwrap_or_default();
    let log = runs.iter().map(|run| {
        let said = |key: &str| run.get(key).and_then(Node::text).unwrap_or_default();
        let summary = match said("history_path") {
            "" => said("summary").to_owned(),
            path => format!("{} ({path})", said("summary")),
        };
        new_node(Value::Map(vec![
            (text_node("at"), text_node(said("created_at"))),
            (text_node("summary"), text_node(summary)),
        ]))
    });
    let value = |key: &str| root.get(key).map_or(Value::Null, |one| one.value.clone());
    let entries = [
        ("schema_version", Value::Integer(2)),
        ("observer", value("observer")),
        ("updated_at", value("updated_at")),
        ("goals", Value::List(goals)),
        ("rules", Value::List(rules)),
        (
            "ignore",
            Value::List(list(Some(root), "learned_exclusions")),
        ),
        ("log", Value::List(log.collect())),
    ];
    let entries = entries.into_iter();
    new_node(Value::Map(
        entries
            .map(|(key, value)| (text_node(key), new_node(value)))
            .collect(),
    ))
}

/// The number of runs in a workstreams' memory.
const RUNS: usize = 3;

/// Converts an observer's memory from the flat layout to a workstream. An innovator's has the same shape in both.
pub(super) fn to_stream(document: &mut Document, stream: &str) {
    if !document.has_key("observer") || document.has_key("workstream") {
        return;
    }
    if let Some(key) = foreign_key(&document.root, &FLAT) {
        document.keep_key(
            &key,
            "no memory has this key, and the other layout has no place for it",
            "remove it, and migrate again",
        );
        return;
    }
    if let Some((key, message)) = unconvertible_key(&document.root) {
        document.keep_key(key, &message, "correct it, and migrate again");
        return;
    }
    let mut done = "the memory became one of a workstream".to_owned();
    if let Some(older) = older_runs(&document.root) {
        done.push_str(&format!(", without its older sessions: {older}"));
    }
    let rewritten = edit::emit_yaml(&stream_memory(&document.root, stream));
    document.rewrite_text(rewritten, done);
}

/// A key of a flat memory whose value has no place in a workstream's one, and why.
fn unconvertible_key(root: &Node) -> Option<(&'static str, String)> {
    unconvertible_list(root, &["goals", "rules", "ignore", "log"])
        .or_else(|| unconvertible_entry(root, "log", &["at", "summary"]))
}

/// The memory in the shape of a workstream's.
fn stream_memory(root: &Node, stream: &str) -> Node {
    let list = |key: &str| Value::List(root.get(key).map(Node::items).unwrap_or_default().to_vec());
    let map = |entries: Vec<(&str, Value)>| {
        let entries = entries.into_iter();
        Value::Map(
            entries
                .map(|(key, value)| (text_node(key), new_node(value)))
                .collect(),
        )
    };
    let runs = root.get("log").map(Node::items).unwrap_or_default();
    let runs = runs.iter().take(RUNS).map(|run| {
        let said = |key: &str| {
            run.get(key)
                .and_then(Node::text)
                .unwrap_or_default()
                .to_owned()
        };
        new_node(map(vec![
            ("created_at", Value::Text(said("at"))),
            ("summary", Value::Text(said("summary"))),
        ]))
    });
    let value = |key: &str| root.get(key).map_or(Value::Null, |one| one.value.clone());
    let rewritten = map(vec![
        ("schema_version", Value::Integer(1)),
        ("observer", value("observer")),
        ("workstream", Value::Text(stream.to_owned())),
        ("updated_at", value("updated_at")),
        ("goals", map(vec![("short_term", list("goals"))])),
        (
            "biases",
            map(vec![
                ("assumptions", Value::List(Vec::new())),
                ("blind_spots", Value::List(Vec::new())),
                ("heuristics", list("rules")),
            ]),
        ),
        ("recent_runs", Value::List(runs.collect())),
        ("learned_exclusions", list("ignore")),
    ]);
    new_node(rewritten)
}

/// The sessions of a flat memory that a workstream's one has no room for.
fn older_runs(root: &Node) -> Option<String> {
    let log = root.get("log").map(Node::items).unwrap_or_default();
    let older = log.iter().skip(RUNS);
    let older = older.filter_map(|run| run.get("summary")?.text());
    let older: Vec<String> = older.map(clean_line).collect();
    (!older.is_empty()).then(|| older.join("; "))
}
