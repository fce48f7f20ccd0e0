//! Files of runs: read whole, replaced whole, never through a link.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use phileas_domain::pipeline::limits::ARTIFACT_LIMIT_BYTES;
use phileas_domain::utf8_text;
use tempfile::{NamedTempFile, TempPath};

use super::RunsError;

/// The text of a file; `None`: there is none.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, RunsError> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    utf8_text(bytes)
        .map(Some)
        .map_err(|error| RunsError::Refused {
            path: path.to_owned(),
            what: format!("{error}; write it as a text in UTF-8"),
        })
}

/// The bytes of a file; `None`: there is none.
pub(super) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, RunsError> {
    let bytes = read_limited_bytes(path)?;
    if bytes
        .as_ref()
        .is_some_and(|bytes| bytes.len() > ARTIFACT_LIMIT_BYTES)
    {
        return Err(RunsError::Refused {
            path: path.to_owned(),
            what: format!("it is larger than {ARTIFACT_LIMIT_BYTES} bytes; shorten it"),
        });
    }
    Ok(bytes)
}

/// The bytes of a file; of one that is larger than an artifact may be, one byte more than the limit. `None`: there is
/// none.
pub(super) fn read_limited_bytes(path: &Path) -> Result<Option<Vec<u8>>, RunsError> {
    let failed = |error| RunsError::from_io(path, error);
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !meta.is_file() {
        return Err(RunsError::Refused {
            path: path.to_owned(),
            what: "it is not a regular file, and no other is read; put a file in its place"
                .to_owned(),
        });
    }
    let file = fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(ARTIFACT_LIMIT_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(Some(bytes))
}

/// The length of a file, and when it was last written.
pub type Mark = (u64, SystemTime);

/// The mark of a file or folder; `None`: there is none.
pub(super) fn file_mark(path: &Path) -> Option<Mark> {
    let known = fs::symlink_metadata(path).ok()?;
    Some((known.len(), known.modified().ok()?))
}

/// Whether a folder is there.
pub(super) fn is_folder(path: &Path) -> Result<bool, RunsError> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(true),
        Ok(_) => Err(RunsError::Refused {
            path: path.to_owned(),
            what: "it is not a folder, and links are not followed; put a folder there".to_owned(),
        }),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(RunsError::from_io(path, error)),
    }
}

/// Creates a folder if it is missing. Its parent must exist, except for the first.
pub(super) fn make_folder(path: &Path) -> Result<(), RunsError> {
    if !is_folder(path)? {
        fs::create_dir_all(path).map_err(|error| RunsError::from_io(path, error))?;
    }
    Ok(())
}

/// The names of the folders in a folder.
pub(super) fn list_folders(path: &Path, limit: usize) -> Result<Vec<String>, RunsError> {
    if !is_folder(path)? {
        return Ok(Vec::new());
    }
    let failed = |error| RunsError::from_io(path, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)?.take(limit) {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    Ok(names)
}

/// Replaces a file in one step: a reader sees the old or the new text.
pub(super) fn replace_file(path: &Path, text: &str) -> Result<(), RunsError> {
    replace_together(&[(path.to_owned(), text)])
}

/// Replaces files of one folder: all of them, or none. All texts are on the disk before the first file is replaced.
pub(super) fn replace_together(texts: &[(PathBuf, &str)]) -> Result<(), RunsError> {
    let staged = texts.iter().map(|(path, text)| {
        let file = stage_file(path, text)?;
        let old = second_name(path).map_err(|error| RunsError::from_io(path, error))?;
        Ok((path, file, old))
    });
    let mut done: Vec<(&PathBuf, Option<TempPath>)> = Vec::new();
    for (path, file, old) in staged.collect::<Result<Vec<_>, RunsError>>()? {
        if let Err(error) = file.persist(path) {
            for (path, old) in done.into_iter().rev() {
                // A failed restore matters less than the reason for it.
                let _stays = match old {
                    Some(old) => old.persist(path).map_err(|error| error.error),
                    None => fs::remove_file(path),
                };
            }
            return Err(RunsError::from_io(path, error.error));
        }
        done.push((path, old));
    }
    // Sync the folder, so that the names survive a power cut.
    let folder = texts.first().and_then(|(path, _)| path.parent());
    let folder = folder.unwrap_or(Path::new("."));
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| RunsError::from_io(folder, error))
}

/// Creates a hard link by which a file can be restored, or a copy if the file system has no hard links; `None`: there
/// is no file.
fn second_name(path: &Path) -> io::Result<Option<TempPath>> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = |take: fn(&Path, &Path) -> io::Result<()>| {
        tempfile::Builder::new()
            .prefix(".phileas-")
            .make_in(folder, |new| take(path, new))
    };
    let named = name(|path, new| fs::hard_link(path, new))
        .or_else(|_| name(|path, new| fs::copy(path, new).map(drop)))?;
    Ok(Some(named.into_temp_path()))
}

/// A temporary file with a text, beside the file that it will replace.
fn stage_file(path: &Path, text: &str) -> Result<NamedTempFile, RunsError> {
    let failed = |error| RunsError::from_io(path, error);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".phileas-")
        .tempfile_in(folder)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Temporary files are readable by their owner only; artifacts by every reader of the repository.
        let mode = fs::symlink_metadata(path).map_or(0o644, |meta| meta.permissions().mode());
        let permissions = fs::Permissions::from_mode(mode & 0o777);
        file.as_file()
            .set_permissions(permissions)
            .map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    Ok(file)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
