//! The values of records: how each is read from a file, and how it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use jiff::Timestamp;

use super::Outcome;
use super::issues::{Issues, KeyPath};
use super::written::{JsonObject, JsonValue, format_time};
use crate::json::{Member, Node, Value as Json};
use crate::model::{
    BranchName, Holder, Oid, PersonaId, PullNumber, RepositoryId, SessionId, Slot, TrackName,
    TurnId,
};

/// What a key, a list or a table can hold.
pub(super) trait Value: Sized {
    /// `None` where the file says nothing, or after an error was reported.
    fn read(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self>;

    /// The same for an item of a list or a table.
    fn read_item(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        Self::read(node, path, issues)
    }

    fn to_json(&self) -> JsonValue<'_>;
}

/// The key of a table.
pub(super) trait Key: Ord + Display + Sized {
    fn parse_key(text: &str) -> Option<Self>;
}

macro_rules! values {
    ($($type:ty: |$node:ident, $path:ident, $issues:ident| $read:expr, |$value:ident| $json:expr;)*) => {$(
        impl Value for $type {
            fn read($node: &Node<'_>, $path: &KeyPath<'_>, $issues: &Issues<'_>) -> Option<Self> {
                $read
            }

            fn to_json(&self) -> JsonValue<'_> {
                let $value = self;
                $json
            }
        }
    )*};
}

values! {
    bool: |node, path, issues| read_flag(node, path, issues), |flag| (*flag).into();
    u32: |node, path, issues| read_count(node, path, issues), |count| (*count).into();
    u64: |node, path, issues| read_number(node, path, issues), |number| (*number).into();
    PullNumber: |node, path, issues| read_number(node, path, issues).map(Self), |pull| pull.0.into();
    RepositoryId: |node, path, issues| read_number(node, path, issues).map(Self), |id| id.0.into();
    Timestamp: |node, path, issues| read_time(node, path, issues), |at| format_time(at).into();
    String: |node, path, issues| read_text(node, path, issues).map(str::to_owned), |text| text.as_str().into();
    Slot: |node, path, issues| read_text(node, path, issues).map(Self::from), |slot| slot.as_str().into();
    SessionId: |node, path, issues| read_session(node, path, issues), |id| id.as_str().into();
    TurnId: |node, path, issues| read_turn_id(node, path, issues), |id| id.as_str().into();
    // An empty name says nothing.
    PersonaId: |node, path, issues| read_name(node, path, issues).map(Self::from), |name| name.as_str().into();
    TrackName: |node, path, issues| read_name(node, path, issues).map(Self::from), |name| name.as_str().into();
    BranchName: |node, path, issues| read_name(node, path, issues).map(Self::from), |name| name.as_str().into();
    Holder: |node, path, issues| read_name(node, path, issues).map(Self::from), |name| name.as_str().into();
    Outcome: |node, path, issues| read_name(node, path, issues).map(Self::parse), |outcome| outcome.as_str().into();
}

impl Value for Oid {
    fn read(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        read_name(node, path, issues).map(Self::from)
    }

    /// An item that another program left empty must stay in its place, because nothing else keeps its bytes.
    fn read_item(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        read_text(node, path, issues).map(Self::from)
    }

    fn to_json(&self) -> JsonValue<'_> {
        self.as_str().into()
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        let Json::List(items) = &node.value else {
            issues.report_wrong_kind(node, path, "a list");
            return None;
        };
        let items = items.iter().enumerate();
        let items =
            items.filter_map(|(index, item)| T::read_item(item, &path.join_index(index), issues));
        Some(items.collect())
    }

    fn to_json(&self) -> JsonValue<'_> {
        JsonValue::List(self.iter().map(Value::to_json).collect())
    }
}

impl<T: Value + Ord> Value for BTreeSet<T> {
    fn read(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        Vec::read(node, path, issues).map(Self::from_iter)
    }

    fn to_json(&self) -> JsonValue<'_> {
        JsonValue::List(self.iter().map(Value::to_json).collect())
    }
}

impl<K: Key, T: Value> Value for BTreeMap<K, T> {
    fn read(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        read_table(node, path, issues, T::read_item)
    }

    fn to_json(&self) -> JsonValue<'_> {
        JsonObject::table(self, Value::to_json)
    }
}

