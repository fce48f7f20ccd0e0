//! Edits of a YAML document that bring a variant into the normal form.

use crate::Diagnostic;
use crate::yaml::{Node, Value};

/// What a file says otherwise than in the normal form.
pub(super) struct Variants<'f> {
    pub(super) file: &'f str,
    pub(super) diagnostics: &'f mut Vec<Diagnostic>,
}

impl Variants<'_> {
    /// Tells of a variant, and how it is written in the normal form.
    pub(super) fn report(
        &mut self,
        at: &Node,
        key: &str,
        what: impl Into<String>,
        normal: impl Into<String>,
    ) {
        let one = Diagnostic::warning(self.file, what)
            .at(at.line, at.column)
            .key(key)
            .help(normal);
        self.diagnostics.push(one);
    }
}

/// A value at the place of another.
pub(super) fn node_at(place: &Node, value: Value) -> Node {
    Node {
        value,
        range: place.range.start..place.range.start,
        ..*place
    }
}

/// A text at the place of another value.
pub(super) fn text_at(place: &Node, text: impl Into<String>) -> Node {
    node_at(place, Value::Text(text.into()))
}

/// A map of one entry at the place of its value.
pub(super) fn map_of(key: &str, value: Node) -> Node {
    let name = text_at(&value, key);
    let place = node_at(&value, Value::Null);
    node_at(&place, Value::Map(vec![(name, value)]))
}

/// The value of a key, where this is a map.
pub(super) fn get_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let found = entries_mut(node).iter_mut();
    let mut found = found.filter(|(name, _)| name.text() == Some(key));
    found.next().map(|(_, value)| value)
}

/// The elements of a list; of anything else none.
pub(super) fn items_mut(node: &mut Node) -> &mut [Node] {
    match &mut node.value {
        Value::List(items) => items,
        _ => &mut [],
    }
}

/// The entries of a map; of anything else none.
pub(super) fn entries_mut(node: &mut Node) -> &mut [(Node, Node)] {
    match &mut node.value {
        Value::Map(entries) => entries,
        _ => &mut [],
    }
}

/// Gives a key another name, where that is not taken; the value's place, if it did.
pub(super) fn rename_key(map: &mut Node, from: &str, to: &str) -> Option<Node> {
    if map.get(to).is_some() {
        return None;
    }
    let entry = entries_mut(map).iter_mut();
    let mut entry = entry.filter(|(name, _)| name.text() == Some(from));
    let (name, _) = entry.next()?;
    let place = name.clone();
    name.value = Value::Text(to.to_owned());
    Some(place)
}
