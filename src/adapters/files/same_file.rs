//! Whether two paths are one file.

use std::path::Path;

/// Whether two paths are the same on a file system that ignores case.
pub(super) fn differ_in_case(one: &str, other: &str) -> bool {
    one != other && one.to_lowercase() == other.to_lowercase()
}

/// Whether two paths lead to the same file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let mark = |path: &Path| path.symlink_metadata().map(|meta| (meta.dev(), meta.ino()));
        matches!((mark(one), mark(other)), (Ok(one), Ok(other)) if one == other)
    }
    #[cfg(not(unix))]
    {
        matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
    }
}
