//! The names of the files in a data directory, and how they are made.

use std::fs::{File, OpenOptions};
use std::path::Path;

/// The file's name in the data directory.
pub const DATABASE: &str = "inbox.sqlite3";
/// The file that is locked, and that says by whom.
pub(super) const LOCK: &str = "lock";

/// Makes the entries of a folder durable, where the system can.
pub(super) fn sync_folder(path: &Path) {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    // Not every file system can; then there is nothing that could be done about it.
    let _cannot = File::open(path).and_then(|folder| folder.sync_all());
}

/// Lets a file that is made be its owner's alone.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