/// The members of an object by their keys.
pub(super) fn read_table<'t, K: Key, T>(
    node: &Node<'t>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
    read: impl Fn(&Node<'t>, &KeyPath<'_>, &Issues<'_>) -> Option<T>,
) -> Option<BTreeMap<K, T>> {
    let Json::Object(members) = &node.value else {
        issues.report_wrong_kind(node, path, "an object");
        return None;
    };
    let mut table = BTreeMap::new();
    for Member { at, key, node } in members {
        let path = path.join_key(key);
        let Some(name) = K::parse_key(key) else {
            let message = format!("`{key}` cannot be a key here");
            issues.error(*at, &path, message, "");
            continue;
        };
        if let Some(value) = read(node, &path, issues) {
            table.insert(name, value);
        }
    }
    Some(table)
}

impl Key for u64 {
    /// A whole number as it is counted, without leading zeros.
    fn parse_key(text: &str) -> Option<Self> {
        text.parse()
            .ok()
            .filter(|key: &Self| key.to_string() == text)
    }
}

impl Key for PullNumber {
    fn parse_key(text: &str) -> Option<Self> {
        u64::parse_key(text).map(Self)
    }
}

macro_rules! text_keys {
    ($($type:ident),*) => {$(
        impl Key for $type {
            fn parse_key(text: &str) -> Option<Self> {
                Some(text.into())
            }
        }
    )*};
}

text_keys!(String, TrackName, PersonaId, Slot);

fn read_flag(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<bool> {
    if let Json::Bool(truth) = node.value {
        return Some(truth);
    }
    issues.report_wrong_kind(node, path, "a truth value");
    None
}

fn read_text<'n>(node: &'n Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<&'n str> {
    if let Json::Text(text) = &node.value {
        return Some(text);
    }
    issues.report_wrong_kind(node, path, "a text");
    None
}

fn read_name<'n>(node: &'n Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<&'n str> {
    read_text(node, path, issues).filter(|text| !text.is_empty())
}

fn read_number(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<u64> {
    let Json::Number(digits) = &node.value else {
        issues.report_wrong_kind(node, path, "a whole number");
        return None;
    };
    let number = digits.parse().ok();
    if number.is_none() {
        let message = format!("`{digits}` is not a whole number from 0 to {}", u64::MAX);
        issues.error(node.at, path, message, "");
    }
    number
}

fn read_count(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<u32> {
    let number = read_number(node, path, issues)?;
    let count = u32::try_from(number).ok();
    if count.is_none() {
        let most = u32::MAX;
        let message = format!("`{number}` is too large; at most {most} can stand here");
        issues.error(node.at, path, message, "");
    }
    count
}

fn read_turn_id(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<TurnId> {
    let id = match &node.value {
        Json::Text(text) => TurnId::parse(text),
        _ => None,
    };
    if id.is_none() {
        let message = "this is not a turn id: 12 characters of lower-case Crockford base32";
        issues.error(node.at, path, message, "");
    }
    id
}

/// The largest whole number that every JSON program keeps exactly (2^53 - 1).
const MAX_SAFE_NUMBER: u64 = (1 << 53) - 1;

/// A time with its offset from UTC, as RFC 3339 writes it.
fn read_time(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Timestamp> {
    let Json::Text(text) = &node.value else {
        issues.report_wrong_kind(node, path, "a time");
        return None;
    };
    let time = text.parse().ok();
    if time.is_none() {
        let help = "write it like `2026-01-14T10:00:00Z`";
        issues.error(node.at, path, format!("`{text}` is not a time"), help);
    }
    time
}

/// A session id: text, or a number so small that no program on the way can have rounded it.
fn read_session(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<SessionId> {
    match &node.value {
        Json::Text(text) if text.is_empty() => {
            issues.warning(
                node.at,
                path,
                "the session id is empty and reads as null",
                "",
            );
            None
        }
        Json::Text(text) => Some(SessionId::new(text.clone())),
        Json::Number(digits) => {
            let exact = digits.parse().is_ok_and(|n: u64| n <= MAX_SAFE_NUMBER);
            if !exact {
                let message = format!(
                    "the session id {digits} stands here as a number, and one of this size may have lost digits"
                );
                let help = "look it up in Jules and write it as a text, in double quotes";
                issues.error(node.at, path, message, help);
            }
            exact.then(|| SessionId::new(*digits))
        }
        _ => {
            issues.report_wrong_kind(node, path, "a session id (a text)");
            None
        }
    }
}
