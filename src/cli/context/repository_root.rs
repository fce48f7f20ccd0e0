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
    let is_here = dir == Path::new(".");
    if !is_here && SET_UP.iter().any(|folder| dir.join(folder).is_dir()) {
        return dir;
    }
    match worktree::path_to_root(&dir) {
        Some(up) if is_here => up,
        Some(up) => dir.join(up),
        None => dir,
    }
}
