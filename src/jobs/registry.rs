//! Reads and changes the jobs file.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::Diagnostic;
use phileas_domain::jobs::line::MAX_LINE_BYTES;
use phileas_domain::jobs::registry::{MAX_FILE_BYTES, MAX_JOBS, Part, line_of};
use phileas_domain::jobs::{Job, JobId, Registry, RetireReason, Retired};

use super::files::{self, FileProblem, Lock, StoreError};
use super::json_lines::Lines;

/// How long a retired job stays in the file.
pub const RETIRED_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A jobs file, shared with other processes that read and write it.
#[derive(Debug, Clone)]
pub struct JobsFile {
    path: PathBuf,
}

/// The result of registering a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    /// The job is new.
    New,
    /// The job was registered before; it has the new values now.
    Known,
    /// The job was retired, and is live again.
    Again,
}

impl JobsFile {
    /// Takes the path of a file, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the jobs, and what is wrong with lines that are none. A file that does not exist has none.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn read_jobs(&self) -> Result<(Registry, Vec<Diagnostic>), StoreError> {
        let (registry, found, _) = self.read_all()?;
        Ok((registry, found))
    }

    /// As [`Self::read_jobs`]; the last value says whether that is the whole file.
    fn read_all(&self) -> Result<(Registry, Vec<Diagnostic>, bool), StoreError> {
        let name = self.path.to_string_lossy();
        let mut lines = Vec::new();
        let (mut bytes, mut is_all) = (0, true);
        if let Some(file) = files::open(&self.path)? {
            for line in Lines::new(BufReader::new(file)) {
                let mut line = line.map_err(|error| StoreError::new(&self.path, error))?;
                if line.length > MAX_LINE_BYTES as u64 {
                    line.bytes = Vec::new();
                }
                // A blank line counts, too.
                bytes += line.bytes.len() + 1;
                if bytes > MAX_FILE_BYTES {
                    is_all = false;
                    break;
                }
                lines.push(line);
            }
        }
        let read = lines.len();
        let (registry, mut found) = Registry::parse(&name, lines)
            .map_err(|diagnostic| StoreError::new(&self.path, *diagnostic))?;
        if !is_all {
            let line = u32::try_from(read + 1).unwrap_or(u32::MAX);
            let wrong = format!(
                "the jobs file is too large; phileas reads only its first {MAX_FILE_BYTES} bytes"
            );
            let told = Diagnostic::warning(name, wrong).at(line, 1);
            found.push(told.help("remove lines of jobs that are no longer live"));
        }
        Ok((registry, found, is_all))
    }

    /// Reads the jobs in order to change them: a file that was not read to its end must not be
    /// overwritten.
    fn read_whole(&self) -> Result<Registry, StoreError> {
        match self.read_all()? {
            (registry, _, true) => Ok(registry),
            _ => Err(StoreError::new(
                &self.path,
                FileProblem::TooLarge {
                    limit: MAX_FILE_BYTES,
                },
            )),
        }
    }

    /// Reads one job.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn get(&self, id: &JobId) -> Result<Option<Job>, StoreError> {
        Ok(self.read_jobs()?.0.get(id).cloned())
    }

    /// Registers a job. A known job keeps its values where the new one has none.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn register_job(&self, mut job: Job, now: Timestamp) -> Result<Registered, StoreError> {
        let _lock = Lock::wait_for_lock(&self.path)?;
        let mut registry = self.read_whole()?;
        job.registered_at.get_or_insert(now);
        let Some(known) = registry.get_mut(&job.job_id) else {
            if registry.len() >= MAX_JOBS {
                return Err(StoreError::new(
                    &self.path,
                    FileProblem::Full { limit: MAX_JOBS },
                ));
            }
            if registry.is_array() {
                registry.put(job);
                self.write(&registry)?;
            } else {
                // Appends one line, as every other program does that registers a job.
                files::append_lines(&self.path, &line_of(&job))?;
            }
            return Ok(Registered::New);
        };
        let registered = if known.is_live() {
            Registered::Known
        } else {
            Registered::Again
        };
        known.retired = None;
        merge_job(known, job);
        self.write(&registry)?;
        Ok(registered)
    }

    /// Changes a job; `None` if there is no such job.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn update_job<T>(
        &self,
        id: &JobId,
        change: impl FnOnce(&mut Job) -> T,
    ) -> Result<Option<T>, StoreError> {
        self.change_file(|registry| registry.get_mut(id).map(change))
    }

    /// Retires a job and returns whether it was live. It stays in the file for [`RETIRED_FOR`].
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn retire_job(
        &self,
        id: &JobId,
        reason: RetireReason,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.change_file(|registry| {
            let expired = |job: &Job| {
                let retired = job.retired.as_ref();
                retired.is_some_and(|retired| now.duration_since(retired.at) >= RETIRED_FOR)
            };
            registry.retain(|job| !expired(job));
            match registry.get_mut(id) {
                Some(job) if job.is_live() => {
                    job.retired = Some(Retired { at: now, reason });
                    true
                }
                _ => false,
            }
        })
    }

    /// Changes the whole file under its lock.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn change_file<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> Result<T, StoreError> {
        let _lock = Lock::wait_for_lock(&self.path)?;
        let mut registry = self.read_whole()?;
        let before = registry.clone();
        let answer = change(&mut registry);
        if registry != before {
            self.write(&registry)?;
        }
        Ok(answer)
    }

    fn write(&self, registry: &Registry) -> Result<(), StoreError> {
        files::write_with(&self.path, |new| {
            for part in registry.render() {
                match part {
                    Part::Bytes(bytes) => new.write_all(&bytes)?,
                    Part::Copied { start, length } => {
                        let mut old = File::open(&self.path)?;
                        old.seek(SeekFrom::Start(start))?;
                        io::copy(&mut old.take(length), new)?;
                        new.write_all(b"\n")?;
                    }
                }
            }
            Ok(())
        })
    }
}

