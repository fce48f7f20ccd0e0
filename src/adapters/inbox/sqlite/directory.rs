//! The data directory of a service, and its lock.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::data_files::{DATABASE, LOCK, owner_only, sync_folder};
use super::value::DISK_FULL;

/// How much of the lock file is read; its content is shorter.
const LOCK_TEXT: u64 = 400;

/// A locked data directory. The lock ends when the value is dropped or the process ends.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    /// The operating system releases the lock when the process ends.
    lock: File,
}

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Another service uses it.
    #[error(
        "{path} is in use by {by}; stop that one first, or give this one a --data-dir of its own"
    )]
    Held {
        /// The directory.
        path: PathBuf,
        /// A description of the holder.
        by: String,
    },
    /// The disk has no room.
    #[error("{path}: {DISK_FULL}, and start again")]
    Full {
        /// The path that could not be written.
        path: PathBuf,
    },
    /// One of the files is a link.
    #[error("{path} is a symbolic link, and nothing is written through links; remove it")]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// It cannot be created or locked.
    #[error("{path}: {detail}; give --data-dir a folder that you may write to")]
    Unusable {
        /// The path that cannot be used.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
}

impl DataDirectory {
    /// Creates the directory if there is none, for its owner only, and locks it.
    ///
    /// # Errors
    ///
    /// When another service has locked it, or it cannot be created or locked.
    pub fn lock_directory(path: &Path) -> Result<Self, DirectoryError> {
        make_folder(path)
            .and_then(|()| close_to_others(path))
            .map_err(|error| unusable_directory(path, &error))?;
        for name in [LOCK, DATABASE] {
            refuse_link(&path.join(name))?;
        }
        let file = path.join(LOCK);
        let mut lock = owner_only(OpenOptions::new().read(true).write(true).create(true))
            .truncate(false)
            .open(&file)
            .map_err(|error| unusable_directory(&file, &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DirectoryError::Held {
                    path: path.to_owned(),
                    by: read_holder(&lock),
                });
            }
            Err(TryLockError::Error(error)) => return Err(unusable_directory(&file, &error)),
        }
        write_holder(&mut lock).map_err(|error| unusable_directory(&file, &error))?;
        // The directory's own entry must survive a power failure, too.
        sync_folder(path.parent().unwrap_or(path));
        Ok(Self {
            path: path.to_owned(),
            lock,
        })
    }

    /// Checks whether the directory could be created, or written to. Leaves nothing behind.
    ///
    /// # Errors
    ///
    /// When it cannot.
    pub fn could_be(path: &Path) -> Result<(), DirectoryError> {
        let here = Path::new(".");
        let above = path.ancestors().map(|one| {
            if one.as_os_str().is_empty() {
                here
            } else {
                one
            }
        });
        // It would be created below the nearest existing ancestor. If that is no folder, as a file or a broken link,
        // it cannot be created.
        let nearest = above
            .into_iter()
            .find(|one| one.symlink_metadata().is_ok())
            .unwrap_or(here);
        if !nearest.is_dir() {
            let error = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(unusable_directory(nearest, &error));
        }
        // The file is invisible: it has no name, or loses it at once.
        match tempfile::tempfile_in(nearest) {
            Ok(_) => Ok(()),
            Err(error) => Err(unusable_directory(path, &without_place(error))),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        // Closing alone would leave the lock with a child that is just starting and has inherited the file.
        let _unlocked = self.lock.unlock();
    }
}

/// Refuses a link, whose target does not belong to the service.
fn refuse_link(path: &Path) -> Result<(), DirectoryError> {
    if path.is_symlink() {
        return Err(DirectoryError::Link {
            path: path.to_owned(),
        });
    }
    Ok(())
}

fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Closes an existing, empty directory to other users. A directory with content may have other purposes, so it only
/// warns.
fn close_to_others(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path)?.permissions().mode() & 0o777;
        if mode & 0o077 == 0 {
            return Ok(());
        }
        if fs::read_dir(path)?.next().is_none() {
            match fs::set_permissions(path, fs::Permissions::from_mode(0o700)) {
                // An orchestrator may own the volume and give access through a group.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                closed => return closed,
            }
        }
        tracing::warn!(
            "{} is open to other users (mode {mode:o}); close it with `chmod 700`",
            path.display()
        );
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Writes the holder into the lock file.
fn write_holder(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    writeln!(
        lock,
        "process {} on {} since {}",
        std::process::id(),
        host_name(),
        Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC")
    )?;
    lock.flush()
}

/// Reads the holder from the lock file.
fn read_holder(lock: &File) -> String {
    let mut text = String::new();
    let read = lock.take(LOCK_TEXT).read_to_string(&mut text);
    let text = text.trim();
    if read.is_err() || text.is_empty() {
        "another process".to_owned()
    } else {
        text.to_owned()
    }
}

/// This machine's name, if the system has one.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "this machine".to_owned(),
        name => name.to_owned(),
    }
}

pub(super) fn unusable_directory(path: &Path, error: &io::Error) -> DirectoryError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DirectoryError::Full { path },
        _ => DirectoryError::Unusable {
            path,
            detail: error.to_string(),
        },
    }
}

/// The system's error, without the path of a temporary file.
fn without_place(error: io::Error) -> io::Error {
    let said = error
        .get_ref()
        .and_then(|inner| inner.source())
        .map(ToString::to_string);
    match said {
        Some(said) => io::Error::new(error.kind(), said),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_given_back_though_a_child_is_just_being_started() {
        let folder = tempfile::tempdir().unwrap();
        let held = DataDirectory::lock_directory(folder.path()).unwrap();
        let other = DataDirectory::lock_directory(folder.path());
        assert!(matches!(other, Err(DirectoryError::Held { .. })));
        let _inherited = held.lock.try_clone().unwrap();
        drop(held);
        assert!(DataDirectory::lock_directory(folder.path()).is_ok());
    }

    #[test]
    fn whether_a_directory_could_be_made_is_known_before_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for place in [folder.path().to_owned(), folder.path().join("far/below")] {
            DataDirectory::could_be(&place).unwrap();
        }
        assert!(DataDirectory::could_be(Path::new("relative/one")).is_ok());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            0,
            "nothing is left behind"
        );
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for place in [file.clone(), file.join("below")] {
            let refused = DataDirectory::could_be(&place).unwrap_err().to_string();
            let named = format!("{}: not a directory", file.display());
            assert!(refused.starts_with(&named), "{refused}");
        }
        // No user can create anything there.
        let refused = DataDirectory::could_be(Path::new("/proc/nope")).unwrap_err();
        let said = refused.to_string();
        assert!(said.starts_with("/proc/nope: "), "{said}");
        assert!(said.contains("--data-dir"), "{said}");
        assert!(!said.contains(".tmp"), "{said}");
    }
}
