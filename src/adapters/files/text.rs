//! Text files that an option or a setting names.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use phileas_domain::{NotUtf8, utf8_text};

/// Why a text file cannot be read, without its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    detail: String,
    /// How to fix it, where that is no matter of the path or of permissions.
    help: Option<&'static str>,
}

impl TextError {
    /// The error with its own help, or else with a default one.
    #[must_use]
    pub fn text_with_help(&self, default: &str) -> String {
        format!("{}; {}", self.detail, self.help.unwrap_or(default))
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

impl From<NotUtf8> for TextError {
    fn from(error: NotUtf8) -> Self {
        Self {
            detail: error.to_string(),
            help: Some("save it as UTF-8"),
        }
    }
}

impl From<io::Error> for TextError {
    fn from(error: io::Error) -> Self {
        Self {
            detail: error.to_string(),
            help: None,
        }
    }
}

/// Reads at most `limit` bytes; `None`: there are more. Pipes and devices have no length that could be asked for.
///
/// # Errors
///
/// When the source cannot be read.
pub fn read_limited(source: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    let is_whole = bytes.len() as u64 <= limit;
    Ok(is_whole.then_some(bytes))
}

/// Reads a text file.
///
/// # Errors
///
/// Why it cannot be read; where it is not text in UTF-8, the place where that shows first.
pub fn read_text(path: &Path) -> Result<String, TextError> {
    let bytes = std::fs::read(path).map_err(|error| open_error(path, error))?;
    Ok(utf8_text(bytes)?)
}

/// Reads a text file of at most `limit` bytes.
///
/// # Errors
///
/// Likewise, and when it is larger.
pub fn read_limited_text(path: &Path, limit: u64) -> Result<String, TextError> {
    let file = File::open(path).map_err(|error| open_error(path, error))?;
    let bytes = read_limited(file, limit)?.ok_or_else(|| TextError {
        detail: format!("it is larger than {limit} bytes"),
        help: Some("shorten it"),
    })?;
    Ok(utf8_text(bytes)?)
}

/// A link to a missing file is seen in its folder, so "no such file" would be misleading.
fn open_error(path: &Path, error: io::Error) -> TextError {
    if error.kind() == io::ErrorKind::NotFound && path.is_symlink() {
        return TextError {
            detail: "it is a symbolic link to a file that does not exist".to_owned(),
            help: Some("correct the link"),
        };
    }
    error.into()
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
        let said = "line 2, column 3 is not text in UTF-8; save it as UTF-8";
        assert_eq!(wrong.to_string(), said);
        assert_eq!(wrong.text_with_help("name another one"), said);
        std::fs::write(&path, "# é\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "# é\n");
        let long = read_limited_text(&path, 3).unwrap_err();
        assert_eq!(long.to_string(), "it is larger than 3 bytes; shorten it");
        assert!(read_limited_text(&path, 5).is_ok());
    }

    #[test]
    fn a_source_without_a_length_is_read_up_to_the_limit() {
        assert_eq!(read_limited(io::repeat(b'a'), 8).unwrap(), None);
        assert_eq!(read_limited(&b"four"[..], 4).unwrap().unwrap(), b"four");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_named_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("link");
        std::os::unix::fs::symlink("nothing", &path).unwrap();
        for read in [read_text(&path), read_limited_text(&path, 8)] {
            let said = "it is a symbolic link to a file that does not exist; correct the link";
            assert_eq!(read.unwrap_err().to_string(), said);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_read_without_end() {
        let long = read_limited_text(Path::new("/dev/zero"), 8).unwrap_err();
        assert_eq!(long.to_string(), "it is larger than 8 bytes; shorten it");
    }
}
