//! Reads values that may be null, missing, or of an unexpected type.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// `null` reads as the default, as a missing field does.
pub(super) fn defaulted<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A text; whole numbers (an id, an enum's number) become their digits, other types an empty text.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) => text,
        Value::Number(number) if number.is_u64() => number.to_string(),
        _ => String::new(),
    })
}

/// A value of the expected shape, or `None`. Only for fields that phileas can do without.
pub(super) fn if_readable<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

/// The part of a name after its last slash: `sessions/1/activities/2` is `2`, and `2` is `2`.
pub(super) fn last_segment(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}
