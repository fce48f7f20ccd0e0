//! Taking the known keys out of an object, and complaining precisely about what is not as it should be.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Extra;
use super::issues::{Issues, Path};
use super::values::{session, time};
use super::written::time as written_time;
use crate::json::{Inexact, Member, Node, Value, keep};
use crate::model::SessionId;

/// The members of an object that nobody has taken yet.
pub(super) struct Fields<'t, 'c> {
    at: usize,
    path: &'c Path<'c>,
    issues: &'c Issues<'c>,
    left: Vec<Option<Member<'t>>>,
    /// Values of known keys that phileas would write in another way, as they stand in the file.
    as_found: Extra,
}

impl<'t, 'c> Fields<'t, 'c> {
    /// The members of `node`, which should be an object.
    pub(super) fn of(node: Node<'t>, path: &'c Path<'c>, issues: &'c Issues<'c>) -> Option<Self> {
        match node.value {
            Value::Object(members) => Some(Self {
                at: node.at,
                path,
                issues,
                left: members.into_iter().map(Some).collect(),
                as_found: Extra::new(),
            }),
            _ => {
                issues.wrong_kind(&node, path, "an object");
                None
            }
        }
    }

    /// Where the object begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether nobody has taken this key yet.
    pub(super) fn has(&self, key: &str) -> bool {
        self.left.iter().flatten().any(|member| member.key == key)
    }

