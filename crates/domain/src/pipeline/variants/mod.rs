//! Other ways in which artifacts are written. Each is brought into the normal form, and told of; the places stay.

mod attempt;
mod plan;
mod state;
mod verdict;
mod words;

use super::artifact::Artifact;
use crate::Diagnostic;
use crate::yaml::{Node, Value};

/// What a file says otherwise than in the normal form.
pub(super) struct Variants<'f> {
    file: &'f str,
    found: &'f mut Vec<Diagnostic>,
}

/// Brings a document into the normal form, as far as its variants are known.
pub(super) fn mend(artifact: Artifact, file: &str, root: &mut Node, found: &mut Vec<Diagnostic>) {
    let mut variants = Variants { file, found };
    match artifact {
        Artifact::Plan => plan::plan(root, &mut variants),
        Artifact::Worker => plan::notes(root, &mut variants),
        Artifact::Test => verdict::test(root, &mut variants),
        Artifact::Review => verdict::review(root, &mut variants),
        Artifact::Debug => verdict::cause(root, &mut variants),
        Artifact::Git | Artifact::Trace => {}
        Artifact::State => state::state(root, &mut variants),
        Artifact::Lessons => state::lessons(root, &mut variants),
    }
    if artifact.assesses_itself() {
        attempt::assessment(root, &mut variants);
    }
    words::words(root, artifact.shape(), "", &mut variants);
}

impl Variants<'_> {
    /// Tells of a variant, and how it is written in the normal form.
    fn tell(&mut self, at: &Node, key: &str, what: impl Into<String>, normal: impl Into<String>) {
        let one = Diagnostic::warning(self.file, what)
            .at(at.line, at.column)
            .key(key)
            .mend(normal);
        self.found.push(one);
    }
}

/// A value at the place of another.
fn at(place: &Node, value: Value) -> Node {
    Node {
        value,
        range: place.range.start..place.range.start,
        ..*place
    }
}

/// A text at the place of another value.
fn text(place: &Node, text: impl Into<String>) -> Node {
    at(place, Value::Text(text.into()))
}

/// A map of one entry at the place of its value.
fn map_of(key: &str, value: Node) -> Node {
    let name = text(&value, key);
    let place = at(&value, Value::Null);
    at(&place, Value::Map(vec![(name, value)]))
}

/// The value of a key, where this is a map.
fn get_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let found = entries(node).iter_mut();
    let mut found = found.filter(|(name, _)| name.text() == Some(key));
    found.next().map(|(_, value)| value)
}

/// The elements of a list; of anything else none.
fn items_mut(node: &mut Node) -> &mut [Node] {
    match &mut node.value {
        Value::List(items) => items,
        _ => &mut [],
    }
}

/// The entries of a map; of anything else none.
fn entries(node: &mut Node) -> &mut [(Node, Node)] {
    match &mut node.value {
        Value::Map(entries) => entries,
        _ => &mut [],
    }
}

/// Gives a key another name, where that is not taken; the value's place, if it did.
fn rename(map: &mut Node, from: &str, to: &str) -> Option<Node> {
    if map.get(to).is_some() {
        return None;
    }
    let entry = entries(map).iter_mut();
    let mut entry = entry.filter(|(name, _)| name.text() == Some(from));
    let (name, _) = entry.next()?;
    let place = name.clone();
    name.value = Value::Text(to.to_owned());
    Some(place)
}
