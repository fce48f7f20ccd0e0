//! Reads small files with a limit, replaces them whole and locks them, for several processes that
//! share them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use phileas_domain::{Diagnostic, utf8_text};

/// The ending of the name of a file's lock.
const LOCK: &str = ".lock";
/// The ending of the name that an unreadable state file gets when it is moved aside.
pub const UNREADABLE: &str = ".unreadable";

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: FileProblem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The system refused.
    #[error("{0}")]
    System(io::Error),
    /// There is a folder at the path.
    #[error(
        "it is a folder, not a file; move it, or name another file (--jobs, --events or --config)"
    )]
    Folder,
    /// There is a symbolic link at the path.
    #[error(
        "it is a symbolic link, and phileas does not write through links; put the file itself there, or name its \
         target"
    )]
    Link,
    /// It is larger than any file that phileas writes.
    #[error("it is larger than {limit} bytes; move it away, or shorten it")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// It cannot be parsed, and must not be overwritten.
    #[error("{0}")]
    Corrupt(Box<Diagnostic>),
    /// It has reached its limit.
    #[error(
        "it has {limit} jobs already, which is the limit; retire some (`phileas agent jobs retire`)"
    )]
    Full {
        /// The limit.
        limit: usize,
    },
}

impl StoreError {
    pub(super) fn new(path: &Path, problem: impl Into<FileProblem>) -> Self {
        let problem = match problem.into() {
            FileProblem::System(error) if error.kind() == io::ErrorKind::IsADirectory => {
                FileProblem::Folder
            }
            other => other,
        };
        Self {
            path: path.to_owned(),
            problem,
        }
    }
}

impl From<io::Error> for FileProblem {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<Diagnostic> for FileProblem {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Corrupt(Box::new(diagnostic))
    }
}

/// A lock that the system releases when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits until no other process has the lock of this file. A process has the lock only while it
    /// reads and writes files.
    ///
    /// # Errors
    ///
    /// When the lock cannot be created.
    pub fn wait_for_lock(path: &Path) -> Result<Self, StoreError> {
        let (at, file) = open_lock(path)?;
        file.lock().map_err(|error| StoreError::new(&at, error))?;
        Ok(Self { file })
    }

    /// Takes the lock of this file unless another process has it.
    ///
    /// # Errors
    ///
    /// When the lock cannot be created.
    pub fn try_lock(path: &Path) -> Result<Option<Self>, StoreError> {
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
        // Closing alone would leave the lock to a child process that is just starting and still has
        // the file open.
        let _unlocked = self.file.unlock();
    }
}

fn open_lock(path: &Path) -> Result<(PathBuf, File), StoreError> {
    let at = sibling_path(path, LOCK);
    refuse_link(path)?;
    refuse_link(&at)?;
    make_folder(path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // Another user could not take the lock in any case, because it is opened for writing.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options
        .open(&at)
        .map_err(|error| StoreError::new(&at, error))?;
    Ok((at, file))
}

/// Refuses a link, and a path in the current folder that leads through a linked folder. The current
/// folder may be a repository that other people write to, and a link may lead anywhere.
fn refuse_link(path: &Path) -> Result<(), StoreError> {
    let folders = path.ancestors().skip(1).filter(|_| path.is_relative());
    let mut all = std::iter::once(path).chain(folders);
    match all.find(|one| one.is_symlink()) {
        Some(link) => Err(StoreError::new(link, FileProblem::Link)),
        None => Ok(()),
    }
}

/// Adds an ending to a path's name.
pub(super) fn sibling_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Reads a text of at most `limit` bytes, without a byte order mark; `None` if there is no file.
///
/// # Errors
///
/// When it cannot be read, is too large, or is not UTF-8.
pub fn read_limited(path: &Path, limit: usize) -> Result<Option<String>, StoreError> {
    let Some(bytes) = read_bytes(path, limit)? else {
        return Ok(None);
    };
    match utf8_text(bytes) {
        Ok(text) => Ok(Some(text.trim_start_matches('\u{feff}').to_owned())),
        Err(at) => {
            let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let wrong = Diagnostic::error(path.to_string_lossy(), "the file is not UTF-8")
                .at(number(at.line), number(at.column))
                .help("save it as UTF-8");
            Err(StoreError::new(path, wrong))
        }
    }
}

/// What happens to a state file that cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// It is moved aside. Only the one program that writes the file may do that.
    MoveAside,
    /// It stays where it is.
    Ignore,
}

