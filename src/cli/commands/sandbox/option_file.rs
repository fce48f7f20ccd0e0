//! A text file that an option names.

use std::path::Path;

use crate::adapters::files::read_text;
use crate::cli::exit::CliError;

/// Reads the text file that an option names.
pub(crate) fn read_option_file(option: &str, path: &Path) -> Result<String, CliError> {
    read_text(path).map_err(|error| {
        let error = error.text_with_help(&format!("give {option} a text file that you may read"));
        CliError::usage(format!("{option} {}: {error}", path.display()))
    })
}
