//! Finds the mistakes that have exactly one fix, so that no person has to decide.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{EventState, Filed, WorkItem};
use super::layout::{self, Layout, Location};
use super::model::Stream;
use super::{edit, index, read};
use crate::model::{Mode, Tree};
use crate::yaml;

/// One fix: a file that is written or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The file.
    pub path: String,
    /// Its new text; `None` removes it.
    pub text: Option<String>,
    /// What was done, as a sentence without a period; `None` if the fix of another file says it.
    pub done: Option<String>,
}

/// All fixes: lists of issues, links whose other side is clear, and wrong file extensions.
///
/// After one round of fixes, no fix is left.
#[must_use]
pub fn find_fixes(tree: &Tree) -> Vec<Fix> {
    let mut fixed = tree.clone();
    let mut fixes: BTreeMap<String, Fix> = BTreeMap::new();
    for step in [fix_extensions, fix_events, fix_indexes] {
        for one in step(&fixed) {
            match &one.text {
                Some(text) => fixed.insert_text(&one.path, text),
                None => fixed.remove(&one.path),
            }
            fixes.insert(one.path.clone(), one);
        }
    }
    // Skip files that one step created and a later one moved.
    fixes.retain(|path, one| one.text.is_some() || tree.get(path).is_some());
    fixes.into_values().collect()
}

/// Renames `.yaml` to `.yml`.
fn fix_extensions(tree: &Tree) -> Vec<Fix> {
    let Ok(Some(layout)) = Layout::detect(tree) else {
        return Vec::new();
    };
    let mut fixes = Vec::new();
    for (path, entry) in tree.iter() {
        let artifact = matches!(
            layout::locate(layout, path),
            Some(
                Location::Event { .. }
                    | Location::Item { .. }
                    | Location::Proposal { .. }
                    | Location::Feedback { .. }
            )
        );
        let Some(stem) = path.strip_suffix(".yaml").filter(|_| artifact) else {
            continue;
        };
        let to = format!("{stem}.yml");
        let text = entry.text.as_deref().filter(|_| entry.mode == Mode::File);
        if let Some(text) = text.filter(|_| tree.get(&to).is_none()) {
            fixes.extend(move_file(path, &to, text.to_owned(), None));
        }
    }
    fixes
}

/// An event that exactly one work item names belongs to that item, and is decided.
fn fix_events(tree: &Tree) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for stream in read_streams(tree) {
        let ids = stream.events.iter().map(|event| event.value.id.as_str());
        let mut seen = BTreeSet::new();
        let doubled: BTreeSet<&str> = ids.filter(|id| !seen.insert(*id)).collect();
        for event in stream.events.iter().filter(|event| event.sound) {
            let id = event.value.id.as_str();
            let owners: Vec<&Filed<WorkItem>> = stream
                .items
                .iter()
                .filter(|item| item.value.source_events.iter().any(|named| named == id))
                .collect();
            let [owner] = owners.as_slice() else { continue };
            let to = format!("{}/events/decided/{}.yml", stream.home, event.file_stem());
            let wrong_state = event.value.state == EventState::Pending;
            let wrong_link = event.value.issue_id != owner.value.id;
            let free = event.path == to || tree.get(&to).is_none();
            let fixable = event.value.state != EventState::Rejected && owner.sound && free;
            if !(wrong_state || wrong_link) || !fixable || doubled.contains(id) {
                continue;
            }
            let Some(text) = tree.text(&event.path) else {
                continue;
            };
            let text = edit::set_key(
                text,
                &event.node,
                "issue_id",
                &yaml::quoted(&owner.value.id),
            );
            let done = format!("gave the event `{id}` to `{}`", owner.path);
            fixes.extend(move_file(&event.path, &to, text, Some(done)));
        }
    }
    fixes
}

/// Rewrites the lists of issues.
fn fix_indexes(tree: &Tree) -> Vec<Fix> {
    let Ok(Some(Layout::Workstreams)) = Layout::detect(tree) else {
        return Vec::new();
    };
    let wrong = read_streams(tree)
        .into_iter()
        .filter(|stream| !index::check_index(stream).is_empty());
    let fix = |stream: Stream| Fix {
        path: index::index_path(&stream),
        text: Some(index::render_index(&stream)),
        done: Some("wrote the list of issues again".to_owned()),
    };
    wrong.map(fix).collect()
}

fn read_streams(tree: &Tree) -> Vec<Stream> {
    let exchange = read::read_exchange(tree, None).exchange;
    exchange
        .map(|exchange| exchange.streams.into_values().collect())
        .unwrap_or_default()
}

/// `done`: what was done to it besides the move.
fn move_file(from: &str, to: &str, text: String, done: Option<String>) -> Vec<Fix> {
    let mut fixes = vec![Fix {
        path: to.to_owned(),
        text: Some(text),
        done,
    }];
    if from != to {
        fixes.push(Fix {
            path: from.to_owned(),
            text: None,
            done: Some(format!("moved it to `{to}`")),
        });
    }
    fixes
}
