//! A state file on this machine: read whole, and replaced without a moment in which it is missing.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::state_text::StateText;
use crate::adapters::files::{read_limited, refuse_link};
use crate::adapters::github::STATE_LIMIT_BYTES;
use crate::cli::exit::CliError;

/// The most corrupt files that are kept beside one state file.
const MAX_KEPT: usize = 100;

pub(super) fn read_file(path: &Path) -> Result<StateText, CliError> {
    let wrong = |error: &dyn std::fmt::Display| {
        CliError::usage(format!("{} cannot be read: {error}", path.display()))
    };
    let facts = fs::metadata(path).map_err(|error| wrong(&error))?;
    if !facts.is_file() {
        return Err(wrong(&"it is not a regular file"));
    }
    let bytes = fs::File::open(path)
        .and_then(|file| read_limited(file, STATE_LIMIT_BYTES))
        .map_err(|error| wrong(&error))?
        .ok_or_else(|| wrong(&format!("it is larger than {STATE_LIMIT_BYTES} bytes")))?;
    Ok(StateText {
        place: path.display().to_string(),
        // Invalid UTF-8 is replaced, and the parser reports where the text is broken.
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Replaces a file and keeps the old one beside it. Returns the path of the old one.
pub(super) fn replace_file(path: &Path, text: &str) -> Result<PathBuf, CliError> {
    write_in_place(path, text).map_err(|error| {
        CliError::usage(format!(
            "{} was not written and is as it was: {error}",
            path.display()
        ))
    })
}

fn write_in_place(path: &Path, text: &str) -> io::Result<PathBuf> {
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
    let kept = keep_old_file(path)?;
    if let Err(error) = new.persist(path) {
        // The file is unchanged and needs no second name.
        let _stays = fs::remove_file(&kept);
        return Err(error.error);
    }
    Ok(kept)
}

/// Gives the old file a second name, under which it stays.
fn keep_old_file(path: &Path) -> io::Result<PathBuf> {
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
            // On a file system without hard links, make a copy.
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
            replace_file(&path, "two").unwrap(),
            folder.path().join("state.json.corrupt")
        );
        assert_eq!(
            replace_file(&path, "three").unwrap(),
            folder.path().join("state.json.corrupt.2")
        );
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("state.json"), "three");
        assert_eq!(read("state.json.corrupt"), "one");
        assert_eq!(read("state.json.corrupt.2"), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
