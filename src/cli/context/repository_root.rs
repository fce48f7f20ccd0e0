//! The root folder of the repository in which a command is run.

use std::path::{Path, PathBuf};

use super::worktree;

/// Where the layers are set up.
pub(crate) const LAYERS_FOLDER: &str = ".jlo";

/// What a repository's folder has that was set up by hand or by `init`.
pub(crate) const SET_UP: [&str; 2] = [".jules", LAYERS_FOLDER];

/// The folder of the repository that a folder lies in. GitHub knows a plan at the root alone, so a folder below it is none,
/// except where the command line names one that has a plan of its own. Outside of git, and without git, each folder is
/// its own root.
pub(crate) fn root_of(dir: PathBuf) -> PathBuf {
    let is_here = dir == Path::new(".");
    if !is_here && SET_UP.iter().any(|folder| dir.join(folder).is_dir()) {
        return dir;
    }
    match worktree::way_up(&dir) {
        Some(up) if is_here => up,
        Some(up) => dir.join(up),
        None => dir,
    }
}
