//! Reads types from JSON values. An error names the key, and says in plain words what is wrong with the value.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::toml_text::{error_text, unknown_field};

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}{help}", if .help.is_empty() { "" } else { "; " })]
pub struct JsonValueError {
    /// The key, and what is wrong.
    pub what: String,
    /// How to fix it; may be empty.
    pub help: String,
}

/// Reads a type from a value.
///
/// # Errors
///
/// The first mistake.
pub fn read_json_value<T: DeserializeOwned>(value: Value) -> Result<T, JsonValueError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        let (what, help) = error_text(&message, None, "an object");
        let what = match path.as_str() {
            // The error names an unknown key itself.
            "." => what,
            key if unknown_field(&message) == Some(key) => what,
            key => format!("`{key}`: {what}"),
        };
        JsonValueError { what, help }
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Garden {
        name: String,
        #[serde(default)]
        beds: Vec<Bed>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Bed {
        rows: u32,
    }

    #[test]
    fn an_error_names_the_key_and_says_what_to_write() {
        for (value, wanted) in [
            (
                json!({"name": 1}),
                "`name`: expected a text, found a whole number; write a text between double quotes",
            ),
            (json!({}), "`name` is missing; add it"),
            (
                json!({"name": "x", "bed": []}),
                "unknown key `bed`; did you mean `beds`?",
            ),
            (
                json!({"name": "x", "beds": [{"rows": 1}, {"rows": -1}]}),
                "`beds[1].rows`: -1 is out of range; write a whole number from 0 to 4294967295",
            ),
            (
                json!({"name": "x", "beds": [{}]}),
                "`beds[0]`: `rows` is missing; add it",
            ),
            (
                json!({"name": "x", "beds": [null]}),
                "`beds[0]`: expected an object, found null; write an object",
            ),
            (
                json!([]),
                "expected an object, found an array; write an object",
            ),
        ] {
            let error = read_json_value::<Garden>(value.clone()).unwrap_err();
            assert_eq!(error.to_string(), wanted, "{value}");
        }
        read_json_value::<Garden>(json!({"name": "x", "beds": [{"rows": 3}]})).unwrap();
    }
}
