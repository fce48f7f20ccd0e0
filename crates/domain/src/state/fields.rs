//! Taking the known keys out of an object, and complaining precisely about what is not as it should be.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Extra;
use super::issues::{Issues, KeyPath};
use super::values::{Key, Value, read_table};
use super::written::JsonValue;
use crate::json::{Inexact, Node, Value as Json, keep};

/// The members of an object that no reader has taken yet.
pub(super) struct Fields<'t, 'c> {
    at: usize,
    path: &'c KeyPath<'c>,
    issues: &'c Issues<'c>,
    /// The last member of the file first: most are taken in the order of the file, each from the end.
    unread: Vec<(Cow<'c, str>, &'c Node<'t>)>,
    /// Values of known keys that phileas would write in another way, as they stand in the file.
    originals: Extra,
}

impl<'t, 'c> Fields<'t, 'c> {
    /// The members of `node`, which should be an object.
    pub(super) fn from_node(
        node: &'c Node<'t>,
        path: &'c KeyPath<'c>,
        issues: &'c Issues<'c>,
    ) -> Option<Self> {
        let Json::Object(members) = &node.value else {
            issues.report_wrong_kind(node, path, "an object");
            return None;
        };
        let unread = members.iter().rev();
        let unread = unread.map(|member| (Cow::Borrowed(&*member.key), &member.node));
        Some(Self {
            at: node.at,
            path,
            issues,
            unread: unread.collect(),
            originals: Extra::new(),
        })
    }

    /// Where the object begins.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.unread.iter().rposition(|(name, _)| name == key)
    }

    fn peek_node(&self, key: &str) -> Option<&'c Node<'t>> {
        self.position(key).map(|index| self.unread[index].1)
    }

    /// Whether this key has not been taken yet.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// The value of a key that was not taken yet, unless it is null.
    pub(super) fn peek_value(&self, key: &str) -> Option<&Json<'t>> {
        let value = self.peek_node(key).map(|node| &node.value);
        value.filter(|value| !matches!(value, Json::Null))
    }

    /// Where the value of a key begins, or else the object.
    pub(super) fn value_offset(&self, key: &str) -> usize {
        self.peek_node(key).map_or(self.at, |node| node.at)
    }

    /// Gives a key another name, unless that name is taken.
    pub(super) fn rename_key(&mut self, old: &str, new: &'static str) {
        if self.has_key(new) {
            return;
        }
        if let Some(index) = self.position(old) {
            self.unread[index].0 = Cow::Borrowed(new);
        }
    }

    /// The value of a key, null included.
    pub(super) fn take_node(&mut self, key: &str) -> Option<&'c Node<'t>> {
        let index = self.position(key)?;
        Some(self.unread.remove(index).1)
    }

    /// The value of a key; `None` where it says nothing, or after an error was reported.
    pub(super) fn take<T: Value>(&mut self, key: &str) -> Option<T> {
        let node = self.take_node(key)?;
        if matches!(node.value, Json::Null) {
            return None;
        }
        let value = T::read(node, &self.path.join_key(key), self.issues);
        if !matches!(node.value, Json::List(_) | Json::Object(_)) {
            let written = value.as_ref().map(Value::to_json);
            if let (false, Ok(found)) = (written.is_some_and(|one| one.is_node(node)), keep(node)) {
                self.originals.insert(key.to_owned(), found);
            }
        }
        value
    }

    /// The value of a key that must be there and say something; `None` only after an error was reported.
    pub(super) fn require<T: Value>(&mut self, key: &str) -> Option<T> {
        match self.peek_value(key) {
            None => self.report_missing(key),
            Some(Json::Text(text)) if text.is_empty() => {
                let path = self.path.join_key(key);
                let message = "the text is empty";
                self.issues
                    .error(self.value_offset(key), &path, message, "");
            }
            Some(_) => return self.take(key),
        }
        None
    }

    /// The members of an object by their keys; none where it is not said.
    pub(super) fn take_table<K: Key, T>(
        &mut self,
        key: &str,
        read: impl Fn(&Node<'t>, &KeyPath<'_>, &Issues<'_>) -> Option<T>,
    ) -> BTreeMap<K, T> {
        let node = self.take_node(key);
        let node = node.filter(|node| !matches!(node.value, Json::Null));
        let table =
            node.and_then(|node| read_table(node, &self.path.join_key(key), self.issues, read));
        table.unwrap_or_default()
    }

    /// What is remembered of a key whose value moves to another object.
    pub(super) fn take_original(&mut self, key: &str) -> Option<serde_json::Value> {
        self.originals.remove(key)
    }

    /// Complains that a key is missing.
    pub(super) fn report_missing(&self, key: &str) {
        self.issues.error(
            self.at,
            self.path,
            format!("the key `{key}` is missing"),
            "",
        );
    }

    /// Everything that was not taken, and what was taken and is written in another way.
    pub(super) fn into_extra(self) -> Extra {
        let mut extra = self.originals;
        for (key, node) in self.unread.into_iter().rev() {
            match keep(node) {
                Ok(value) => {
                    extra.insert(key.into_owned(), value);
                }
                Err(Inexact { at, digits }) => self.issues.error(
                    at,
                    &self.path.join_key(&key),
                    format!("the number `{digits}` cannot be kept exactly"),
                    "write it as a text, in double quotes",
                ),
            }
        }
        extra
    }
}

/// A field that need not be in the file.
pub(super) trait Field: Sized {
    fn take(fields: &mut Fields<'_, '_>, key: &str) -> Self;

    /// Whether it says anything.
    fn is_set(&self) -> bool;

    /// Null where it says nothing and has no other way to say so.
    fn field_json(&self) -> JsonValue<'_>;
}

impl<T: Value> Field for Option<T> {
    fn take(fields: &mut Fields<'_, '_>, key: &str) -> Self {
        fields.take(key)
    }

    fn is_set(&self) -> bool {
        self.is_some()
    }

    fn field_json(&self) -> JsonValue<'_> {
        self.as_ref().map(Value::to_json).into()
    }
}

impl<T: Value + Default + PartialEq> Field for T {
    fn take(fields: &mut Fields<'_, '_>, key: &str) -> Self {
        fields.take(key).unwrap_or_default()
    }

    fn is_set(&self) -> bool {
        *self != Self::default()
    }

    fn field_json(&self) -> JsonValue<'_> {
        self.to_json()
    }
}
