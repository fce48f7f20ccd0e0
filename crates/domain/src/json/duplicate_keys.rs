//! Finds keys that stand twice in an object of a text that people wrote.

use super::parser::parse;
use crate::Diagnostic;

/// Which keys stand twice in an object of a text that people wrote, with both places. What is no JSON has none.
pub fn doubled_keys(file: &str, text: &str) -> Vec<Diagnostic> {
    // What is no JSON to this reader is told by the one that reads the types.
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let found = parse(file, text).err().filter(|_| is_json);
    found.unwrap_or_default()
}
