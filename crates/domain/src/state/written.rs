//! What is about to be written: an object whose keys stand in the order in which they were put.
//!
//! A ledger is written at every step of every tick, so keys and words are lent where they can be, and no table is built
//! to find a key that no code reads.

use std::borrow::Cow;
use std::fmt::Display;

use jiff::Timestamp;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::Extra;
use crate::json::{Node, Value as Json};

/// A value in the making.
pub(super) enum JsonValue<'s> {
    /// `null`
    Null,
    /// A truth value.
    Bool(bool),
    /// A number; the ledger has no others.
    Number(u64),
    /// A text.
    Text(Cow<'s, str>),
    /// A list.
    List(Vec<JsonValue<'s>>),
    /// An object.
    Object(JsonObject<'s>),
    /// What this version does not know, as it was found.
    Kept(&'s Value),
}

impl From<bool> for JsonValue<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for JsonValue<'_> {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

impl From<u64> for JsonValue<'_> {
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl<'s> From<&'s str> for JsonValue<'s> {
    fn from(text: &'s str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for JsonValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'s, T: Into<JsonValue<'s>>> From<Option<T>> for JsonValue<'s> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Serialize for JsonValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(value) => to.serialize_u64(*value),
            Self::Text(text) => to.serialize_str(text),
            Self::List(items) => to.collect_seq(items),
            Self::Object(object) => object.serialize(to),
            Self::Kept(value) => value.serialize(to),
        }
    }
}

/// An object in the making.
#[derive(Default)]
pub(super) struct JsonObject<'s> {
    entries: Vec<(Cow<'s, str>, JsonValue<'s>)>,
    /// Known keys that are left out, for they say nothing.
    left_out: Vec<&'static str>,
}

impl<'s> JsonObject<'s> {
    /// A key that is always there.
    pub(super) fn put(&mut self, key: &'static str, value: impl Into<JsonValue<'s>>) {
        self.entries.push((Cow::Borrowed(key), value.into()));
    }

    /// A value that is left out where it says nothing.
    pub(super) fn put_if(
        &mut self,
        key: &'static str,
        value: impl Into<JsonValue<'s>>,
        says: bool,
    ) {
        if says {
            self.put(key, value);
        } else {
            self.left_out.push(key);
        }
    }

    /// A table.
    pub(super) fn table<K: Display + 's, T: 's>(
        entries: impl IntoIterator<Item = (&'s K, &'s T)>,
        write: impl Fn(&'s T) -> JsonValue<'s>,
    ) -> JsonValue<'s> {
        let entries = entries.into_iter();
        let entries = entries.map(|(key, value)| (Cow::Owned(key.to_string()), write(value)));
        JsonValue::Object(Self {
            entries: entries.collect(),
            ..Self::default()
        })
    }

    /// The object with the keys that this version does not know at its end. A known key is never written over; where its
    /// value still is what was found, it is written as it was found.
    pub(super) fn finish(mut self, extra: &'s Extra) -> JsonValue<'s> {
        for (key, value) in extra {
            let known = self.entries.iter_mut().find(|(known, _)| known == key);
            match known {
                Some((_, written)) if written.same_as(value) => *written = JsonValue::Kept(value),
                Some(_) => {}
                None if !self.left_out.contains(&key.as_str())
                    || JsonValue::Null.same_as(value) =>
                {
                    self.entries
                        .push((Cow::Borrowed(key), JsonValue::Kept(value)));
                }
                None => {}
            }
        }
        JsonValue::Object(self)
    }
}

impl JsonValue<'_> {
    /// Whether a value that is no list or object is written in the file in exactly this way.
    pub(super) fn is_node(&self, node: &Node<'_>) -> bool {
        match (self, &node.value) {
            (Self::Bool(value), Json::Bool(found)) => value == found,
            (Self::Number(value), Json::Number(digits)) => digits.parse() == Ok(*value),
            (Self::Text(text), Json::Text(found)) => text == found,
            _ => false,
        }
    }

    /// Whether a value that was found in a file says the same in another way: a time with another offset, a session's
    /// number without quotes, an empty text for null, a pause without its object.
    fn same_as(&self, found: &Value) -> bool {
        match (self, found) {
            (Self::Text(text), Value::String(found)) => {
                let at = |text: &str| text.parse::<Timestamp>().ok();
                at(found).is_some_and(|found| at(text) == Some(found))
            }
            (Self::Text(text), Value::Number(found)) => *text == found.to_string(),
            (Self::Null, Value::String(found)) => found.is_empty(),
            (Self::Null, Value::Bool(found)) => !found,
            (Self::Object(object), Value::Bool(found)) => *found && object.entries.is_empty(),
            (Self::Object(object), Value::String(found)) => {
                matches!(object.entries.as_slice(), [(key, Self::Text(text))] if key == "reason" && text == found)
            }
            _ => false,
        }
    }
}

impl Serialize for JsonObject<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.entries.len()))?;
        for (key, value) in &self.entries {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The whole file as text.
pub(super) fn render_text(value: &JsonValue<'_>) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a JSON value has texts as its keys");
    text.push('\n');
    text
}

/// A time in UTC; with six digits of a second where there are any, as other programs wrote and read them.
pub(super) fn format_time(at: &Timestamp) -> String {
    match at.subsec_nanosecond() {
        0 => at.to_string(),
        nanos if nanos % 1000 == 0 => format!("{at:.6}"),
        _ => at.to_string(),
    }
}
