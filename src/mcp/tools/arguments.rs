//! Parses arguments in the forms in which models write them, and checks limits.

use serde::Deserialize;

use super::super::tool_error::ToolError;

/// Reads a list of texts. Some models write a single text, or the list as a JSON text.
pub(super) fn list_or_one<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Many(Vec<String>),
        One(String),
        Nothing(()),
    }
    Ok(match Given::deserialize(from) {
        Ok(Given::Many(texts)) => texts,
        Ok(Given::One(text)) => match serde_json::from_str(text.trim()) {
            Ok(texts) => texts,
            Err(_) if text.trim().is_empty() => Vec::new(),
            Err(_) => vec![text],
        },
        Ok(Given::Nothing(())) => Vec::new(),
        Err(_) => return Err(serde::de::Error::custom("it must be a list of texts")),
    })
}

/// Checks a limit that a client wrote.
pub(super) fn check_limit(given: Option<u32>, usual: u32, most: u32) -> Result<usize, ToolError> {
    let limit = given.unwrap_or(usual);
    if (1..=most).contains(&limit) {
        Ok(limit as usize)
    } else {
        Err(ToolError::input(format!(
            "`limit` is {limit}; it must be between 1 and {most}"
        )))
    }
}
