//! Several files below a folder, changed together: all of them, or none.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{ReadError, linked, written};

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Unchanged {
    /// Where it ended, and what the system says.
    pub error: ReadError,
    /// What was changed before that and could not be taken back.
    pub left: Vec<PathBuf>,
}

impl From<ReadError> for Unchanged {
    fn from(error: ReadError) -> Self {
        let left = Vec::new();
        Self { error, left }
    }
}

/// Writes files below a folder, or removes them where they have no text: all of it, or none. Whoever looks sees each file
/// in its older text or in its newer one. Folders are made as they are needed, and those that a removal leaves empty go
/// with it.
///
/// All texts are on the disk before the first file is changed, so that want of room or of a right is found before that.
/// A process that dies amid the changes leaves those that it had made; since files are removed last, all that takes their
/// place is there then.
///
/// # Errors
///
/// When a path leaves the folder, leads through a link or is that of a folder, something has just come to where nothing
/// was, or the system says no.
pub fn change_together(root: &Path, wanted: &[(&str, Option<&str>)]) -> Result<(), Unchanged> {
    let mut made = Folders::default();
    let changes = match prepare(root, wanted, &mut made) {
        Ok(changes) => changes,
        Err(error) => {
            made.take_back();
            return Err(error.into());
        }
    };
    let mut done: Vec<Older> = Vec::new();
    for Change { older, new } in changes {
        if let Err(source) = carry_out(&older, new) {
            let path = older.path;
            let left = done.into_iter().rev().filter_map(|one| one.put_back());
            let left = left.collect();
            made.take_back();
            return Err(Unchanged {
                error: ReadError { path, source },
                left,
            });
        }
        done.push(older);
    }
    for (path, _) in wanted.iter().filter(|(_, text)| text.is_none()) {
        drop_empty(root, path);
    }
    Ok(())
}

/// A file as it was, and the text that is to take its place.
struct Change {
    older: Older,
    new: Option<NamedTempFile>,
}

/// A file as it was before.
struct Older {
    path: PathBuf,
    was: Option<(Vec<u8>, Permissions)>,
}

/// The folders that were made for the files, the outer ones first.
#[derive(Default)]
struct Folders(Vec<PathBuf>);

fn prepare(
    root: &Path,
    wanted: &[(&str, Option<&str>)],
    made: &mut Folders,
) -> Result<Vec<Change>, ReadError> {
    let mut changes = Vec::new();
    let those = |is_written| {
        wanted
            .iter()
            .filter(move |one| one.1.is_some() == is_written)
    };
    for (path, text) in those(true).chain(those(false)) {
        linked(root, path)?;
        let whole = root.join(path);
        let failed = |source| ReadError {
            path: whole.clone(),
            source,
        };
        let older = Older::read(whole.clone()).map_err(failed)?;
        let new = match text {
            Some(text) => {
                let folder = whole.parent().unwrap_or(root);
                made.make(folder)?;
                Some(written(&whole, folder, text).map_err(failed)?)
            }
            None if older.was.is_none() => {
                return Err(failed(io::ErrorKind::NotFound.into()));
            }
            None => None,
        };
        changes.push(Change { older, new });
    }
    Ok(changes)
}

fn carry_out(older: &Older, new: Option<NamedTempFile>) -> io::Result<()> {
    match new {
        None => fs::remove_file(&older.path),
        Some(new) if older.was.is_some() => {
            new.persist(&older.path).map(drop).map_err(|no| no.error)
        }
        Some(new) => {
            let Err(no) = new.persist_noclobber(&older.path) else {
                return Ok(());
            };
            // Not every file system can tell that something is there and move a file in one step.
            if no.error.kind() == io::ErrorKind::AlreadyExists
                || older.path.symlink_metadata().is_ok()
            {
                return Err(no.error);
            }
            no.file
                .persist(&older.path)
                .map(drop)
                .map_err(|no| no.error)
        }
    }
}

impl Older {
    fn read(path: PathBuf) -> io::Result<Self> {
        let was = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
            Ok(meta) if !meta.is_file() => {
                let what = if meta.is_dir() {
                    "it is a folder, and a file belongs there; move it out of the way"
                } else {
                    "it is there, and is no regular file; move it out of the way"
                };
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
            Ok(meta) => Some((fs::read(&path)?, meta.permissions())),
        };
        Ok(Self { path, was })
    }

