//! The audit log: one line of JSON for each action of a person, and for each decision that acts or
//! refuses, in `audit.jsonl` of the data directory.
//!
//! Only the owner of the process can read it (mode 0600). At [`MAX_BYTES`] it becomes
//! `audit.1.jsonl`, that one `audit.2.jsonl`, and so on; [`KEPT`] older files are kept. If a line
//! cannot be written, the action still happens, and the log reports the missing line: a full disk
//! must not prevent a person from resuming a repository.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::adapters::files::refuse_link;

/// The name of the newest file in the data directory.
pub const AUDIT_FILE: &str = "audit.jsonl";
/// The size, in bytes, at which a new file is begun.
pub const MAX_BYTES: u64 = 8 << 20;
/// How many older files are kept.
pub const KEPT: u32 = 4;
/// The longest external text in a line, in characters.
const MAX_TEXT: usize = 200;

/// One action of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry<'a> {
    /// The time of the action.
    pub at: Timestamp,
    /// The actor: `session:<beginning of its digest>`, `bearer`, `loopback` (no token is set),
    /// `unknown`, `cli:<number of the account>`.
    pub who: &'a str,
    /// The action: `resume`, `replay`, `check`, `login`, `logout`, …
    pub what: &'a str,
    /// The subject of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<&'a str>,
    /// The result: `done`, `refused`, or a word more.
    pub result: &'a str,
    /// The id of the request, as its response has it; empty if there was no request.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub request: &'a str,
}

/// A decision of a tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditDecision<'a> {
    /// The time by GitHub's clock.
    pub at: Timestamp,
    /// Always `tick`.
    pub who: &'static str,
    /// The verdict, such as `dispatched`, `settled`, `paused`.
    pub what: &'static str,
    /// The repository.
    pub about: &'a str,
    /// The code of the reason.
    pub reason: &'static str,
    /// The track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<u64>,
    /// The digest of the session's prompt, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<String>,
    /// The head of the branch `jules` at the end of the tick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The audit log.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    open: Mutex<Open>,
    /// The size at which a new file is begun; `None`: another process rotates the file.
    most: Option<u64>,
}

#[derive(Debug)]
struct Open {
    file: File,
    bytes: u64,
    /// Whether the last line has no end, because its writer was stopped or the disk was full.
    is_torn: bool,
}

impl Audit {
    /// Opens the file of a data directory, or creates it.
    ///
    /// # Errors
    ///
    /// When it can be neither opened nor created.
    pub fn open(data_dir: &Path) -> io::Result<Self> {
        Self::with_room(data_dir, Some(MAX_BYTES))
    }

    /// Opens the file while a service may write to it. Lines are appended; only the service rotates
    /// the file.
    ///
    /// # Errors
    ///
    /// When it can be neither opened nor created.
    pub fn in_data_dir(data_dir: &Path) -> io::Result<Self> {
        Self::with_room(data_dir, None)
    }

    fn with_room(data_dir: &Path, most: Option<u64>) -> io::Result<Self> {
        let path = data_dir.join(AUDIT_FILE);
        let open = Mutex::new(open(&path)?);
        Ok(Self { path, open, most })
    }

    /// Writes an entry for the action of a person.
    pub fn record_entry(&self, entry: &AuditEntry<'_>) {
        tracing::info!(
            who = entry.who,
            about = entry.about,
            request = entry.request,
            "{}: {}",
            entry.what,
            entry.result
        );
        if let Err(error) = self.write(entry) {
            tracing::error!(
                request = entry.request,
                "the audit log misses a line, because {} cannot be written: {error}",
                self.path.display()
            );
        }
    }

    /// Writes an entry for a decision.
    pub fn record_decision(&self, decision: &AuditDecision<'_>) {
        if let Err(error) = self.append_line(decision) {
            tracing::error!(
                repository = decision.about,
                "the audit log misses a line, because {} cannot be written: {error}",
                self.path.display()
            );
        }
    }

    fn write(&self, entry: &AuditEntry<'_>) -> io::Result<()> {
        let about = entry.about.map(truncate_text);
        self.append_line(&AuditEntry {
            about: about.as_deref(),
            ..entry.clone()
        })
    }

    fn append_line(&self, line: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        let mut now = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let length = line.len() as u64;
        if now.bytes > 0 && self.most.is_some_and(|most| now.bytes + length > most) {
            self.turn_over()?;
            *now = open(&self.path)?;
        }
        // A line in a file that was deleted or moved away would be lost.
        if !now.is_at(&self.path) {
            *now = open(&self.path)?;
        }
        if now.is_torn {
            line.insert(0, b'\n');
        }
        // One write per line, so that a line is complete or missing.
        now.is_torn = true;
        now.file.write_all(&line)?;
        now.is_torn = false;
        now.bytes += length;
        Ok(())
    }

