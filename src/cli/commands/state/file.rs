//! A state file on this machine: read whole, written without a moment in which it is missing.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::state_text::Found;
use crate::adapters::files::refuse_link;
use crate::adapters::github::STATE_LIMIT_BYTES;
use crate::cli::exit::Stopped;

/// How many corrupt files are kept beside one state file.
const MAX_KEPT: usize = 100;

pub(super) fn read(path: &Path) -> Result<Found, Stopped> {
    let wrong = |error: &dyn std::fmt::Display| {
        Stopped::usage(format!("{} cannot be read: {error}", path.display()))
    };
    let facts = fs::metadata(path).map_err(|error| wrong(&error))?;
    if !facts.is_file() {
        return Err(wrong(&"it is no regular file"));
    }
    if facts.len() > STATE_LIMIT_BYTES {
        return Err(wrong(&format!(
            "it holds {} bytes, more than {STATE_LIMIT_BYTES}",
            facts.len()
        )));
    }
    let bytes = fs::read(path).map_err(|error| wrong(&error))?;
    Ok(Found {
        place: path.display().to_string(),
        // What is not UTF-8 is replaced, which leaves a text that is told to be broken where it is.
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Puts a text in a file's place and keeps the old one beside it. Answers with the path of the old one.
pub(super) fn replace(path: &Path, text: &str) -> Result<PathBuf, Stopped> {
    replaced(path, text).map_err(|error| {
        Stopped::usage(format!(
            "{} was not written and is as it was: {error}",
            path.display()
        ))
    })
}

fn replaced(path: &Path, text: &str) -> io::Result<PathBuf> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    refuse_link(path)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file()
        .set_permissions(fs::metadata(path)?.permissions())?;
    new.as_file().sync_all()?;
    let kept = keep(path)?;
    if let Err(error) = new.persist(path) {
        // The file is as it was, and needs no second name.
        let _stays = fs::remove_file(&kept);
        return Err(error.error);
    }
    Ok(kept)
}

/// A second name for the old file, under which it stays.
fn keep(path: &Path) -> io::Result<PathBuf> {
    for count in 1..=MAX_KEPT {
        let mut name = path.as_os_str().to_owned();
        name.push(".corrupt");
        if count > 1 {
            name.push(format!(".{count}"));
        }
        let kept = PathBuf::from(name);
        match fs::hard_link(path, &kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // A file system without hard links takes a copy.
            Err(_) if kept.symlink_metadata().is_err() => {
                if let Err(error) = fs::copy(path, &kept) {
                    let _part = fs::remove_file(&kept);
                    return Err(error);
                }
                return Ok(kept);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!(
        "{MAX_KEPT} corrupt files stand beside it already"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_is_kept_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        fs::write(&path, "one").unwrap();
        assert_eq!(
            replace(&path, "two").unwrap(),
            folder.path().join("state.json.corrupt")
        );
        assert_eq!(
            replace(&path, "three").unwrap(),
            folder.path().join("state.json.corrupt.2")
        );
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("state.json"), "three");
        assert_eq!(read("state.json.corrupt"), "one");
        assert_eq!(read("state.json.corrupt.2"), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
