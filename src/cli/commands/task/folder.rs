//! The task files of a folder.

use std::io::Write;
use std::path::Path;

use phileas_domain::board::Change;
use phileas_domain::model::Tree;
use serde_json::json;

use crate::adapters::files::{self, FileError};
use crate::cli::exit::CliError;
use crate::cli::terminal::output::Screen;

/// Prints a change that was made.
pub(crate) fn print_change(
    done: &Change,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    if json {
        screen.print_line(
            &json!({ "file": done.to, "from": done.from, "done": done.done }).to_string(),
        )?;
    } else {
        screen.print_line(&format!("{}: {}", done.to, done.done))?;
    }
    Ok(())
}

pub(crate) fn read_folder(dir: &Path) -> Result<Tree, CliError> {
    Ok(files::read_tree(dir)?)
}

pub(crate) fn read_error(error: FileError) -> CliError {
    error.into()
}
