//! A value and where it stands.

use std::ops::Range;

use serde_json::{Map, Number};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
    /// The bytes of the file that write it; of a list or map only its beginning, of a block of text nothing.
    pub(crate) range: Range<usize>,
    /// What it is.
    pub(crate) value: Value,
}

/// What a [`Node`] is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The value of a key, where this is a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else {
            return None;
        };
        let found = entries.iter().find(|(name, _)| name.text() == Some(key));
        found.map(|(_, value)| value)
    }

    /// The text, where this is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, where this is a whole one.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self.value {
            Value::Integer(number) => Some(number),
            // JSON knows one kind of number, and 2.0 is whole.
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                Some(number as i64)
            }
            _ => None,
        }
    }

    /// The elements, where this is a list; else none.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The same value in JSON. Keys that are no texts, and numbers that JSON has no word for, become texts.
    pub(crate) fn json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Flag(flag) => Json::Bool(*flag),
            Value::Integer(number) => Json::from(*number),
            Value::Float(number) => Number::from_f64(*number)
                .map_or_else(|| Json::String(number.to_string()), Json::Number),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Node::json).collect(),
            Value::Map(entries) => {
                let entry = |(key, value): &(Node, Node)| {
                    let key = match key.text() {
                        Some(text) => text.to_owned(),
                        None => key.json().to_string(),
                    };
                    (key, value.json())
                };
                Json::Object(entries.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }

    /// What it is, for people.
    pub(crate) fn is_called(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Flag(_) => "a truth value",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}
