//! Text files that an option or a setting names.

use std::fmt;
use std::path::Path;

/// Why a text file cannot be read, without its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    detail: String,
    /// How to fix it, where that is no matter of the path or of permissions.
    help: Option<&'static str>,
}

impl TextError {
    /// The error with its own help, or else with another one.
    #[must_use]
    pub fn or_help(&self, other: &str) -> String {
        format!("{}; {}", self.detail, self.help.unwrap_or(other))
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)?;
        match self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// Reads a text file.
///
/// # Errors
///
/// Why it cannot be read; where it is not text in UTF-8, the line in which that shows first.
pub fn read_text(path: &Path) -> Result<String, TextError> {
    let bytes = std::fs::read(path).map_err(|error| TextError {
        detail: error.to_string(),
        help: None,
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = sound.iter().filter(|byte| **byte == b'\n').count() + 1;
        TextError {
            detail: format!("line {line} is not text in UTF-8"),
            help: Some("save it as UTF-8"),
        }
    })
}

/// Reads a text file of at most so many bytes.
///
/// # Errors
///
/// Likewise, and when it is larger.
pub fn read_short_text(path: &Path, most: u64) -> Result<String, TextError> {
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    if size > most {
        return Err(TextError {
            detail: format!("it is larger than {most} bytes"),
            help: Some("shorten it"),
        });
    }
    read_text(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_another_encoding_is_refused_with_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, b"# \xc3\xa9\n# \xe9\n").unwrap();
        let wrong = read_text(&path).unwrap_err();
        let said = "line 2 is not text in UTF-8; save it as UTF-8";
        assert_eq!(wrong.to_string(), said);
        assert_eq!(wrong.or_help("name another one"), said);
        std::fs::write(&path, "# é\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "# é\n");
        let long = read_short_text(&path, 3).unwrap_err();
        assert_eq!(long.to_string(), "it is larger than 3 bytes; shorten it");
        assert!(read_short_text(&path, 5).is_ok());
    }
}
