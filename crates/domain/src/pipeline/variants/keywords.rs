//! Words of a fixed list in other capitals, and whole numbers with a fraction of nothing.

use super::nodes::{Variants, entries_mut, items_mut, text_at};
use crate::exchange::shape::{Key, Kind};
use crate::yaml::{Node, Value};

/// Writes every word as the lists have it, and every whole number without a fraction.
pub(super) fn normalize_words(
    node: &mut Node,
    kind: &'static Kind,
    path: &str,
    variants: &mut Variants<'_>,
) {
    match kind {
        Kind::Word(words) => {
            let Some(said) = node.text() else { return };
            let normal = words.iter().find(|word| word.eq_ignore_ascii_case(said));
            let Some(normal) = normal.filter(|word| **word != said) else {
                return;
            };
            let what = format!("`{said}` is written in other capitals");
            variants.report(node, path, what, format!("the normal form is `{normal}`"));
            *node = text_at(node, *normal);
        }
        // Every reader takes 2 for a whole number; not every one takes 2.0.
        Kind::Count | Kind::Spotted => {
            if let (Value::Float(_), Some(whole)) = (&node.value, node.integer()) {
                node.value = Value::Integer(whole);
            }
        }
        Kind::List(list) => {
            for (index, item) in items_mut(node).iter_mut().enumerate() {
                normalize_words(item, list.of, &format!("{path}[{index}]"), variants);
            }
        }
        Kind::Table(table) => for_each_word(node, path, variants, |_| Some(table.of)),
        Kind::Open(keys) | Kind::Map(keys) => {
            let of = |name: &str| keys.iter().find(|key: &&Key| key.name == name);
            for_each_word(node, path, variants, |name| of(name).map(|key| &key.kind));
        }
        _ => {}
    }
}

fn for_each_word(
    node: &mut Node,
    path: &str,
    variants: &mut Variants<'_>,
    kind: impl Fn(&str) -> Option<&'static Kind>,
) {
    for (name, value) in entries_mut(node) {
        let name = name.text().unwrap_or_default();
        let at = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        };
        if let (Some(kind), false) = (kind(name), matches!(value.value, Value::Null)) {
            normalize_words(value, kind, &at, variants);
        }
    }
}
