//! Changes several files below a folder together: all of them, or none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{TempDir, TempPath};

use super::same_file::{differ_in_case, is_same_file};
use super::write::{FileError, STAGED_PREFIX, refuse_outside_path, write_synced};

/// The change of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileWrite<'t> {
    /// Create it with this text; it must not exist.
    New(&'t str),
    /// Write this text, whether or not it exists.
    Text(&'t str),
    /// Write this text with this Unix mode, whether or not it exists.
    WithMode(&'t str, u32),
    /// Remove it.
    Gone,
}

/// Why nothing was changed, or what could not be restored.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ChangeError {
    /// The failed path, and the system's error.
    pub error: FileError,
    /// Files that were changed before and could not be restored.
    pub left: Vec<PathBuf>,
    /// The folder with the original files, if some could not be restored.
    pub kept_in: Option<PathBuf>,
}

impl From<FileError> for ChangeError {
    fn from(error: FileError) -> Self {
        Self {
            error,
            left: Vec::new(),
            kept_in: None,
        }
    }
}

/// Writes or removes files below a folder: all of them, or none. A reader sees each file with its old or its new
/// text. Folders are created as needed, and removed if a removal leaves them empty.
///
/// All texts are written to a folder of their own below the root first, so that missing room or permission is found
/// before any file changes. A process that dies in between leaves the changes made so far, and that folder with the
/// originals. Files are removed last, when everything that replaces them exists.
///
/// # Errors
///
/// When a path leaves the folder, leads through a link or names a folder, a new file already exists, a file to remove
/// does not exist, or the system refuses.
pub fn change_files(root: &Path, wanted: &[(&str, FileWrite<'_>)]) -> Result<(), ChangeError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut made = CreatedFolders::default();
    let prepared = prepare_changes(root, wanted, &mut made);
    let (aside, changes) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            made.take_back();
            return Err(error.into());
        }
    };
    let mut done: Vec<Original> = Vec::new();
    for Change { older, new } in changes {
        if let Err(source) = apply_change(&older, new) {
            let path = older.path;
            let left: Vec<_> = done
                .into_iter()
                .rev()
                .filter_map(Original::put_back)
                .collect();
            // It has the only copy of the files that could not be restored.
            let kept_in = (!left.is_empty()).then(|| aside.keep());
            made.take_back();
            return Err(ChangeError {
                error: FileError { path, source },
                left,
                kept_in,
            });
        }
        done.push(older);
    }
    drop(aside);
    for (path, _) in wanted.iter().filter(|(_, what)| *what == FileWrite::Gone) {
        drop_empty(root, path);
    }
    Ok(())
}

/// The prepared change of one file.
struct Change {
    older: Original,
    /// Its replacement; `None`: it is removed.
    new: Option<StagedFile>,
}

/// A new text that is already on the disk.
struct StagedFile {
    text: TempPath,
    /// Whether the target must not exist.
    alone: bool,
}

/// A file before the change.
struct Original {
    path: PathBuf,
    /// Where it is kept meanwhile; `None`: it did not exist.
    kept: Option<PathBuf>,
}

/// The folders that were created for the files, outer ones first.
#[derive(Default)]
pub(super) struct CreatedFolders(Vec<PathBuf>);

fn prepare_changes(
    root: &Path,
    wanted: &[(&str, FileWrite<'_>)],
    made: &mut CreatedFolders,
) -> Result<(TempDir, Vec<Change>), FileError> {
    for (path, what) in wanted {
        // A link itself may be removed, but nothing is written through one.
        let leads = match what {
            FileWrite::Gone => path.rsplit_once('/').map_or("", |(folder, _)| folder),
            _ => path,
        };
        refuse_outside_path(root, leads)?;
    }
    made.make_folders(root)?;
    let aside = tempfile::Builder::new()
        .prefix(STAGED_PREFIX)
        .tempdir_in(root);
    let aside = aside.map_err(|error| FileError {
        path: root.to_owned(),
        source: error.kind().into(),
    })?;
    let mut changes = Vec::new();
    for (number, (path, what)) in in_order(root, wanted).into_iter().enumerate() {
        let whole = root.join(path);
        let failed = |source| FileError {
            path: whole.clone(),
            source,
        };
        let kept = aside.path().join(format!("{number}.old"));
        let there = existing_file(&whole).map_err(failed)?;
        let older = Original {
            path: whole.clone(),
            kept: there.as_ref().map(|_| kept.clone()),
        };
        let (text, alone) = match (what, &there) {
            (FileWrite::Gone, None) => return Err(failed(io::ErrorKind::NotFound.into())),
            (FileWrite::Gone, Some(_)) => {
                changes.push(Change { older, new: None });
                continue;
            }
            (FileWrite::New(_), Some(_)) => {
                return Err(failed(io::ErrorKind::AlreadyExists.into()));
            }
            (
                FileWrite::New(text) | FileWrite::Text(text) | FileWrite::WithMode(text, _),
                there,
            ) => (text, there.is_none()),
        };
        made.make_folders(whole.parent().unwrap_or(root))?;
        if there.is_some() {
            // Some file systems have no hard links.
            fs::hard_link(&whole, &kept)
                .or_else(|_| fs::copy(&whole, &kept).map(drop))
                .map_err(failed)?;
        }
        let staged = aside.path().join(format!("{number}.new"));
        let permissions = match what {
            #[cfg(unix)]
            FileWrite::WithMode(_, mode) => {
                Some(std::os::unix::fs::PermissionsExt::from_mode(mode))
            }
            _ => there.map(|meta| meta.permissions()),
        };
        fs::File::create_new(&staged)
            .and_then(|file| write_synced(&file, text, permissions))
            .map_err(failed)?;
        let text = TempPath::try_from_path(staged).map_err(failed)?;
        changes.push(Change {
            older,
            new: Some(StagedFile { text, alone }),
        });
    }
    Ok((aside, changes))
}

/// Removes files last, when everything that replaces them exists. Files that are the same file as a written one, on a
/// file system that ignores case, are removed first.
fn in_order<'w, 't>(
    root: &Path,
    wanted: &'w [(&str, FileWrite<'t>)],
) -> Vec<(&'w str, FileWrite<'t>)> {
    let goes = |what: &FileWrite<'_>| *what == FileWrite::Gone;
    let written = || wanted.iter().filter(|(_, what)| !goes(what));
    let turn = |(path, what): &(&str, FileWrite<'_>)| {
        let is_other_in_case = |other: &str| {
            differ_in_case(path, other) && is_same_file(&root.join(path), &root.join(other))
        };
        match goes(what) {
            false => 1,
            true if written().any(|(other, _)| is_other_in_case(other)) => 0,
            true => 2,
        }
    };
    let mut all = wanted.to_vec();
    all.sort_by_cached_key(turn);
    all
}

/// The existing file or link. A folder or any other entry is an error.
fn existing_file(path: &Path) -> io::Result<Option<fs::Metadata>> {
    let meta = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let what = if meta.is_file() || meta.is_symlink() {
        return Ok(Some(meta));
    } else if meta.is_dir() {
        "it is a folder, and a file belongs there; move it out of the way"
    } else {
        "it is there, and is not a regular file; move it out of the way"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

fn apply_change(older: &Original, new: Option<StagedFile>) -> io::Result<()> {
    let path = &older.path;
    let Some(StagedFile { text, alone }) = new else {
        return match &older.kept {
            Some(kept) => fs::rename(path, kept),
            None => fs::remove_file(path),
        };
    };
    let text = if alone {
        let Err(no) = text.persist_noclobber(path) else {
            return Ok(());
        };
        // Some file systems cannot move a file only if the target does not exist.
        if no.error.kind() == io::ErrorKind::AlreadyExists || path.symlink_metadata().is_ok() {
            return Err(no.error);
        }
        no.path
    } else {
        text
    };
    text.persist(path).map_err(|no| no.error)
}

impl Original {
    /// Restores the file, and returns its path if that fails.
    fn put_back(self) -> Option<PathBuf> {
        let back = match self.kept {
            Some(kept) => fs::rename(kept, &self.path),
            None => fs::remove_file(&self.path),
        };
        back.err().map(|_| self.path)
    }
}

impl CreatedFolders {
    /// Creates a folder and its missing parents.
    pub(super) fn make_folders(&mut self, folder: &Path) -> Result<(), FileError> {
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|one| !one.as_os_str().is_empty() && !one.is_dir())
            .collect();
        for one in missing.into_iter().rev() {
            match fs::create_dir(one) {
                Ok(()) => self.0.push(one.to_owned()),
                // Another process has just created it.
                Err(_) if one.is_dir() => {}
                Err(source) => {
                    let path = one.to_owned();
                    return Err(FileError { path, source });
                }
            }
        }
        Ok(())
    }

    pub(super) fn take_back(self) {
        for folder in self.0.iter().rev() {
            // Folders with files of other processes stay.
            let _filled = fs::remove_dir(folder);
        }
    }
}

/// Removes the folders that a removed file leaves empty.
fn drop_empty(root: &Path, path: &str) {
    for above in Path::new(path).ancestors().skip(1) {
        // A folder that is not empty stays.
        if above.as_os_str().is_empty() || fs::remove_dir(root.join(above)).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests;
