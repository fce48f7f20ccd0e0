//! Truncates texts and marks them as truncated, because an agent pays for each word.

use schemars::JsonSchema;
use serde::Serialize;

/// A text, and whether it is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct TextLimit {
    /// The text, or its beginning.
    pub(super) text: String,
    /// Whether its end is left out.
    pub(super) truncated: bool,
    /// The length of the whole text, in bytes.
    pub(super) total_bytes: usize,
}

impl TextLimit {
    /// Keeps at most `max_bytes` of a text, and never splits a character.
    pub(super) fn new(text: &str, max_bytes: usize) -> Self {
        let end = char_boundary_before(text, max_bytes);
        Self {
            text: text[..end].to_owned(),
            truncated: end < text.len(),
            total_bytes: text.len(),
        }
    }
}

/// Returns the last boundary between characters at or before this byte.
pub(super) fn char_boundary_before(text: &str, byte: usize) -> usize {
    if byte >= text.len() {
        return text.len();
    }
    (0..=byte)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        let cut = TextLimit::new("aé€", 4);
        assert_eq!(
            (cut.text.as_str(), cut.truncated, cut.total_bytes),
            ("aé", true, 6)
        );
        assert!(!TextLimit::new("aé€", 6).truncated);
        assert_eq!(TextLimit::new("€", 1).text, "");
    }
}
