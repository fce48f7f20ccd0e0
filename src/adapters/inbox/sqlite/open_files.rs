//! Checks whether the files of an inbox are still the opened ones.
//!
//! SQLite continues in a file that was deleted, moved or replaced while it is open, and reports no error: later
//! writes are lost.

use std::fs::{Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::data_files::{DATABASE, LOCK};

/// The files of a data directory, as they were when the service opened them.
#[derive(Debug)]
pub(super) struct OpenFiles {
    directory: PathBuf,
    files: Vec<(PathBuf, Identity)>,
    /// What a new start of the service makes.
    made_by_restart: &'static str,
}

/// The identity of a file on this machine.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl OpenFiles {
    /// Records the files of an inbox. The database must be open, so that its log and index exist.
    pub(super) fn note_files(directory: &Path) -> io::Result<Self> {
        let names = ["", "-wal", "-shm"].map(|end| format!("{DATABASE}{end}"));
        Self::note_with(directory, &names, "a new inbox")
    }

    /// Notes the directory and its lock, for a service whose inbox is elsewhere.
    pub(super) fn note_lock(directory: &Path) -> io::Result<Self> {
        Self::note_with(directory, &[], "it again, without what was in it")
    }

    fn note_with(
        directory: &Path,
        names: &[String],
        made_by_restart: &'static str,
    ) -> io::Result<Self> {
        let paths = [directory.to_owned(), directory.join(LOCK)]
            .into_iter()
            .chain(names.iter().map(|name| directory.join(name)));
        let noted = paths.map(|path| {
            let identity = identity(&path.metadata()?);
            Ok((path, identity))
        });
        Ok(Self {
            directory: directory.to_owned(),
            files: noted.collect::<io::Result<_>>()?,
            made_by_restart,
        })
    }

    /// Checks that each file is still the same. The error says which is not, and what to do.
    pub(super) fn check_unchanged(&self) -> Result<(), String> {
        for (path, noted) in &self.files {
            let found = path.metadata().map(|metadata| identity(&metadata));
            let what = match found {
                Ok(found) if found == *noted => continue,
                Ok(_) => "was replaced".to_owned(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    "was deleted or moved away".to_owned()
                }
                Err(error) => format!("cannot be reached: {error}"),
            };
            return Err(format!(
                "{} {what} while the service uses it, so that nothing can be stored in {}; put it back, or restart \
                 `phileas serve`, which makes {}",
                path.display(),
                self.directory.display(),
                self.made_by_restart
            ));
        }
        Ok(())
    }

    /// Checks, without writing, whether the file system is writable.
    pub(super) fn check_writable(&self) -> Result<(), String> {
        let lock = self.directory.join(LOCK);
        match OpenOptions::new().write(true).open(&lock) {
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Err(format!(
                "{}: the file system is mounted read-only; mount it for writing",
                self.directory.display()
            )),
            // Any other error concerns this file only; the database is open already.
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    Identity {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

/// Other systems do not let an open file be deleted or replaced.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    Identity {
        device: 0,
        inode: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(directory: &Path) -> OpenFiles {
        for name in [LOCK, DATABASE, "inbox.sqlite3-wal", "inbox.sqlite3-shm"] {
            std::fs::write(directory.join(name), "").unwrap();
        }
        OpenFiles::note_files(directory).unwrap()
    }

    #[test]
    fn each_file_is_missed_by_name() {
        for name in [LOCK, DATABASE, "inbox.sqlite3-wal", "inbox.sqlite3-shm"] {
            let folder = tempfile::tempdir().unwrap();
            let files = noted(folder.path());
            assert_eq!(files.check_unchanged(), Ok(()));
            let file = folder.path().join(name);
            let beside = folder.path().join("beside");
            std::fs::rename(&file, &beside).unwrap();
            let said = files.check_unchanged().unwrap_err();
            let named = format!("{} was deleted or moved away", file.display());
            assert!(said.starts_with(&named), "{said}");
            std::fs::copy(&beside, &file).unwrap();
            let said = files.check_unchanged().unwrap_err();
            assert!(said.starts_with(&format!("{} was replaced", file.display())));
            std::fs::rename(&beside, &file).unwrap();
            assert_eq!(files.check_unchanged(), Ok(()), "it is back");
            assert_eq!(files.check_writable(), Ok(()));
        }
    }

    #[test]
    fn a_directory_of_the_same_name_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let files = noted(&data);
        std::fs::rename(&data, folder.path().join("away")).unwrap();
        assert!(files.check_unchanged().unwrap_err().contains("moved away"));
        std::fs::create_dir(&data).unwrap();
        assert!(
            files
                .check_unchanged()
                .unwrap_err()
                .contains("was replaced")
        );
    }
}
