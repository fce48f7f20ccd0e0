//! Taking the known keys out of an object, and complaining precisely about what is not as it should be.

use std::borrow::Cow;
use std::cell::RefCell;

use jiff::Timestamp;

use super::Extra;
use super::exact::{Inexact, keep};
use super::json::{Member, Node, Value, push_index, push_key};
use crate::model::SessionId;
use crate::{Diagnostic, Severity};

/// How many mistakes of one file are told; more would not be read.
pub(super) const MAX_DIAGNOSTICS: usize = 100;
/// The largest whole number that every JSON program keeps exactly (2^53 - 1).
const MAX_SAFE_NUMBER: u64 = (1 << 53) - 1;

/// What was found wrong in a file so far.
pub(super) struct Issues<'t> {
    file: &'t str,
    text: &'t str,
    found: RefCell<Vec<Diagnostic>>,
}

impl<'t> Issues<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self {
            file,
            text,
            found: RefCell::default(),
        }
    }

    /// Notes an error.
    pub(super) fn error(&self, at: usize, path: &Path<'_>, message: impl Into<String>, mend: &str) {
        self.note(Diagnostic::error(self.file, message), at, path, mend);
    }

    /// Notes a warning.
    pub(super) fn warn(&self, at: usize, path: &Path<'_>, message: impl Into<String>, mend: &str) {
        self.note(Diagnostic::warning(self.file, message), at, path, mend);
    }

    fn note(&self, said: Diagnostic, at: usize, path: &Path<'_>, mend: &str) {
        let mut found = self.found.borrow_mut();
        let alike = found.iter().filter(|other| other.severity == said.severity);
        if alike.count() < MAX_DIAGNOSTICS {
            found.push(said.at_offset(self.text, at).key(path.render()).mend(mend));
        }
    }

    /// Complains that a value is of the wrong kind.
    pub(super) fn wrong_kind(&self, node: &Node<'_>, path: &Path<'_>, wanted: &str) {
        self.error(
            node.at,
            path,
            format!("{wanted} should stand here, not {}", node.value.name()),
            "",
        );
    }

    /// The errors if there are any, else the warnings.
    pub(super) fn finish(self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let (errors, warnings): (Vec<_>, Vec<_>) = self
            .found
            .into_inner()
            .into_iter()
            .partition(|said| said.severity == Severity::Error);
        if errors.is_empty() {
            Ok(warnings)
        } else {
            Err(errors)
        }
    }
}

/// Where in the document, written out only for a message.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    above: Option<&'p Path<'p>>,
    part: Part<'p>,
}

#[derive(Clone, Copy)]
enum Part<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) const ROOT: Path<'static> = Path {
        above: None,
        part: Part::Root,
    };

    pub(super) fn key(&'p self, key: &'p str) -> Self {
        Self {
            above: Some(self),
            part: Part::Key(key),
        }
    }

    pub(super) fn index(&'p self, index: usize) -> Self {
        Self {
            above: Some(self),
            part: Part::Index(index),
        }
    }

    fn render(&self) -> String {
        let mut path = self.above.map_or_else(String::new, Path::render);
        match self.part {
            Part::Root => {}
            Part::Key(key) => push_key(&mut path, key),
            Part::Index(index) => push_index(&mut path, index),
        }
        path
    }
}

/// The members of an object that nobody has taken yet.
pub(super) struct Fields<'t, 'c> {
    at: usize,
    path: &'c Path<'c>,
    issues: &'c Issues<'c>,
    left: Vec<Option<Member<'t>>>,
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
        self.text(key).filter(|text| !text.is_empty())
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
        time(&node, &self.path.key(key), self.issues)
    }

    /// A time that must be there.
    pub(super) fn required_time(&mut self, key: &str) -> Option<Timestamp> {
        let node = self.take_value(key);
        if node.is_none() {
            self.missing(key);
        }
        time(&node?, &self.path.key(key), self.issues)
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
        session(&node, &self.path.key(key), self.issues)
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
    ) -> std::collections::BTreeMap<K, T> {
        let Some(node) = self.take_value(key) else {
            return std::collections::BTreeMap::new();
        };
        table(node, &self.path.key(key), self.issues, read_key, read)
    }

    /// Everything that nobody took.
    pub(super) fn rest(self) -> Extra {
        let mut extra = Extra::new();
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
) -> std::collections::BTreeMap<K, T> {
    let Value::Object(members) = node.value else {
        issues.wrong_kind(&node, path, "an object");
        return std::collections::BTreeMap::new();
    };
    let mut table = std::collections::BTreeMap::new();
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

/// A history key: a whole number as it is counted, without leading zeros.
pub(super) fn history_key(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|key: &u64| key.to_string() == text)
}

/// A time with its offset from UTC, as RFC 3339 writes it.
pub(super) fn time(node: &Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Timestamp> {
    let Value::Text(text) = &node.value else {
        issues.wrong_kind(node, path, "a time");
        return None;
    };
    let time = text.parse().ok();
    if time.is_none() {
        let mend = "write it like `2026-01-14T10:00:00Z`";
        issues.error(node.at, path, format!("`{text}` is not a time"), mend);
    }
    time
}

/// A session id: text, or a number so small that no program on the way can have rounded it.
pub(super) fn session(node: &Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<SessionId> {
    match &node.value {
        Value::Text(text) if text.is_empty() => {
            issues.warn(
                node.at,
                path,
                "the session id is empty and reads as null",
                "",
            );
            None
        }
        Value::Text(text) => Some(SessionId::new(text.clone())),
        Value::Number(digits) => {
            let exact = digits.parse().is_ok_and(|n: u64| n <= MAX_SAFE_NUMBER);
            if !exact {
                let message = format!(
                    "the session id {digits} stands here as a number, and one of this size may have lost digits"
                );
                let mend = "look it up in Jules and write it as a text, in double quotes";
                issues.error(node.at, path, message, mend);
            }
            exact.then(|| SessionId::new(*digits))
        }
        _ => {
            issues.wrong_kind(node, path, "a session id (a text)");
            None
        }
    }
}
