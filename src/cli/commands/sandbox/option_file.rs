//! A text file that an option names.

use std::path::Path;

use crate::cli::exit::Stopped;

/// The text of a file that an option names.
pub(crate) fn read(option: &str, path: &Path) -> Result<String, Stopped> {
    std::fs::read_to_string(path).map_err(|error| {
        Stopped::usage(format!(
            "{option} {}: {error}; let {option} name a file of text that this user may read",
            path.display()
        ))
    })
}
