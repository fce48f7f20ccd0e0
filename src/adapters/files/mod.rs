//! A repository's folder on this machine, read as a tree. Nothing is followed that is not a regular file or a folder.

pub mod board;
mod together;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use phileas_domain::model::{Entry, Mode, Tree};
use phileas_domain::prompt::SOURCE_FOLDERS;
use tempfile::NamedTempFile;

pub use together::{Unchanged, Wanted, change_together};

/// What new files are called until they are whole. One that a killed process has left is passed over.
const NEW: &str = ".phileas-new-";
/// No file larger than this is read as text.
const FILE_LIMIT_BYTES: u64 = 1 << 20;
/// No folder is nested deeper than this.
const DEPTH_LIMIT: usize = 12;
/// No more files than this are listed.
const FILES_LIMIT: usize = 20_000;

/// Why a folder cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct ReadError {
    /// Where.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// Reads what phileas looks at in a repository's folder: `.jules/` and `.jlo/`.
///
/// # Errors
///
/// When the folder, or something below it, cannot be listed, or a file that is no larger than what is taken for text
/// cannot be read: nobody knows what it says.
pub fn read_tree(root: &Path) -> Result<Tree, ReadError> {
    if !root.is_dir() {
        let said = match root.exists() {
            true => "it is a file, and a folder is wanted; name another one, or move it",
            false => "there is no such folder",
        };
        let source = io::Error::new(io::ErrorKind::NotADirectory, said);
        return Err(ReadError {
            path: root.to_owned(),
            source,
        });
    }
    let mut tree = Tree::new();
    let mut left = FILES_LIMIT;
    for folder in SOURCE_FOLDERS {
        let path = root.join(folder);
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            walk(&path, folder, 0, &mut left, &mut tree)?;
        }
    }
    Ok(tree)
}

/// Writes a file below a folder, or removes it, as one change: whoever looks sees the older text or the newer one, whole.
/// Nothing is written through a link.
///
/// # Errors
///
/// When the path leaves the folder, leads through a link, or the system says no.
pub fn change(root: &Path, path: &str, text: Option<&str>) -> Result<(), ReadError> {
    let whole = root.join(path);
    let failed = |source| ReadError {
        path: whole.clone(),
        source,
    };
    linked(root, path)?;
    match text {
        Some(text) => {
            let folder = whole.parent().unwrap_or(root);
            fs::create_dir_all(folder).map_err(failed)?;
            replace(&whole, folder, text).map_err(failed)
        }
        None => fs::remove_file(&whole).map_err(failed),
    }
}

/// Sees that a path neither leaves the folder nor leads through a link.
fn linked(root: &Path, path: &str) -> Result<(), ReadError> {
    let refused = |what: &str| ReadError {
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

/// Refuses a file that is a link, because what it leads to may lie anywhere. A link to what is no regular file, as
/// `/dev/stdout` is one, is none to a file.
///
/// # Errors
///
/// When it is such a link.
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

/// Writes a file that a person has named: whole or not at all, and not through a link. What is there and is no regular
/// file, as a terminal or a pipe, is written to.
///
/// # Errors
///
/// When it is a link, or the system says no.
pub fn write_named(path: &Path, text: &str) -> io::Result<()> {
    refuse_link(path)?;
    if path.metadata().is_ok_and(|meta| !meta.is_file()) {
        return fs::write(path, text);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    replace(path, folder.unwrap_or(Path::new(".")), text)
}

/// Puts a whole file in a path's place.
fn replace(path: &Path, folder: &Path, text: &str) -> io::Result<()> {
    let there = fs::metadata(path).map(|meta| meta.permissions()).ok();
    let new = staged(folder, text, there)?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A new file with a text, on the disk, that goes when it is not put anywhere.
fn staged(
    folder: &Path,
    text: &str,
    permissions: Option<fs::Permissions>,
) -> io::Result<NamedTempFile> {
    let new = tempfile::Builder::new()
        .prefix(NEW)
        .make_in(folder, |path| fs::File::create_new(path))?;
    put(new.as_file(), text, permissions)?;
    Ok(new)
}

/// Whether the system says that there is no room for a file.
fn is_want_of_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Puts a text into a new file and sees it to the disk. `permissions`: those of the file whose place it takes.
fn put(mut file: &fs::File, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions
        && file.metadata()?.permissions() != permissions
    {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn walk(
    path: &Path,
    name: &str,
    depth: usize,
    left: &mut usize,
    tree: &mut Tree,
) -> Result<(), ReadError> {
    let failed = |source| ReadError {
        path: path.to_owned(),
        source,
    };
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(file_name) = entry.file_name().into_string() else {
            continue;
        };
        if file_name.starts_with(NEW) {
            continue;
        }
        let path = entry.path();
        let name = format!("{name}/{file_name}");
        let meta = path.symlink_metadata().map_err(|source| ReadError {
            path: path.clone(),
            source,
        })?;
        if meta.is_dir() {
            if depth < DEPTH_LIMIT {
                walk(&path, &name, depth + 1, left, tree)?;
            }
            continue;
        }
        if *left == 0 {
            let source = io::Error::other(format!("more than {FILES_LIMIT} files"));
            return Err(ReadError { path, source });
        }
        *left -= 1;
        let (mode, text) = if meta.is_file() {
            (Mode::File, text(&path, meta.len())?)
        } else if meta.is_symlink() {
            (Mode::Link, None)
        } else {
            (Mode::Special, None)
        };
        tree.insert(
            name,
            Entry {
                mode,
                oid: String::new(),
                size: meta.len(),
                text,
            },
        );
    }
    Ok(())
}

/// The text of a file, unless it is too large, not text, or has just gone.
fn text(path: &Path, size: u64) -> Result<Option<std::sync::Arc<str>>, ReadError> {
    if size > FILE_LIMIT_BYTES {
        return Ok(None);
    }
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok().map(Into::into)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ReadError {
            path: path.to_owned(),
            source,
        }),
    }
}
