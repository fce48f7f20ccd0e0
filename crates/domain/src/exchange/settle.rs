//! Settles a work item when its pull request is merged, closed, or has failed.

use std::collections::BTreeMap;

use super::artifact::{EventState, Filed, WorkItem};
use super::edit::{self, text_node};
use super::layout::Layout;
use super::limits::{LINE_LIMIT_CHARS, LIST_LIMIT, MAX_ATTEMPTS};
use super::model::Stream;
use super::{index, read};
use crate::diagnostic::Diagnostic;
use crate::model::Tree;
use crate::yaml::{Node, Value};

/// Files to write and, without a text, to remove.
pub type Files = BTreeMap<String, Option<String>>;

/// A work item cannot be settled: it does not exist, or its location is ambiguous. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no work item at `{0}`")]
pub struct SettleError(pub String);

/// Settles merged work: the item and its events are removed in one commit. An event that another item names, too, stays
/// for that item and is reported, and so is one of which there is not exactly one: a merged item is not done again, even
/// where its links are broken.
///
/// # Errors
///
/// [`SettleError`].
pub fn settle_merged(tree: &Tree, path: &str) -> Result<(Files, Vec<Diagnostic>), SettleError> {
    let (layout, stream, item) = find_item(tree, path)?;
    let mut files = Files::from([(path.to_owned(), None)]);
    let mut left = Vec::new();
    for id in &item.value.source_events {
        let others = stream.items.iter().filter(|other| other.path != path);
        let other = others
            .filter(|other| other.value.source_events.contains(id))
            .map(|other| other.path.clone())
            .next();
        let events: Vec<_> = stream
            .events_of(id)
            .filter(|event| event.value.state == EventState::Decided)
            .collect();
        let [event] = events.as_slice() else {
            let text = format!(
                "the merged work item named the event `{id}`, of which there are {}",
                events.len()
            );
            left.push(Diagnostic::warning(path, text).help("look at `phileas exchange check`"));
            continue;
        };
        let link = event.value.issue_id.as_str();
        let owner = match other {
            Some(other) => other,
            None if link.is_empty() || link == item.value.id => {
                files.insert(event.path.clone(), None);
                continue;
            }
            None => link.to_owned(),
        };
        let one = Diagnostic::warning(
            &event.path,
            format!("the merged work item `{path}` named it, and `{owner}` has it, too"),
        );
        left.push(one.help(format!("it was left to `{owner}`")));
    }
    if layout == Layout::Workstreams {
        let mut rest = stream.clone();
        rest.items.retain(|other| other.path != path);
        files.insert(index::index_path(&stream), Some(index::render_index(&rest)));
    }
    Ok((files, left))
}

/// Settles rejected or failed work: the item stays, with the reasons and one more attempt, or with all of them where
/// people do not want it any more. The returned flag says whether it is [`super::Next::Suspended`] now, after
/// [`MAX_ATTEMPTS`].
///
/// # Errors
///
/// [`SettleError`].
pub fn settle_returned(
    tree: &Tree,
    path: &str,
    because: &[String],
    is_unwanted: bool,
) -> Result<(Files, bool), SettleError> {
    let (_, _, item) = find_item(tree, path)?;
    let mut root = item.node.clone();
    let least = if is_unwanted { MAX_ATTEMPTS } else { 0 };
    let attempts = item.value.attempts.saturating_add(1).max(least);
    let number = i64::try_from(attempts).unwrap_or(i64::MAX);
    edit::put_key(&mut root, "attempts", Value::Integer(number));
    let mut reasons = root
        .get("returned_because")
        .map(Node::items)
        .unwrap_or_default()
        .to_vec();
    let one_line = |reason: &String| {
        let words: Vec<&str> = reason.split_whitespace().collect();
        let line: String = words.join(" ").chars().take(LINE_LIMIT_CHARS).collect();
        (!line.is_empty()).then_some(line)
    };
    let mut lines: Vec<String> = because.iter().filter_map(one_line).collect();
    if lines.is_empty() {
        lines.push("no reason was given".to_owned());
    }
    reasons.extend(lines.into_iter().map(text_node));
    let surplus = reasons.len().saturating_sub(LIST_LIMIT);
    reasons.drain(..surplus);
    edit::put_key(&mut root, "returned_because", Value::List(reasons));
    let files = Files::from([(path.to_owned(), Some(edit::emit_yaml(&root)))]);
    Ok((files, attempts >= MAX_ATTEMPTS))
}

fn find_item(tree: &Tree, path: &str) -> Result<(Layout, Stream, Filed<WorkItem>), SettleError> {
    let gone = || SettleError(path.to_owned());
    let exchange = read::read_exchange(tree, None).exchange.ok_or_else(gone)?;
    let layout = exchange.layout;
    for stream in exchange.streams.into_values() {
        if let Some(item) = stream.items.iter().find(|item| item.path == path).cloned() {
            return Ok((layout, stream, item));
        }
    }
    Err(gone())
}
