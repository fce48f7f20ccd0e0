//! The data directory of a service whose inbox is in PostgreSQL.

use super::directory::{DataDirectory, DirectoryError, unusable_directory};
use super::open_files::OpenFiles;

/// A data directory without an inbox. The audit log and the App's key are in it.
#[derive(Debug)]
pub struct HeldDirectory {
    files: OpenFiles,
    /// The lock is held as long as the service runs.
    _directory: DataDirectory,
}

impl HeldDirectory {
    /// Holds the directory, and notes what must stay in place.
    ///
    /// # Errors
    ///
    /// When the directory or its lock cannot be read.
    pub fn new(directory: DataDirectory) -> Result<Self, DirectoryError> {
        let files = OpenFiles::note_lock(directory.path());
        Ok(Self {
            files: files.map_err(|error| unusable_directory(directory.path(), &error))?,
            _directory: directory,
        })
    }

    /// Why the service can store nothing in the directory, where that is so.
    #[must_use]
    pub fn problem_text(&self) -> Option<String> {
        let checked = self.files.check_unchanged();
        checked.and_then(|()| self.files.check_writable()).err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_gone_or_replaced_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let held = HeldDirectory::new(DataDirectory::lock_directory(&data).unwrap()).unwrap();
        assert_eq!(held.problem_text(), None);
        std::fs::remove_dir_all(&data).unwrap();
        let said = held.problem_text().unwrap();
        let named = format!("{} was deleted or moved away", data.display());
        assert!(said.starts_with(&named), "{said}");
        assert!(said.contains("restart `phileas serve`"), "{said}");
        std::fs::create_dir(&data).unwrap();
        assert!(held.problem_text().unwrap().contains("was replaced"));
    }
}
