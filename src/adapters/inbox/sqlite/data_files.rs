//! Names of the files in a data directory, and how they are created.

use std::fs::{File, OpenOptions};
use std::path::Path;

/// The name of the database file.
pub const DATABASE: &str = "inbox.sqlite3";
/// The lock file, which names its holder.
pub(super) const LOCK: &str = "lock";

/// Makes the entries of a folder durable, if the system can.
pub(super) fn sync_folder(path: &Path) {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    // Some file systems cannot; nothing more can be done then.
    let _cannot = File::open(path).and_then(|folder| folder.sync_all());
}

/// Makes a new file accessible to its owner only.
pub(super) fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
