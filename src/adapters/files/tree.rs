//! Reads a repository's folder as a tree. Nothing is followed that is not a regular file or a folder.

use std::fs;
use std::io;
use std::path::Path;

use phileas_domain::model::{Entry, Mode, Tree};
use phileas_domain::prompt::SOURCE_FOLDERS;

use super::write::{FileError, STAGED_PREFIX};

/// The largest file that is read as text.
const FILE_LIMIT_BYTES: u64 = 1 << 20;
/// The endings of artifacts, tasks and prompts. A folder with such a name is a mistake, which an empty one would hide.
const FILE_ENDINGS: [&str; 3] = [".md", ".yml", ".yaml"];
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
                tree.insert(name, special_entry(0));
            }
            continue;
        }
        if *left == 0 {
            let source = io::Error::other(format!("more than {FILES_LIMIT} files"));
            return Err(FileError { path, source });
        }
        *left -= 1;
        let (mode, text) = if meta.is_file() {
            (Mode::File, read_text(&path, meta.len())?)
        } else if meta.is_symlink() {
            (Mode::Link, None)
        } else {
            (Mode::Special, None)
        };
        let entry = Entry {
            mode,
            text,
            ..special_entry(meta.len())
        };
        tree.insert(name, entry);
    }
    Ok(())
}

fn special_entry(size: u64) -> Entry {
    Entry {
        mode: Mode::Special,
        oid: String::new(),
        size,
        text: None,
    }
}

/// The text of a file, unless it is too large, not text, or just removed.
fn read_text(path: &Path, size: u64) -> Result<Option<std::sync::Arc<str>>, FileError> {
    if size > FILE_LIMIT_BYTES {
        return Ok(None);
    }
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok().map(Into::into)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError {
            path: path.to_owned(),
            source,
        }),
    }
}
