//! Texts that are cut, and say so: an agent pays for each of its words.

use schemars::JsonSchema;
use serde::Serialize;

/// A text, and whether it is all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct TextLimit {
    /// The text, from its beginning.
    pub(super) text: String,
    /// Whether its end is left out.
    pub(super) truncated: bool,
    /// How long the whole text is, in bytes.
    pub(super) total_bytes: usize,
}

impl TextLimit {
    /// The first bytes of a text; a character is never divided.
    pub(super) fn new(text: &str, max_bytes: usize) -> Self {
        let end = char_boundary_before(text, max_bytes);
        Self {
            text: text[..end].to_owned(),
            truncated: end < text.len(),
            total_bytes: text.len(),
        }
    }
}

/// The last boundary between characters that is not behind this byte.
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
