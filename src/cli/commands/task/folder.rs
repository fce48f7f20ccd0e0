//! The task files of a folder.

use std::io::Write;
use std::path::Path;

use phileas_domain::board::Change;
use phileas_domain::model::Tree;
use serde_json::json;

use crate::adapters::files::{self, ReadError};
use crate::cli::exit::Stopped;
use crate::cli::terminal::output::Screen;

/// Says what was done.
pub(crate) fn tell(
    done: &Change,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    if json {
        screen
            .line(&json!({ "file": done.to, "from": done.from, "done": done.done }).to_string())?;
    } else {
        screen.line(&format!("{}: {}", done.to, done.done))?;
    }
    Ok(())
}

pub(crate) fn read(dir: &Path) -> Result<Tree, Stopped> {
    Ok(files::read_tree(dir)?)
}

pub(crate) fn refused(error: ReadError) -> Stopped {
    error.into()
}
