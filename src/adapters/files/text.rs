//! Text files that an option or a setting names.

use std::path::Path;

/// Reads a text file.
///
/// # Errors
///
/// Why it cannot be read, without its path; where it is not text in UTF-8, the line in which that shows first.
pub fn read_text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = sound.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not text in UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_another_encoding_is_refused_with_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, b"# \xc3\xa9\n# \xe9\n").unwrap();
        assert_eq!(read_text(&path).unwrap_err(), "line 2 is not text in UTF-8");
        std::fs::write(&path, "# é\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "# é\n");
    }
}