/// Replaces the values that the new job has.
fn merge_job(known: &mut Job, new: Job) {
    fn replace_if_given<T>(known: &mut Option<T>, new: Option<T>) {
        if new.is_some() {
            *known = new;
        }
    }
    if let (Some(known), serde_json::Value::Object(new)) =
        (known.metadata.as_object_mut(), &new.metadata)
    {
        known.extend(new.clone());
    } else {
        known.metadata = new.metadata;
    }
    replace_if_given(&mut known.repo, new.repo);
    replace_if_given(&mut known.branch, new.branch);
    replace_if_given(&mut known.require_plan_approval, new.require_plan_approval);
    replace_if_given(&mut known.open_pull, new.open_pull);
    replace_if_given(&mut known.retry_of, new.retry_of);
    replace_if_given(&mut known.attempt, new.attempt);
    known.registered_at = known.registered_at.or(new.registered_at);
    if new.priority != phileas_domain::jobs::Priority::default() {
        known.priority = new.priority;
    }
    known.rest.extend(new.rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> Job {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_job_joins_is_changed_and_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let file = JobsFile::new(folder.path().join("jobs.jsonl"));
        let now = Timestamp::UNIX_EPOCH;
        let first = job(r#"{"job_id": "1", "metadata": {"task": "x"}}"#);
        assert_eq!(file.register_job(first, now).unwrap(), Registered::New);
        let again = job(r#"{"job_id": "1", "metadata": {"owner": "me"}, "branch": "main"}"#);
        assert_eq!(file.register_job(again, now).unwrap(), Registered::Known);
        let id: JobId = "1".parse().unwrap();
        let known = file.get(&id).unwrap().unwrap();
        assert_eq!(known.metadata["task"], "x");
        assert_eq!(known.metadata["owner"], "me");
        assert_eq!(known.branch.as_deref(), Some("main"));
        assert!(file.retire_job(&id, RetireReason::Merged, now).unwrap());
        assert!(!file.retire_job(&id, RetireReason::Closed, now).unwrap());
        assert!(!file.get(&id).unwrap().unwrap().is_live());
        let other: JobId = "2".parse().unwrap();
        assert!(
            !file
                .retire_job(&other, RetireReason::Done, now + RETIRED_FOR)
                .unwrap()
        );
        assert_eq!(file.get(&id).unwrap(), None, "its time in the file is over");
    }

    #[test]
    fn an_array_is_joined_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let file = JobsFile::new(folder.path().join("jobs.json"));
        files::write_whole(file.path(), "[\"1\", {\"job_id\": \"2\", \"who\": \"me\"}]").unwrap();
        file.register_job(job(r#"{"job_id": "3"}"#), Timestamp::UNIX_EPOCH)
            .unwrap();
        let (registry, found) = file.read_jobs().unwrap();
        assert_eq!((registry.len(), found.len()), (3, 0));
        assert_eq!(registry.jobs().nth(1).unwrap().rest["who"], "me");
    }

    /// Regression: rewriting the file lost a line that was too long to be kept.
    #[test]
    fn lines_that_are_no_jobs_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = JobsFile::new(folder.path().join("jobs.jsonl"));
        let mut bytes = b"{\"job_id\": \"1\"}\n\xff\xfe\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', 3 * MAX_LINE_BYTES));
        bytes.extend_from_slice(b"\n{\"job_id\": \"2\"}\n");
        std::fs::write(file.path(), &bytes).unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let id: JobId = "2".parse().unwrap();
        assert!(file.retire_job(&id, RetireReason::Done, now).unwrap());
        file.register_job(job(r#"{"job_id": "3"}"#), now).unwrap();
        let (registry, found) = file.read_jobs().unwrap();
        let lines: Vec<_> = found.iter().map(|told| told.line).collect();
        assert_eq!((registry.len(), lines), (3, vec![Some(2), Some(3)]));
        let long = std::fs::read(file.path()).unwrap();
        let long = long.split(|byte| *byte == b'\n').nth(2).unwrap();
        assert_eq!(long.len(), 3 * MAX_LINE_BYTES);
    }

    #[test]
    fn of_a_file_without_end_the_beginning_counts_and_nothing_is_written_over_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = JobsFile::new(folder.path().join("jobs.jsonl"));
        let filler = format!("{}\n", "x".repeat(1 << 20)).repeat(17);
        let text = format!("\"1\"\n{filler}\"2\"\n");
        std::fs::write(file.path(), &text).unwrap();
        let (registry, found) = file.read_jobs().unwrap();
        assert_eq!(registry.len(), 1);
        assert!(found.last().unwrap().to_string().contains("only its first"));
        let now = Timestamp::UNIX_EPOCH;
        assert!(file.register_job(job(r#"{"job_id": "3"}"#), now).is_err());
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
    }

    /// Upstream defect 10: writers interleaved, and files were rewritten in place.
    #[test]
    fn defect_10_writers_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = JobsFile::new(folder.path().join("jobs.jsonl"));
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let file = &file;
                scope.spawn(move || {
                    for number in 0..25 {
                        let id = format!("{}", writer * 100 + number);
                        let new = Job::new(id.parse().unwrap());
                        let now = Timestamp::UNIX_EPOCH;
                        file.register_job(new.clone(), now).unwrap();
                        if number % 5 == 0 {
                            file.retire_job(&new.job_id, RetireReason::Done, now)
                                .unwrap();
                        }
                    }
                });
            }
        });
        let (registry, found) = file.read_jobs().unwrap();
        assert!(found.is_empty());
        assert_eq!(registry.len(), 100);
        assert_eq!(registry.jobs().filter(|job| !job.is_live()).count(), 20);
    }
}
