//! Taking the known keys out of an object, and complaining precisely about what is not as it should be.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Extra;
use super::issues::{Issues, KeyPath};
use super::values::{read_session, read_time};
use super::written::format_time as written_time;
use crate::json::{Inexact, Member, Node, Value, keep};
use crate::model::SessionId;

/// The members of an object that no reader has taken yet.
pub(super) struct Fields<'t, 'c> {
    at: usize,
    path: &'c KeyPath<'c>,
    issues: &'c Issues<'c>,
    unread: Vec<Option<Member<'t>>>,
    /// Values of known keys that phileas would write in another way, as they stand in the file.
    originals: Extra,
}

impl<'t, 'c> Fields<'t, 'c> {
    /// The members of `node`, which should be an object.
    pub(super) fn from_node(
        node: Node<'t>,
        path: &'c KeyPath<'c>,
        issues: &'c Issues<'c>,
    ) -> Option<Self> {
        match node.value {
            Value::Object(members) => Some(Self {
                at: node.at,
                path,
                issues,
                unread: members.into_iter().map(Some).collect(),
                originals: Extra::new(),
            }),
            _ => {
                issues.report_wrong_kind(&node, path, "an object");
                None
            }
        }
    }

    /// Where the object begins.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Whether this key has not been taken yet.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.unread.iter().flatten().any(|member| member.key == key)
    }

    /// The value of a key that was not taken yet, unless it is null.
    pub(super) fn peek_value(&self, key: &str) -> Option<&Value<'t>> {
        let member = self
            .unread
            .iter()
            .flatten()
            .find(|member| member.key == key)?;
        Some(&member.node.value).filter(|value| !matches!(value, Value::Null))
    }

    /// Where the value of a key begins, or else the object.
    pub(super) fn value_offset(&self, key: &str) -> usize {
        let member = self
            .unread
            .iter()
            .flatten()
            .find(|member| member.key == key);
        member.map_or(self.at, |member| member.node.at)
    }

    /// Gives a key another name, unless that name is taken.
    pub(super) fn rename_key(&mut self, old: &str, new: &'static str) {
        if self.has_key(new) {
            return;
        }
        let found = self
            .unread
            .iter_mut()
            .flatten()
            .find(|member| member.key == old);
        if let Some(member) = found {
            member.key = Cow::Borrowed(new);
        }
    }

    /// The value of a key, null included.
    pub(super) fn take_node(&mut self, key: &str) -> Option<Node<'t>> {
        self.unread
            .iter_mut()
            .find(|slot| slot.as_ref().is_some_and(|member| member.key == key))?
            .take()
            .map(|member| member.node)
    }

    fn take_value(&mut self, key: &str) -> Option<Node<'t>> {
        self.take_node(key)
            .filter(|node| !matches!(node.value, Value::Null))
    }

    /// An optional text.
    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        let node = self.take_value(key)?;
        if let Value::Text(text) = node.value {
            return Some(text.into_owned());
        }
        self.issues
            .report_wrong_kind(&node, &self.path.join_key(key), "a text");
        None
    }

    /// An optional text that says nothing when it is empty.
    pub(super) fn take_nonempty(&mut self, key: &str) -> Option<String> {
        let text = self.take_text(key)?;
        if text.is_empty() {
            self.keep_original(key, "");
            return None;
        }
        Some(text)
    }

    /// Remembers the value of a known key as it stands in the file, where phileas would write the same in another way.
    pub(super) fn keep_original(&mut self, key: &str, value: impl Into<serde_json::Value>) {
        self.originals.insert(key.to_owned(), value.into());
    }

    /// What is remembered of a key whose value moves to another object.
    pub(super) fn take_original(&mut self, key: &str) -> Option<serde_json::Value> {
        self.originals.remove(key)
    }

    /// A text that must be there and say something.
    pub(super) fn require_text(&mut self, key: &str) -> Option<String> {
        match self.peek_value(key) {
            None => self.report_missing(key),
            Some(Value::Text(text)) if text.is_empty() => {
                let message = "the text is empty";
                self.issues.error(
                    self.value_offset(key),
                    &self.path.join_key(key),
                    message,
                    "",
                );
            }
            Some(_) => return self.take_text(key),
        }
        None
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

    /// An optional whole number.
    pub(super) fn take_number(&mut self, key: &str) -> Option<u64> {
        let node = self.take_value(key)?;
        let path = self.path.join_key(key);
        match &node.value {
            Value::Number(digits) => {
                let number = digits.parse().ok();
                if number.is_none() {
                    let message =
                        format!("`{digits}` is not a whole number from 0 to {}", u64::MAX);
                    self.issues.error(node.at, &path, message, "");
                }
                number
            }
            _ => {
                self.issues
                    .report_wrong_kind(&node, &path, "a whole number");
                None
            }
        }
    }

    /// An optional small counter.
    pub(super) fn take_count(&mut self, key: &str) -> Option<u32> {
        let at = self.value_offset(key);
        let number = self.take_number(key)?;
        let count = u32::try_from(number).ok();
        if count.is_none() {
            let message = format!(
                "`{number}` is too large; at most {} can stand here",
                u32::MAX
            );
            self.issues.error(at, &self.path.join_key(key), message, "");
        }
        count
    }

    /// A truth value; false where it is not said.
    pub(super) fn take_flag(&mut self, key: &str) -> bool {
        let Some(node) = self.take_value(key) else {
            return false;
        };
        if let Value::Bool(truth) = node.value {
            return truth;
        }
        self.issues
            .report_wrong_kind(&node, &self.path.join_key(key), "a truth value");
        false
    }

    /// An optional time.
    pub(super) fn take_time(&mut self, key: &str) -> Option<Timestamp> {
        let node = self.take_value(key)?;
        let at = read_time(&node, &self.path.join_key(key), self.issues)?;
        if let Value::Text(text) = &node.value
            && *text != written_time(&at)
        {
            self.keep_original(key, &**text);
        }
        Some(at)
    }

    /// A time that must be there.
    pub(super) fn require_time(&mut self, key: &str) -> Option<Timestamp> {
        if self.peek_value(key).is_none() {
            self.report_missing(key);
        }
        self.take_time(key)
    }

    /// An optional value that is read as a whole.
    pub(super) fn take_object<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Node<'t>, &KeyPath<'_>, &Issues<'_>) -> Option<T>,
    ) -> Option<T> {
        let node = self.take_value(key)?;
        read(node, &self.path.join_key(key), self.issues)
    }

    /// An optional session id.
    pub(super) fn take_session(&mut self, key: &str) -> Option<SessionId> {
        let node = self.take_value(key)?;
        let session = read_session(&node, &self.path.join_key(key), self.issues);
        match &node.value {
            Value::Number(_) => {
                if let Ok(number) = keep(&node) {
                    self.keep_original(key, number);
                }
            }
            Value::Text(text) if text.is_empty() => self.keep_original(key, ""),
            _ => {}
        }
        session
    }

    /// A list; empty where it is not said.
    pub(super) fn take_list<T>(
        &mut self,
        key: &str,
        read: impl Fn(&Node<'t>, &KeyPath<'_>, &Issues<'_>) -> Option<T>,
    ) -> Vec<T> {
        let Some(node) = self.take_value(key) else {
            return Vec::new();
        };
        let path = self.path.join_key(key);
        let Value::List(items) = &node.value else {
            self.issues.report_wrong_kind(&node, &path, "a list");
            return Vec::new();
        };
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| read(item, &path.join_index(index), self.issues))
            .collect()
    }

    /// The members of an object by their keys; none where it is not said.
    pub(super) fn take_table<K: Ord, T>(
        &mut self,
        key: &str,
        read_key: impl Fn(&str) -> Option<K>,
        read: impl Fn(Node<'t>, &KeyPath<'_>, &Issues<'_>) -> Option<T>,
    ) -> BTreeMap<K, T> {
        let Some(node) = self.take_value(key) else {
            return BTreeMap::new();
        };
        read_table(node, &self.path.join_key(key), self.issues, read_key, read)
    }

    /// Everything that was not taken, and what was taken and is written in another way.
    pub(super) fn into_extra(self) -> Extra {
        let mut extra = self.originals;
        for member in self.unread.into_iter().flatten() {
            match keep(&member.node) {
                Ok(value) => {
                    extra.insert(member.key.into_owned(), value);
                }
                Err(Inexact { at, digits }) => self.issues.error(
                    at,
                    &self.path.join_key(&member.key),
                    format!("the number `{digits}` cannot be kept exactly"),
                    "write it as a text, in double quotes",
                ),
            }
        }
        extra
    }
}

/// The members of an object by their keys.
pub(super) fn read_table<'t, K: Ord, T>(
    node: Node<'t>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
    read_key: impl Fn(&str) -> Option<K>,
    read: impl Fn(Node<'t>, &KeyPath<'_>, &Issues<'_>) -> Option<T>,
) -> BTreeMap<K, T> {
    let Value::Object(members) = node.value else {
        issues.report_wrong_kind(&node, path, "an object");
        return BTreeMap::new();
    };
    let mut table = BTreeMap::new();
    for Member { at, key, node } in members {
        let path = path.join_key(&key);
        let Some(name) = read_key(&key) else {
            let message = format!("`{key}` cannot be a key here");
            issues.error(at, &path, message, "");
            continue;
        };
        if let Some(value) = read(node, &path, issues) {
            table.insert(name, value);
        }
    }
    table
}
