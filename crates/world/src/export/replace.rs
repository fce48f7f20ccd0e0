//! Replaces an earlier export by a complete new one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

/// The file that holds the books. It marks a folder as an earlier export.
pub(super) const BOOKS: &str = "world.json";

/// The names that an export may have at its top.
const ENTRIES: [&str; 4] = ["branches", "git", "repos", BOOKS];

/// Refuses a folder that holds anything but an earlier export.
pub(super) fn check_replaceable(dir: &Path) -> io::Result<()> {
    let refuse = |why: &str| {
        Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!(
                "{}: {why}; choose a new folder, or remove this one",
                dir.display()
            ),
        ))
    };
    match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error_at(dir, &error)),
        Ok(found) if !found.is_dir() => return refuse("this is not a folder"),
        Ok(_) => {}
    }
    let mut empty = true;
    for entry in fs::read_dir(dir).map_err(|error| error_at(dir, &error))? {
        let name = entry.map_err(|error| error_at(dir, &error))?.file_name();
        if !ENTRIES.iter().any(|known| name == *known) {
            return refuse(&format!(
                "the folder holds {name:?}, which is not part of an export"
            ));
        }
        empty = false;
    }
    if empty || holds_books(&dir.join(BOOKS)) {
        Ok(())
    } else {
        refuse(&format!(
            "the folder holds no readable {BOOKS}, so it is not an earlier export"
        ))
    }
}

/// Whether a file is the books of a world.
fn holds_books(file: &Path) -> bool {
    let books: Option<Value> = fs::read(file)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    books.is_some_and(|books| {
        ["requests", "sessions", "github_writes", "deliveries"]
            .iter()
            .all(|part| books[*part].is_array())
    })
}

/// A temporary folder beside `dir`, so that a rename stays within one file system.
pub(super) fn temporary_sibling(dir: &Path) -> io::Result<TempDir> {
    let parent = parent_of(dir);
    fs::create_dir_all(&parent).map_err(|error| error_at(&parent, &error))?;
    tempfile::Builder::new()
        .prefix(".world-export-")
        .tempdir_in(&parent)
        .map_err(|error| error_at(&parent, &without_path(error)))
}

/// The error without the path that `tempfile` adds: the name of a folder that could not be made helps no person.
fn without_path(error: io::Error) -> io::Error {
    let said = error.to_string();
    match said.split_once(" at path ") {
        Some((system, _)) => io::Error::new(error.kind(), system),
        None => error,
    }
}

/// Renames a complete export to `dir`. The earlier one is restored when that fails.
pub(super) fn put_in_place(whole: TempDir, dir: &Path) -> io::Result<()> {
    let earlier = if dir.exists() {
        let aside = temporary_sibling(dir)?;
        fs::rename(dir, aside.path().join("earlier")).map_err(|error| error_at(dir, &error))?;
        Some(aside)
    } else {
        None
    };
    make_readable(whole.path())?;
    if let Err(error) = fs::rename(whole.path(), dir) {
        if let Some(aside) = &earlier {
            fs::rename(aside.path().join("earlier"), dir)?;
        }
        return Err(error_at(dir, &error));
    }
    // The folder was renamed, so there is nothing to remove under its old name.
    let _ = whole.keep();
    Ok(())
}

/// Makes the folder readable for all users. A temporary folder is readable for its owner only.
#[cfg(unix)]
fn make_readable(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_readable(_dir: &Path) -> io::Result<()> {
    Ok(())
}

fn parent_of(dir: &Path) -> PathBuf {
    match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

pub(super) fn error_at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_takes_no_export_is_named() {
        let error = temporary_sibling(Path::new("/proc/x"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("/proc: "), "{error}");
        assert!(!error.contains(".world-export"), "{error}");
    }
}