    /// The value of a key that nobody has taken yet, unless it is null.
    pub(super) fn value(&self, key: &str) -> Option<&Value<'t>> {
        let member = self
            .left
            .iter()
            .flatten()
            .find(|member| member.key == key)?;
        Some(&member.node.value).filter(|value| !matches!(value, Value::Null))
    }

    /// Where the value of a key begins, or else the object.
    pub(super) fn place(&self, key: &str) -> usize {
        let member = self.left.iter().flatten().find(|member| member.key == key);
        member.map_or(self.at, |member| member.node.at)
    }

    /// Gives a key another name, unless that name is taken.
    pub(super) fn rename(&mut self, old: &str, new: &'static str) {
        if self.has(new) {
            return;
        }
        let found = self
            .left
            .iter_mut()
            .flatten()
            .find(|member| member.key == old);
        if let Some(member) = found {
            member.key = Cow::Borrowed(new);
        }
    }

    /// The value of a key, null included.
    pub(super) fn take(&mut self, key: &str) -> Option<Node<'t>> {
        self.left
            .iter_mut()
            .find(|slot| slot.as_ref().is_some_and(|member| member.key == key))?
            .take()
            .map(|member| member.node)
    }

    fn take_value(&mut self, key: &str) -> Option<Node<'t>> {
        self.take(key)
            .filter(|node| !matches!(node.value, Value::Null))
    }

    /// An optional text.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let node = self.take_value(key)?;
        if let Value::Text(text) = node.value {
            return Some(text.into_owned());
        }
        self.issues.wrong_kind(&node, &self.path.key(key), "a text");
        None
    }

    /// An optional text that says nothing when it is empty.
    pub(super) fn word(&mut self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        if text.is_empty() {
            self.keep_as_found(key, "");
            return None;
        }
        Some(text)
    }

    /// Remembers the value of a known key as it stands in the file, where phileas would write the same in another way.
    pub(super) fn keep_as_found(&mut self, key: &str, value: impl Into<serde_json::Value>) {
        self.as_found.insert(key.to_owned(), value.into());
    }

    /// What is remembered of a key whose value moves to another object.
    pub(super) fn take_as_found(&mut self, key: &str) -> Option<serde_json::Value> {
        self.as_found.remove(key)
    }

    /// A text that must be there and say something.
    pub(super) fn required(&mut self, key: &str) -> Option<String> {
        match self.value(key) {
            None => self.missing(key),
            Some(Value::Text(text)) if text.is_empty() => {
                let message = "the text is empty";
                self.issues
                    .error(self.place(key), &self.path.key(key), message, "");
            }
            Some(_) => return self.text(key),
        }
        None
    }

    /// Complains that a key is missing.
    pub(super) fn missing(&self, key: &str) {
        self.issues.error(
            self.at,
            self.path,
            format!("the key `{key}` is missing"),
            "",
        );
    }

    /// An optional whole number.
    pub(super) fn number(&mut self, key: &str) -> Option<u64> {
        let node = self.take_value(key)?;
        let path = self.path.key(key);
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
                self.issues.wrong_kind(&node, &path, "a whole number");
                None
            }
        }
    }

    /// An optional small counter.
    pub(super) fn count(&mut self, key: &str) -> Option<u32> {
        let at = self.place(key);
        let number = self.number(key)?;
        let count = u32::try_from(number).ok();
        if count.is_none() {
            let message = format!(
                "`{number}` is too large; at most {} can stand here",
                u32::MAX
            );
            self.issues.error(at, &self.path.key(key), message, "");
        }
        count
    }

    /// A truth value; false where it is not said.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        let Some(node) = self.take_value(key) else {
            return false;
        };
        if let Value::Bool(truth) = node.value {
            return truth;
        }
        self.issues
            .wrong_kind(&node, &self.path.key(key), "a truth value");
        false
    }

    /// An optional time.
    pub(super) fn time(&mut self, key: &str) -> Option<Timestamp> {
        let node = self.take_value(key)?;
        let at = time(&node, &self.path.key(key), self.issues)?;
        if let Value::Text(text) = &node.value
            && *text != written_time(&at)
        {
            self.keep_as_found(key, &**text);
        }
        Some(at)
    }

    /// A time that must be there.
    pub(super) fn required_time(&mut self, key: &str) -> Option<Timestamp> {
        if self.value(key).is_none() {
            self.missing(key);
        }
        self.time(key)
    }

    /// An optional value that is read as a whole.
    pub(super) fn object<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Node<'t>, &Path<'_>, &Issues<'_>) -> Option<T>,
    ) -> Option<T> {
        let node = self.take_value(key)?;
        read(node, &self.path.key(key), self.issues)
    }

    /// An optional session id.
    pub(super) fn session(&mut self, key: &str) -> Option<SessionId> {
        let node = self.take_value(key)?;
        let session = session(&node, &self.path.key(key), self.issues);
        match &node.value {
            Value::Number(_) => {
                if let Ok(number) = keep(&node) {
                    self.keep_as_found(key, number);
                }
            }
            Value::Text(text) if text.is_empty() => self.keep_as_found(key, ""),
            _ => {}
        }
        session
    }

    /// A list; empty where it is not said.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        read: impl Fn(&Node<'t>, &Path<'_>, &Issues<'_>) -> Option<T>,
    ) -> Vec<T> {
        let Some(node) = self.take_value(key) else {
            return Vec::new();
        };
        let path = self.path.key(key);
        let Value::List(items) = &node.value else {
            self.issues.wrong_kind(&node, &path, "a list");
            return Vec::new();
        };
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| read(item, &path.index(index), self.issues))
            .collect()
    }

    /// The members of an object by their keys; none where it is not said.
    pub(super) fn table<K: Ord, T>(
        &mut self,
        key: &str,
        read_key: impl Fn(&str) -> Option<K>,
        read: impl Fn(Node<'t>, &Path<'_>, &Issues<'_>) -> Option<T>,
    ) -> BTreeMap<K, T> {
        let Some(node) = self.take_value(key) else {
            return BTreeMap::new();
        };
        table(node, &self.path.key(key), self.issues, read_key, read)
    }

    /// Everything that was not taken, and what was taken and is written in another way.
    pub(super) fn rest(self) -> Extra {
        let mut extra = self.as_found;
        for member in self.left.into_iter().flatten() {
            match keep(&member.node) {
                Ok(value) => {
                    extra.insert(member.key.into_owned(), value);
                }
                Err(Inexact { at, digits }) => self.issues.error(
                    at,
                    &self.path.key(&member.key),
                    format!("the number `{digits}` cannot be kept exactly"),
                    "write it as a text, in double quotes",
                ),
            }
        }
        extra
    }
}

/// The members of an object by their keys.
pub(super) fn table<'t, K: Ord, T>(
    node: Node<'t>,
    path: &Path<'_>,
    issues: &Issues<'_>,
    read_key: impl Fn(&str) -> Option<K>,
    read: impl Fn(Node<'t>, &Path<'_>, &Issues<'_>) -> Option<T>,
) -> BTreeMap<K, T> {
    let Value::Object(members) = node.value else {
        issues.wrong_kind(&node, path, "an object");
        return BTreeMap::new();
    };
    let mut table = BTreeMap::new();
    for Member { at, key, node } in members {
        let path = path.key(&key);
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
