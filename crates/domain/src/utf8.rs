//! Text from bytes, with the place of the first byte that is none.

/// Bytes that are not text in UTF-8, and where that shows first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column} is not text in UTF-8")]
pub struct NotUtf8 {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
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
        let sound = String::from_utf8_lossy(sound);
        let last_line = sound.rsplit('\n').next().unwrap_or_default();
        NotUtf8 {
            line: sound.matches('\n').count() + 1,
            column: last_line.chars().count() + 1,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_counted_in_characters() {
        for (bytes, line, column) in [
            (&b"\xff"[..], 1, 1),
            (b"# \xc3\xa9\n# \xc3\xa9\xe9", 2, 4),
            (b"a\n\xe9", 2, 1),
            (b"cut \xc3", 1, 5),
        ] {
            let wrong = utf8_text(bytes.to_vec()).unwrap_err();
            assert_eq!(wrong, NotUtf8 { line, column });
        }
        assert_eq!(utf8_text(b"# \xc3\xa9".to_vec()).unwrap(), "# é");
    }
}
