//! Text from bytes, with the place of the first byte that is none.

/// Bytes that are not text in UTF-8, and where that shows first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not text in UTF-8")]
pub struct NotUtf8 {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

/// The text of bytes in UTF-8.
///
/// # Errors
///
/// [`NotUtf8`].
pub fn utf8_text(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line_start = sound.iter().rposition(|byte| *byte == b'\n');
        NotUtf8 {
            line: sound.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: sound.len() - line_start.map_or(0, |end| end + 1) + 1,
        }
    })
}
