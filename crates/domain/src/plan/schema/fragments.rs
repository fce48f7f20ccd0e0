//! Pieces of a JSON Schema that several keys share.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use crate::plan::keywords::Keyword;

/// A span of time. It takes an empty text, too, so a key that uses it has a least length.
pub(super) const SPAN: &str =
    r"^\s*([0-9]+[dD]\s*)?([0-9]+[hH]\s*)?([0-9]+[mM]\s*)?([0-9]+[sS]\s*)?$";

pub(super) fn table(description: &str, properties: impl Iterator<Item = (String, Value)>) -> Value {
    json!({
        "description": description,
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// One of a knob's words, with its default.
pub(super) fn keyword_schema<W: Keyword>(description: &str) -> Value {
    let words = W::all();
    json!({ "description": description, "enum": words, "default": words[0] })
}

pub(super) fn limits(description: &str, limits: RangeInclusive<u32>) -> Value {
    json!({
        "description": description,
        "type": "integer",
        "minimum": limits.start(),
        "maximum": limits.end(),
    })
}

pub(super) fn figure(description: &str, range: RangeInclusive<u32>, usual: u32) -> Value {
    let mut figure = limits(description, range);
    figure["default"] = usual.into();
    figure
}

/// What a key of the reader looks like that nobody has described. A test finds it.
pub(super) fn unknown() -> Value {
    json!({})
}
