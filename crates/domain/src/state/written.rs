//! What is about to be written: an object whose keys stand in the order in which they were put.
//!
//! A ledger is written at every step of every tick, so keys and words are lent where they can be, and no table is built
//! to find a key that nobody looks for.

use std::borrow::Cow;
use std::fmt::Display;

use jiff::Timestamp;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::Extra;

/// A value in the making.
pub(super) enum Written<'s> {
    /// `null`
    Null,
    /// A truth value.
    Bool(bool),
    /// A number; the ledger has no others.
    Number(u64),
    /// A text.
    Text(Cow<'s, str>),
    /// A list.
    List(Vec<Written<'s>>),
    /// An object.
    Object(Object<'s>),
    /// What this version does not know, as it was found.
    Kept(&'s Value),
}

impl From<bool> for Written<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Written<'_> {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

impl From<u64> for Written<'_> {
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl<'s> From<&'s str> for Written<'s> {
    fn from(text: &'s str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Written<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'s, T: Into<Written<'s>>> From<Option<T>> for Written<'s> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'s, T: Into<Written<'s>>> From<Vec<T>> for Written<'s> {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl Serialize for Written<'_> {
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
pub(super) struct Object<'s> {
    entries: Vec<(Cow<'s, str>, Written<'s>)>,
    /// Known keys that are left out, for they say nothing.
    left_out: Vec<&'static str>,
}

impl<'s> Object<'s> {
    /// A key that is always there.
    pub(super) fn put(&mut self, key: &'static str, value: impl Into<Written<'s>>) {
        self.entries.push((Cow::Borrowed(key), value.into()));
    }

    /// A value that is left out where it says nothing.
    pub(super) fn put_if(&mut self, key: &'static str, value: impl Into<Written<'s>>, says: bool) {
        if says {
            self.put(key, value);
        } else {
            self.left_out.push(key);
        }
    }

    /// A text that is always there, null where unknown.
    pub(super) fn text(&mut self, key: &'static str, value: Option<&impl Display>) {
        self.put(key, value.map(ToString::to_string));
    }

    /// A text that is left out where unknown.
    pub(super) fn text_if(&mut self, key: &'static str, value: Option<&impl Display>) {
        match value {
            Some(value) => self.put(key, value.to_string()),
            None => self.left_out.push(key),
        }
    }

    /// A time that is always there, null where unknown.
    pub(super) fn time(&mut self, key: &'static str, value: Option<&Timestamp>) {
        self.put(key, value.map(time));
    }

    /// A time that is left out where unknown.
    pub(super) fn time_if(&mut self, key: &'static str, value: Option<&Timestamp>) {
        match value {
            Some(value) => self.put(key, time(value)),
            None => self.left_out.push(key),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str, values: &[impl Display]) {
        let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
        self.put(key, texts);
    }

    /// A table.
    pub(super) fn table<K: Display + 's, T: 's>(
        &mut self,
        key: &'static str,
        entries: impl IntoIterator<Item = (&'s K, &'s T)>,
        write: impl Fn(&'s T) -> Written<'s>,
    ) {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (Cow::Owned(key.to_string()), write(value)))
            .collect();
        let table = Self {
            entries,
            ..Self::default()
        };
        self.put(key, Written::Object(table));
    }

    /// The object with the keys that this version does not know at its end. A known key is never written over; where its
    /// value still is what was found, it is written as it was found.
    pub(super) fn with(mut self, extra: &'s Extra) -> Written<'s> {
        for (key, value) in extra {
            let known = self.entries.iter_mut().find(|(known, _)| known == key);
            match known {
                Some((_, written)) if written.says(value) => *written = Written::Kept(value),
                Some(_) => {}
                None if !self.left_out.contains(&key.as_str()) || Written::Null.says(value) => {
                    self.entries
                        .push((Cow::Borrowed(key), Written::Kept(value)));
                }
                None => {}
            }
        }
        Written::Object(self)
    }
}

impl Written<'_> {
    /// Whether a value that was found in a file says the same in another way: a time with another offset, a session's
    /// number without quotes, an empty text for null, a pause without its object.
    fn says(&self, found: &Value) -> bool {
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

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.entries.len()))?;
        for (key, value) in &self.entries {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The whole file as text.
pub(super) fn text(value: &Written<'_>) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a JSON value has texts as its keys");
    text.push('\n');
    text
}

/// A time in UTC; with six digits of a second where there are any, as other programs wrote and read them.
pub(super) fn time(at: &Timestamp) -> String {
    match at.subsec_nanosecond() {
        0 => at.to_string(),
        nanos if nanos % 1000 == 0 => format!("{at:.6}"),
        _ => at.to_string(),
    }
}
