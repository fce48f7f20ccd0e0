//! The root folder of the repository in which a command is run.

use std::path::{Path, PathBuf};

use super::worktree;

/// The folder of the layers' configuration.
pub(crate) const LAYERS_FOLDER: &str = ".jlo";

/// Folders of a repository that is set up, by hand or by `init`.
pub(crate) const SET_UP: [&str; 2] = [".jules", LAYERS_FOLDER];

/// The root of the repository that contains a folder. GitHub reads a plan at the root only, so a folder below it means
/// the root. A folder with a plan of its own that the command line names stays. Outside of git, and without git, each
/// folder is its own root.
pub(crate) fn repository_root(dir: PathBuf) -> PathBuf {
    match dir == Path::new(".") {
        true => root_above(dir),
        false => ledger_root(dir),
    }
}

/// The root of the checkout of the ledger that contains a folder. The checkout may lie in another repository, so a folder
/// with files of its own stays, even the one in which the command is run.
pub(crate) fn ledger_root(dir: PathBuf) -> PathBuf {
    match SET_UP.iter().any(|folder| dir.join(folder).is_dir()) {
        true => dir,
        false => root_above(dir),
    }
}

fn root_above(dir: PathBuf) -> PathBuf {
    match worktree::path_to_root(&dir) {
        Some(up) if dir == Path::new(".") => up,
        Some(up) => dir.join(up),
        None => dir,
    }
}