    fn turn_over(&self) -> io::Result<()> {
        for number in (0..KEPT).rev() {
            match std::fs::rename(self.older_path(number), self.older_path(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn older_path(&self, number: u32) -> PathBuf {
        match number {
            0 => self.path.clone(),
            _ => self.path.with_file_name(format!("audit.{number}.jsonl")),
        }
    }
}

impl Open {
    /// Whether the path still leads to this file.
    #[cfg(unix)]
    fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let mark = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
        let (own, there) = (self.file.metadata(), path.symlink_metadata());
        matches!((own.map(mark), there.map(mark)), (Ok(own), Ok(there)) if own == there)
    }

    /// On other systems an open file can be neither deleted nor replaced.
    #[cfg(not(unix))]
    fn is_at(&self, _: &Path) -> bool {
        true
    }
}

fn open(path: &Path) -> io::Result<Open> {
    refuse_link(path)?;
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // An older file may have been copied here with a wider mode.
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    let bytes = file.metadata()?.len();
    let mut last = *b"\n";
    if bytes > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(Open {
        file,
        bytes,
        is_torn: last != *b"\n",
    })
}

fn truncate_text(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(about: &str) -> AuditEntry<'_> {
        AuditEntry {
            at: Timestamp::UNIX_EPOCH,
            who: "loopback",
            what: "resume",
            about: Some(about),
            result: "done",
            request: "1",
        }
    }

    #[test]
    fn r27_each_action_is_a_line_that_others_cannot_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(AUDIT_FILE);
        std::fs::write(&path, "").unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        audit.record_entry(&entry("a\n{\"forged\":1}"));
        audit.record_entry(&entry(&"x".repeat(10_000)));
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["about"], "a\n{\"forged\":1}");
        assert_eq!(lines[1]["about"].as_str().unwrap().len(), MAX_TEXT);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn r27_another_process_beside_the_service_only_adds_lines() {
        let folder = tempfile::tempdir().unwrap();
        let of_the_service = Audit::with_room(folder.path(), Some(150)).unwrap();
        of_the_service.record_entry(&entry("first"));
        let beside = Audit::in_data_dir(folder.path()).unwrap();
        for number in 0..20 {
            beside.record_entry(&entry(&number.to_string()));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let text = std::fs::read_to_string(folder.path().join(AUDIT_FILE)).unwrap();
        assert_eq!(text.lines().count(), 21);
    }

    /// Regression: the first line after a crash followed a torn one, and readers lost both.
    #[test]
    fn a_torn_line_is_ended_before_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(AUDIT_FILE);
        std::fs::write(&path, "{\"at\": \"20").unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        audit.record_entry(&entry("first"));
        audit.record_entry(&entry("second"));
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (3, "{\"at\": \"20"));
        assert!(
            lines[1].starts_with('{') && lines[1].ends_with('}'),
            "{text}"
        );
    }

    #[test]
    fn a_full_file_makes_room_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::with_room(folder.path(), Some(250)).unwrap();
        for number in 0..40 {
            audit.record_entry(&entry(&number.to_string()));
        }
        let mut files: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap())
            .collect();
        files.sort_by_key(std::fs::DirEntry::file_name);
        assert_eq!(files.len(), 1 + KEPT as usize);
        assert!(
            files
                .iter()
                .all(|file| file.metadata().unwrap().len() <= 250)
        );
        let newest = std::fs::read_to_string(folder.path().join(AUDIT_FILE)).unwrap();
        assert!(newest.contains("\"39\""), "{newest}");
    }

    /// A line in a file that was moved away or deleted is lost.
    #[test]
    fn a_line_goes_where_the_file_is_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let audit = Audit::open(&data).unwrap();
        let file = data.join(AUDIT_FILE);
        audit.append_line(&entry("first")).unwrap();
        std::fs::rename(&file, data.join("moved")).unwrap();
        audit.append_line(&entry("second")).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("second") && !text.contains("first"), "{text}");
        std::fs::remove_dir_all(&data).unwrap();
        audit.append_line(&entry("third")).unwrap_err();
        std::fs::create_dir(&data).unwrap();
        audit.append_line(&entry("fourth")).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().contains("fourth"));
    }
}
