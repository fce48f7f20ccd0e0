//! Who did what, when, and what came of it: a line of JSON for each deed, in `audit.jsonl` of the data directory.
//!
//! Only the owner of the process can read it (mode 0600). When it has grown to [`MAX_BYTES`] it becomes `audit.1.jsonl`,
//! that one `audit.2.jsonl`, and so on; [`KEPT`] older ones are kept. A deed whose line cannot be written happens all the
//! same, and the log says that the line is missing: a full disk must not keep anybody from resuming a repository.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

/// The name of the newest file in the data directory.
pub const AUDIT_FILE: &str = "audit.jsonl";
/// The size, in bytes, at which a new file is begun.
pub const MAX_BYTES: u64 = 8 << 20;
/// How many older files are kept.
pub const KEPT: u32 = 4;
/// The longest text of a line that came from outside, in characters.
const MAX_TEXT: usize = 200;

/// One deed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deed<'a> {
    /// When.
    pub at: Timestamp,
    /// Who: `session:<beginning of its digest>`, `bearer`, `loopback` (no token is set), `nobody`.
    pub who: &'a str,
    /// What: `resume`, `replay`, `look`, `login`, `logout`, …
    pub what: &'a str,
    /// What it was done to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<&'a str>,
    /// What came of it: `done`, `refused`, or a word more.
    pub result: &'a str,
    /// The request's id, as its answer carries it.
    pub request: &'a str,
}

/// The file.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    open: Mutex<Open>,
    most: u64,
}

#[derive(Debug)]
struct Open {
    file: File,
    bytes: u64,
}

impl Audit {
    /// Opens the file of a data directory, or begins it.
    ///
    /// # Errors
    ///
    /// When it can be neither opened nor made.
    pub fn open(data_dir: &Path) -> io::Result<Self> {
        Self::with_room(data_dir, MAX_BYTES)
    }

    fn with_room(data_dir: &Path, most: u64) -> io::Result<Self> {
        let path = data_dir.join(AUDIT_FILE);
        let open = Mutex::new(open(&path)?);
        Ok(Self { path, open, most })
    }

    /// Writes a deed down.
    pub fn record(&self, deed: &Deed<'_>) {
        tracing::info!(
            who = deed.who,
            about = deed.about,
            request = deed.request,
            "{}: {}",
            deed.what,
            deed.result
        );
        if let Err(error) = self.write(deed) {
            tracing::error!(
                request = deed.request,
                "the audit log misses a line: {}: {error}",
                self.path.display()
            );
        }
    }

    fn write(&self, deed: &Deed<'_>) -> io::Result<()> {
        let about = deed.about.map(cut);
        let deed = Deed {
            about: about.as_deref(),
            ..deed.clone()
        };
        let mut line = serde_json::to_vec(&deed)?;
        line.push(b'\n');
        let mut now = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let length = line.len() as u64;
        if now.bytes > 0 && now.bytes + length > self.most {
            self.turn_over()?;
            *now = open(&self.path)?;
        }
        // One write a line, so that a line is whole or not there.
        now.file.write_all(&line)?;
        now.bytes += length;
        Ok(())
    }

    fn turn_over(&self) -> io::Result<()> {
        for number in (0..KEPT).rev() {
            match std::fs::rename(self.older(number), self.older(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn older(&self, number: u32) -> PathBuf {
        match number {
            0 => self.path.clone(),
            _ => self.path.with_file_name(format!("audit.{number}.jsonl")),
        }
    }
}

fn open(path: &Path) -> io::Result<Open> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // An older file may have been copied here with a wider mode.
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    let bytes = file.metadata()?.len();
    Ok(Open { file, bytes })
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deed(about: &str) -> Deed<'_> {
        Deed {
            at: Timestamp::UNIX_EPOCH,
            who: "loopback",
            what: "resume",
            about: Some(about),
            result: "done",
            request: "1",
        }
    }

    #[test]
    fn each_deed_is_a_line_that_others_cannot_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(AUDIT_FILE);
        std::fs::write(&path, "").unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        audit.record(&deed("a\n{\"forged\":1}"));
        audit.record(&deed(&"x".repeat(10_000)));
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
    fn a_full_file_makes_room_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::with_room(folder.path(), 250).unwrap();
        for number in 0..40 {
            audit.record(&deed(&number.to_string()));
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
}
