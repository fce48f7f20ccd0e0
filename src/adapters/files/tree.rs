//! Reads a repository's folder as a tree. Nothing is followed that is not a regular file or a folder.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

use phileas_domain::model::{Entry, Mode, TEXT_LIMIT_BYTES, Tree};
use phileas_domain::prompt::SOURCE_FOLDERS;
use phileas_domain::{NotUtf8, utf8_text};

use super::write::{FileError, STAGED_PREFIX};

/// The endings of files that phileas reads. A folder with such a name is a mistake, which an empty one would hide.
const FILE_ENDINGS: [&str; 8] = [
    ".md", ".yml", ".yaml", ".toml", ".j2", ".json", ".txt", "version",
];
/// The deepest level of folders that is read.
const DEPTH_LIMIT: usize = 12;
/// The most files that are listed.
const FILES_LIMIT: usize = 20_000;

/// Reads the folders that phileas uses: `.jules/` and `.jlo/`.
///
/// # Errors
///
/// When the folder or an entry below it cannot be listed, or a file that is small enough for a text cannot be read.
pub fn read_tree(root: &Path) -> Result<Tree, FileError> {
    if !root.is_dir() {
        let said = match root.exists() {
            true => "it is a file, and a folder is wanted; name another one, or move it",
            false => "there is no such folder",
        };
        let source = io::Error::new(io::ErrorKind::NotADirectory, said);
        return Err(FileError {
            path: root.to_owned(),
            source,
        });
    }
    let mut tree = Tree::new();
    let mut left = FILES_LIMIT;
    for folder in SOURCE_FOLDERS {
        let path = root.join(folder);
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            walk_folder(&path, folder, 0, &mut left, &mut tree)?;
        }
    }
    Ok(tree)
}

fn walk_folder(
    path: &Path,
    name: &str,
    depth: usize,
    left: &mut usize,
    tree: &mut Tree,
) -> Result<(), FileError> {
    let failed = |source| FileError {
        path: path.to_owned(),
        source,
    };
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(file_name) = entry.file_name().into_string() else {
            continue;
        };
        if file_name.starts_with(STAGED_PREFIX) {
            continue;
        }
        let path = entry.path();
        let name = format!("{name}/{file_name}");
        let meta = path.symlink_metadata().map_err(|source| FileError {
            path: path.clone(),
            source,
        })?;
        if meta.is_dir() {
            if depth < DEPTH_LIMIT {
                walk_folder(&path, &name, depth + 1, left, tree)?;
            }
            let is_named_as_file = FILE_ENDINGS.iter().any(|ending| name.ends_with(ending));
            if is_named_as_file && tree.below(&name).next().is_none() {
                tree.insert(name, entry_of(Mode::Folder, 0, None));
            }
            continue;
        }
        if *left == 0 {
            let source = io::Error::other(format!("more than {FILES_LIMIT} files"));
            return Err(FileError { path, source });
        }
        *left -= 1;
        insert_file(&path, name, &meta, tree)?;
    }
    Ok(())
}

fn entry_of(mode: Mode, size: u64, text: Option<Arc<str>>) -> Entry {
    Entry {
        mode,
        oid: String::new(),
        size,
        text,
    }
}

/// Adds a file, a link or a special file.
fn insert_file(
    path: &Path,
    name: String,
    meta: &Metadata,
    tree: &mut Tree,
) -> Result<(), FileError> {
    let (mode, text) = if meta.is_file() {
        let text = read_text(path, meta.len())?;
        if let Some(Err(place)) = text {
            tree.note_not_utf8(&name, place);
        }
        (Mode::File, text.and_then(Result::ok).map(Into::into))
    } else if meta.is_symlink() {
        (Mode::Link, None)
    } else {
        (Mode::Special, None)
    };
    tree.insert(name, entry_of(mode, meta.len(), text));
    Ok(())
}

/// The text of a file, unless it is too large or just removed.
fn read_text(path: &Path, size: u64) -> Result<Option<Result<String, NotUtf8>>, FileError> {
    if size > TEXT_LIMIT_BYTES {
        return Ok(None);
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(utf8_text(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError {
            path: path.to_owned(),
            source,
        }),
    }
}