/// Reads a state file. If it cannot be parsed, a diagnostic names it and the program continues
/// without it.
///
/// # Errors
///
/// When the system does not let it be read or moved.
pub fn read_state<T>(
    path: &Path,
    limit: usize,
    unreadable: Unreadable,
    parse: impl FnOnce(&str, &[u8]) -> Result<(T, Vec<Diagnostic>), Box<Diagnostic>>,
) -> Result<(Option<T>, Vec<Diagnostic>), StoreError> {
    let file = path.to_string_lossy();
    let read = match read_bytes(path, limit) {
        Ok(None) => return Ok((None, Vec::new())),
        Ok(Some(bytes)) => parse(&file, &bytes),
        Err(StoreError {
            problem: wrong @ FileProblem::TooLarge { .. },
            ..
        }) => Err(Box::new(Diagnostic::error(
            file.as_ref(),
            wrong.to_string(),
        ))),
        Err(error) => return Err(error),
    };
    match read {
        Ok((value, found)) => Ok((Some(value), found)),
        Err(mut wrong) => {
            wrong.severity = phileas_domain::Severity::Warning;
            let help = if unreadable == Unreadable::MoveAside {
                let aside = sibling_path(path, UNREADABLE);
                fs::rename(path, &aside).map_err(|error| StoreError::new(path, error))?;
                format!(
                    "you need not do anything; the file is now {}, and a new one is begun",
                    aside.display()
                )
            } else {
                "the file is ignored; the program that owns it moves it aside and begins a new one"
                    .to_owned()
            };
            Ok((None, vec![wrong.help(help)]))
        }
    }
}

/// Reads a file of at most `limit` bytes; `None` if there is no file.
fn read_bytes(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, StoreError> {
    let wrong = |error: io::Error| StoreError::new(path, error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error)),
    };
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() > limit {
        return Err(StoreError::new(path, FileProblem::TooLarge { limit }));
    }
    Ok(Some(bytes))
}

/// Replaces a file atomically: every reader sees the old or the new content, also after a power
/// failure.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), StoreError> {
    write_with(path, |new| new.write_all(text.as_bytes()))
}

/// Like [`write_whole`], with a function that writes the content.
pub(super) fn write_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), StoreError> {
    refuse_link(path)?;
    make_folder(path)?;
    let wrong = |error: io::Error| StoreError::new(path, error);
    let folder = folder_of(path);
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(wrong)?;
    write(new.as_file_mut()).map_err(wrong)?;
    if let Ok(known) = fs::metadata(path) {
        // Every account that could read the old file can read the new one.
        new.as_file()
            .set_permissions(known.permissions())
            .map_err(wrong)?;
    }
    new.as_file().sync_all().map_err(wrong)?;
    new.persist(path).map_err(|error| wrong(error.error))?;
    // Some file systems cannot sync a folder, and phileas cannot do it in another way.
    let _cannot = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Appends whole lines by one write. An unfinished line of a process that was killed is ended
/// first.
///
/// # Errors
///
/// When it cannot be written.
pub(super) fn append_lines(path: &Path, lines: &str) -> Result<(), StoreError> {
    refuse_link(path)?;
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
    let length = file.metadata().map_err(wrong)?.len();
    if let Err(error) = file.write_all(text.as_bytes()) {
        // Each process that writes has the lock, so a partial line at the end is this process's
        // own.
        let _stays = file.set_len(length);
        return Err(wrong(error));
    }
    file.sync_data().map_err(wrong)
}

/// Opens a file for reading; `None` if there is no file.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::new(path, error)),
    }
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
        let held = Lock::try_lock(&path).unwrap();
        assert!(held.is_some());
        assert!(Lock::try_lock(&path).unwrap().is_none());
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &fs::metadata(sibling_path(&path, LOCK))
                .unwrap()
                .permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        // A child process that is just starting has the file open like this.
        let held = held.unwrap();
        let _inherited = held.file.try_clone().unwrap();
        drop(held);
        assert!(Lock::try_lock(&path).unwrap().is_some());
    }

    #[test]
    fn nothing_is_written_through_a_link_and_the_mode_stays_the_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let refused = |done: Result<(), StoreError>| {
            let said = done.unwrap_err().to_string();
            assert!(said.starts_with(&format!("{}: it is a symbolic link", link.display())));
        };
        refused(write_whole(&link, "new"));
        refused(append_lines(&link, "new\n"));
        refused(Lock::wait_for_lock(&link).map(drop));
        assert_eq!(read_limited(&file, 3).unwrap().as_deref(), Some("old"));
        fs::remove_file(&link).unwrap();
        // A write through a link without a target would create the target.
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        refused(write_whole(&link, "new"));
        refused(append_lines(&link, "new\n"));
        let lock = sibling_path(&file, LOCK);
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &lock).unwrap();
        assert!(Lock::try_lock(&file).is_err());
        fs::remove_file(&lock).unwrap();
        write_whole(&file, "new").unwrap();
        assert_eq!(read_limited(&file, 3).unwrap().as_deref(), Some("new"));
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(read_limited(&file, 2).is_err());
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
