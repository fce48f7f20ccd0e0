//! Small files that several processes share: read with a limit, written whole, changed by one at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use phileas_domain::Diagnostic;

/// What is added to a file's name for its lock.
const LOCK: &str = ".lock";

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {trouble}", path.display())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub trouble: Trouble,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The system says no.
    #[error("{0}")]
    System(io::Error),
    /// A folder stands in its place.
    #[error(
        "it is a folder, and a file is wanted; move it, or name another file ({})",
        flag_of(place)
    )]
    Folder {
        /// Where.
        place: PathBuf,
    },
    /// It is larger than anything that was written by this program.
    #[error("it is larger than {limit} bytes; move it away, or shorten it")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// It does not say what it should, and must not be written over.
    #[error("{0}")]
    Corrupt(Box<Diagnostic>),
    /// It is at its limit.
    #[error("it holds {limit} jobs already; retire some (`phileas jobs retire`)")]
    Full {
        /// The limit.
        limit: usize,
    },
}

impl StoreError {
    pub(super) fn new(path: &Path, trouble: impl Into<Trouble>) -> Self {
        let place = || path.to_owned();
        let trouble = match trouble.into() {
            Trouble::System(error) if error.kind() == io::ErrorKind::IsADirectory => {
                Trouble::Folder { place: place() }
            }
            other => other,
        };
        Self {
            path: place(),
            trouble,
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The flag that names another one of these files, as far as the file's name tells which it is.
fn flag_of(place: &Path) -> &'static str {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    if name.contains("event") {
        "--events"
    } else if name.contains("job") {
        "--jobs"
    } else {
        "--jobs, --events or --config"
    }
}

impl From<Diagnostic> for Trouble {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Corrupt(Box::new(diagnostic))
    }
}

/// A lock that the system takes back when the process ends, in whatever way.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits until nobody else holds the lock beside this file. Whoever holds it does no more than read and write files.
    ///
    /// # Errors
    ///
    /// When the lock cannot be made.
    pub fn wait(path: &Path) -> Result<Self, StoreError> {
        let (at, file) = open_lock(path)?;
        file.lock().map_err(|error| StoreError::new(&at, error))?;
        Ok(Self { file })
    }

    /// Takes the lock beside this file unless somebody else holds it.
    ///
    /// # Errors
    ///
    /// When the lock cannot be made.
    pub fn attempt(path: &Path) -> Result<Option<Self>, StoreError> {
        let (at, file) = open_lock(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::new(&at, error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would leave the lock to a child that is just being started and has the file still open.
        let _unlocked = self.file.unlock();
    }
}

fn open_lock(path: &Path) -> Result<(PathBuf, File), StoreError> {
    make_folder(path)?;
    let at = beside(path, LOCK);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&at)
        .map_err(|error| StoreError::new(&at, error))?;
    Ok((at, file))
}

/// The path with something added to its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Reads a file of at most so many bytes; `None` where there is none.
///
/// # Errors
///
/// When it cannot be read, is too large, or is no UTF-8.
pub fn read(path: &Path, limit: usize) -> Result<Option<String>, StoreError> {
    let wrong = |error: io::Error| StoreError::new(path, error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error)),
    };
    let mut text = String::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_string(&mut text).map_err(wrong)?;
    if text.len() > limit {
        return Err(StoreError::new(path, Trouble::TooLarge { limit }));
    }
    Ok(Some(text))
}

/// What a file says, or what is wrong with it.
///
/// # Errors
///
/// When it does not say what it should.
pub fn understood<T>(path: &Path, read: Result<T, Diagnostic>) -> Result<T, StoreError> {
    read.map_err(|diagnostic| StoreError::new(path, diagnostic))
}

/// Writes a file so that everybody sees the old one or the new one, and never a part, also after a loss of power.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), StoreError> {
    make_folder(path)?;
    // A link stays a link: what it points at is written.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let wrong = |error: io::Error| StoreError::new(&target, error);
    let folder = folder_of(&target);
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(wrong)?;
    new.write_all(text.as_bytes()).map_err(wrong)?;
    if let Ok(known) = fs::metadata(&target) {
        // Whoever could read the file can still read it.
        new.as_file()
            .set_permissions(known.permissions())
            .map_err(wrong)?;
    }
    new.as_file().sync_all().map_err(wrong)?;
    new.persist(&target).map_err(|error| wrong(error.error))?;
    // Not every file system can; then there is nothing that could be done about it.
    let _cannot = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Appends whole lines by one write. A line that a writer before did not live to end is ended first.
///
/// # Errors
///
/// When it cannot be written.
pub(super) fn append_lines(path: &Path, lines: &str) -> Result<(), StoreError> {
    make_folder(path)?;
    let wrong = |error: io::Error| StoreError::new(path, error);
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)
        .map_err(wrong)?;
    let torn = !ends_a_line(&mut file).map_err(wrong)?;
    let text = if torn {
        format!("\n{lines}")
    } else {
        lines.to_owned()
    };
    file.write_all(text.as_bytes()).map_err(wrong)?;
    file.sync_data().map_err(wrong)
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    use std::io::{Seek as _, SeekFrom};
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(|error| StoreError::new(folder, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/state.json");
        let held = Lock::attempt(&path).unwrap();
        assert!(held.is_some());
        assert!(Lock::attempt(&path).unwrap().is_none());
        // So a child has it that is just being started.
        let held = held.unwrap();
        let _inherited = held.file.try_clone().unwrap();
        drop(held);
        assert!(Lock::attempt(&path).unwrap().is_some());
    }

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays_the_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&file, 3).unwrap().as_deref(), Some("new"));
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(read(&file, 2).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_torn_line_is_ended_before_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        append_lines(&path, "{\"a\":1}\n").unwrap();
        fs::write(&path, "{\"a\":1}\n{\"b\"").unwrap();
        append_lines(&path, "{\"c\":3}\n").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"a\":1}\n{\"b\"\n{\"c\":3}\n");
    }
}
