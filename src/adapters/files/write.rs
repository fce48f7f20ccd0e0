//! Writes one file whole or not at all, below a folder and never through a link.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

/// The prefix of temporary files. Files of a killed process are ignored.
pub(super) const STAGED_PREFIX: &str = ".phileas-new-";

/// A path, and why it cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct FileError {
    /// Where.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// Checks that a path neither leaves the folder nor leads through a link.
pub(super) fn refuse_outside_path(root: &Path, path: &str) -> Result<(), FileError> {
    let refused = |what: &str| FileError {
        path: root.join(path),
        source: io::Error::new(io::ErrorKind::InvalidInput, what.to_owned()),
    };
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(path).components().all(plain) {
        return Err(refused("it leaves the folder; name one below it"));
    }
    let mut folder = root.to_owned();
    for part in Path::new(path).components() {
        folder.push(part);
        if folder.is_symlink() {
            return Err(refused(
                "it leads through a link, and nothing is written through links; put there what it leads to",
            ));
        }
    }
    Ok(())
}

/// Refuses a link to a file, because its target may be anywhere. A link to something else, as `/dev/stdout` is, is
/// accepted.
///
/// # Errors
///
/// When it is a link to a file.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    let leads_to_file = || path.metadata().map_or(true, |meta| meta.is_file());
    if path.is_symlink() && leads_to_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a symbolic link, and nothing is written through links; name the file that it leads to",
        ));
    }
    Ok(())
}

/// A temporary file with a text, synced to the disk, that is deleted unless it is persisted.
pub(super) fn stage_file(
    folder: &Path,
    text: &str,
    permissions: Option<fs::Permissions>,
) -> io::Result<NamedTempFile> {
    let new = tempfile::Builder::new()
        .prefix(STAGED_PREFIX)
        .make_in(folder, |path| fs::File::create_new(path))?;
    write_synced(new.as_file(), text, permissions)?;
    Ok(new)
}

/// Whether the disk or the quota is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Writes a text into a new file and syncs it. `permissions`: those of the replaced file.
pub(super) fn write_synced(
    mut file: &fs::File,
    text: &str,
    permissions: Option<fs::Permissions>,
) -> io::Result<()> {
    if let Some(permissions) = permissions
        && file.metadata()?.permissions() != permissions
    {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