    /// Puts the file back as it was, and names it where that fails.
    fn put_back(self) -> Option<PathBuf> {
        let Some((bytes, permissions)) = self.was else {
            return fs::remove_file(&self.path).err().map(|_| self.path);
        };
        let put = || {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            let mut old = super::temporary(folder)?;
            old.as_file().set_permissions(permissions)?;
            old.as_file_mut().write_all(&bytes)?;
            old.persist(&self.path).map_err(|error| error.error)
        };
        put().err().map(|_| self.path.clone())
    }
}

impl Folders {
    /// Makes a folder and those above it that are missing.
    fn make(&mut self, folder: &Path) -> Result<(), ReadError> {
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|one| !one.as_os_str().is_empty() && !one.is_dir())
            .collect();
        for one in missing.into_iter().rev() {
            match fs::create_dir(one) {
                Ok(()) => self.0.push(one.to_owned()),
                // Somebody else has just made it.
                Err(_) if one.is_dir() => {}
                Err(source) => {
                    let path = one.to_owned();
                    return Err(ReadError { path, source });
                }
            }
        }
        Ok(())
    }

    fn take_back(self) {
        for folder in self.0.iter().rev() {
            // What somebody else has put there meanwhile keeps its folder.
            let _filled = fs::remove_dir(folder);
        }
    }
}

/// Removes the folders that a file has left empty.
fn drop_empty(root: &Path, path: &str) {
    let mut folder = Path::new(path);
    while let Some(above) = folder.parent() {
        // A folder that holds something else stays.
        if above.as_os_str().is_empty() || fs::remove_dir(root.join(above)).is_err() {
            break;
        }
        folder = above;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(root: &Path, path: &str) -> Option<String> {
        fs::read_to_string(root.join(path)).ok()
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn all_of_it_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("new");
        change_together(&root, &[("a/b/c", Some("1")), ("d", Some("2"))]).unwrap();
        change_together(
            &root,
            &[("d", Some("3")), ("e", Some("4")), ("a/b/c", None)],
        )
        .unwrap();
        assert_eq!(names(&root), ["d", "e"]);
        assert_eq!(text(&root, "d").as_deref(), Some("3"));
        assert_eq!(text(&root, "e").as_deref(), Some("4"));
    }

    #[test]
    fn what_cannot_be_done_is_found_before_anything_is() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        change_together(root, &[("there", Some("1"))]).unwrap();
        fs::create_dir(root.join("folder")).unwrap();
        for (last, said) in [
            (("folder", Some("2")), "it is a folder"),
            (("folder", None), "it is a folder"),
            (("nothing", None), "not found"),
            (("../out", Some("2")), "leaves the folder"),
            (("there/below", Some("2")), "there"),
        ] {
            let wanted = [("there", Some("2")), ("x/y/new", Some("2")), last];
            let unchanged = change_together(root, &wanted).unwrap_err();
            assert!(unchanged.to_string().contains(said), "{unchanged}");
            assert!(unchanged.left.is_empty());
            assert_eq!(names(root), ["folder", "there"], "{last:?}");
            assert_eq!(text(root, "there").as_deref(), Some("1"));
        }
    }

    /// What somebody else does meanwhile: a file has just come, another one has just gone.
    #[test]
    fn what_was_changed_before_is_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        change_together(root, &[("a/old", Some("1")), ("gone", Some("2"))]).unwrap();
        let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions();
        let mut read_only = mode("gone");
        read_only.set_readonly(true);
        fs::set_permissions(root.join("gone"), read_only.clone()).unwrap();
        for (twice, place) in [(("b/new", Some("5")), "b/new"), (("gone", None), "gone")] {
            let wanted = [
                ("gone", None),
                ("a/old", Some("3")),
                ("b/new", Some("4")),
                twice,
            ];
            let unchanged = change_together(root, &wanted).unwrap_err();
            assert!(unchanged.error.path.ends_with(place), "{unchanged}");
            assert_eq!(unchanged.left, Vec::<PathBuf>::new());
            assert_eq!(names(root), ["a", "gone"]);
            assert_eq!(text(root, "a/old").as_deref(), Some("1"));
            assert_eq!(text(root, "gone").as_deref(), Some("2"));
            assert_eq!(mode("gone"), read_only);
        }
    }

    #[test]
    fn what_cannot_be_put_back_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let older = Older::read(path.clone()).unwrap();
        assert_eq!(older.put_back(), Some(path));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("link")).unwrap();
        let wanted = [("a", Some("1")), ("link/b", Some("2"))];
        let unchanged = change_together(dir.path(), &wanted).unwrap_err();
        assert!(unchanged.to_string().contains("through a link"));
        assert_eq!(names(dir.path()), ["link"]);
        assert_eq!(names(outside.path()), Vec::<String>::new());
    }
}
