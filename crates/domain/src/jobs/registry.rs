//! Reads and writes the jobs file: one JSON object a line, and the other forms that tools have written.
//!
//! It accepts a JSON array of all jobs, a bare id in place of an object, and blank lines. Lines that cannot be read are
//! reported and kept. It writes one object a line.

use std::collections::BTreeMap;

use serde_json::Value;

use super::job::{Job, JobId};
use super::line::{Line, limit_diagnostics};
use crate::Diagnostic;
use crate::json;

/// The largest jobs file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// The largest number of jobs in a file. A monitor checks all of them.
pub const MAX_JOBS: usize = 10_000;

/// The jobs of a file, in the file's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry {
    entries: Vec<Entry>,
    /// The index of each job in `entries`.
    indexes: BTreeMap<JobId, usize>,
    is_array: bool,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Job(Box<Job>),
    /// A line that is no job, unchanged.
    Foreign(Vec<u8>),
    /// A line that is too long to be kept in memory: its offset in the file, and its length.
    Long {
        start: u64,
        length: u64,
    },
}

/// A part of the file that is written back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A range of the old file.
    Copied {
        /// Its offset.
        start: u64,
        /// Its length in bytes.
        length: u64,
    },
}

impl Registry {
    /// Reads a jobs file. What cannot be read is reported, and is kept unchanged when the file is written.
    ///
    /// # Errors
    ///
    /// The file begins like an array, is none, and has no line that is a job: it must not be overwritten.
    pub fn parse(file: &str, lines: Vec<Line>) -> Result<(Self, Vec<Diagnostic>), Box<Diagnostic>> {
        let mut texts = lines.iter().filter_map(|line| line.line_text().ok());
        let is_array = texts
            .find(|text| !text.trim().is_empty())
            .is_some_and(|text| text.trim_start().starts_with('['));
        let mut wrong = None;
        if is_array {
            match Self::parse_array(file, &lines) {
                Ok((registry, found)) => return Ok((registry, limit_diagnostics(file, found))),
                Err(error) => wrong = Some(error),
            }
        }
        let mut registry = Self::default();
        let mut found = Vec::new();
        for line in lines {
            registry.read_line(file, line, &mut found);
        }
        match wrong {
            Some(error) if registry.is_empty() => Err(error),
            _ => Ok((registry, limit_diagnostics(file, found))),
        }
    }

    fn read_line(&mut self, file: &str, line: Line, found: &mut Vec<Diagnostic>) {
        let number = u32::try_from(line.number).unwrap_or(u32::MAX);
        let read = match line.line_text() {
            Ok(text) if text.trim().is_empty() => return,
            Ok(text) => serde_json::from_str::<Value>(text)
                .map_err(|error| {
                    let column = u32::try_from(error.column()).unwrap_or(u32::MAX);
                    Diagnostic::warning(file, "the line is not JSON")
                        .at(number, column)
                        .help("write one JSON object a line, such as {\"job_id\": \"15481661885092594092\"}")
                })
                .and_then(|value| job_of(value).map_err(|wrong| wrong.into_diagnostic(file).at(number, 1))),
            Err(fault) => Err(fault.to_warning(file, line.number)),
        };
        match read {
            Ok(job) => self.put(job),
            Err(diagnostic) => {
                found.push(diagnostic);
                self.entries.push(foreign_entry(line));
            }
        }
    }

    /// Reads an array, and the lines that other programs appended after it.
    fn parse_array(file: &str, lines: &[Line]) -> Result<(Self, Vec<Diagnostic>), Box<Diagnostic>> {
        let texts: Vec<&str> = lines
            .iter()
            .map(|line| line.line_text().unwrap_or(""))
            .collect();
        let text = texts.join("\n");
        let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Vec<Value>>();
        let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let entries = match values.next() {
            Some(Ok(entries)) => entries,
            Some(Err(error)) => {
                return Err(Box::new(
                    Diagnostic::error(file, "the file begins as a JSON array and is none")
                        .at(place(error.line()), place(error.column()))
                        .help("complete the array, or write one JSON object a line"),
                ));
            }
            None => Vec::new(),
        };
        let (array, behind) = text.split_at(values.byte_offset());
        let mut registry = Self {
            is_array: true,
            ..Self::default()
        };
        let mut found = Vec::new();
        for (index, value) in entries.into_iter().enumerate() {
            let line = value.to_string();
            match job_of(value) {
                Ok(job) => registry.put(job),
                Err(wrong) => {
                    found.push(wrong.into_diagnostic(file).key(format!("[{index}]")));
                    registry.entries.push(Entry::Foreign(line.into_bytes()));
                }
            }
        }
        let last = array.matches('\n').count();
        for line in &lines[..=last.min(lines.len() - 1)] {
            if let Err(fault) = line.line_text() {
                found.push(fault.to_warning(file, line.number));
                registry.entries.push(foreign_entry(line.clone()));
            }
        }
        let same_line = behind.lines().next().unwrap_or_default();
        if !same_line.trim().is_empty() {
            let rest = Line {
                bytes: same_line.as_bytes().to_vec(),
                length: same_line.len() as u64,
                ..lines[last].clone()
            };
            registry.read_line(file, rest, &mut found);
        }
        for line in lines.iter().skip(last + 1) {
            registry.read_line(file, line.clone(), &mut found);
        }
        Ok((registry, found))
    }

    /// Whether the file is a JSON array. A line that is appended to it is not part of the array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        self.is_array
    }

    /// All jobs, including retired ones.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Job(job) => Some(&**job),
            Entry::Foreign(_) | Entry::Long { .. } => None,
        })
    }

    /// The job with this id.
    #[must_use]
    pub fn get(&self, id: &JobId) -> Option<&Job> {
        match self.entries.get(*self.indexes.get(id)?)? {
            Entry::Job(job) => Some(job),
            Entry::Foreign(_) | Entry::Long { .. } => None,
        }
    }

    /// The job with this id, for changes.
    pub fn get_mut(&mut self, id: &JobId) -> Option<&mut Job> {
        match self.entries.get_mut(*self.indexes.get(id)?)? {
            Entry::Job(job) => Some(job),
            Entry::Foreign(_) | Entry::Long { .. } => None,
        }
    }

    /// Adds a job, or replaces the one with its id.
    pub fn put(&mut self, job: Job) {
        match self.get_mut(&job.job_id) {
            Some(known) => *known = job,
            None => {
                self.indexes.insert(job.job_id.clone(), self.entries.len());
                self.entries.push(Entry::Job(Box::new(job)));
            }
        }
    }

    /// Removes the jobs for which `keep` returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&Job) -> bool) {
        self.entries.retain(|entry| match entry {
            Entry::Job(job) => keep(job),
            Entry::Foreign(_) | Entry::Long { .. } => true,
        });
        self.indexes = self
            .entries
            .iter()
            .enumerate()
            .filter_map(place_of)
            .collect();
    }

    /// The number of jobs, including retired ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.indexes.len()
    }

    /// Whether there are no jobs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// The file's new contents.
    #[must_use]
    pub fn render(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut bytes = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Job(job) => bytes.extend_from_slice(line_of(job).as_bytes()),
                Entry::Foreign(line) => bytes.extend_from_slice(line),
                Entry::Long { start, length } => {
                    parts.push(Part::Bytes(std::mem::take(&mut bytes)));
                    parts.push(Part::Copied {
                        start: *start,
                        length: *length,
                    });
                }
            }
            if !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
        }
        parts.push(Part::Bytes(bytes));
        parts
    }
}

fn foreign_entry(line: Line) -> Entry {
    if line.length == line.bytes.len() as u64 {
        Entry::Foreign(line.bytes)
    } else {
        Entry::Long {
            start: line.start,
            length: line.length,
        }
    }
}

fn place_of((place, entry): (usize, &Entry)) -> Option<(JobId, usize)> {
    match entry {
        Entry::Job(job) => Some((job.job_id.clone(), place)),
        Entry::Foreign(_) | Entry::Long { .. } => None,
    }
}

/// A job as a line of the file, with its line end.
#[must_use]
pub fn line_of(job: &Job) -> String {
    let mut line = serde_json::to_string(job).expect("a job's keys are texts");
    line.push('\n');
    line
}

/// Why an entry is no job.
enum Wrong {
    NoId,
    Unreadable(String),
}

impl Wrong {
    fn into_diagnostic(self, file: &str) -> Diagnostic {
        match self {
            Self::NoId => Diagnostic::warning(file, "the entry has no job_id")
                .help("name the session, as {\"job_id\": \"15481661885092594092\"}"),
            Self::Unreadable(why) => Diagnostic::warning(file, why)
                .help("until it is corrected, the entry is passed over"),
        }
    }
}

fn job_of(value: Value) -> Result<Job, Wrong> {
    match value {
        Value::String(_) | Value::Number(_) => json::read_json_value(value)
            .map(Job::new)
            .map_err(|error| Wrong::Unreadable(error.to_string())),
        Value::Object(ref object) => {
            if object.get("job_id").is_none_or(Value::is_null) {
                return Err(Wrong::NoId);
            }
            json::read_json_value(value).map_err(|error| Wrong::Unreadable(error.to_string()))
        }
        _ => Err(Wrong::Unreadable(
            "the entry is neither an object nor a session's id".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> Result<(Registry, Vec<Diagnostic>), Box<Diagnostic>> {
        Registry::parse("jobs.jsonl", Line::split_lines(text))
    }

    fn written(registry: &Registry) -> Vec<u8> {
        match registry.render().as_slice() {
            [Part::Bytes(bytes)] => bytes.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn read(text: impl AsRef<[u8]>) -> (Vec<String>, Vec<String>) {
        let (registry, found) = parse(text.as_ref()).unwrap();
        let ids = registry.jobs().map(|job| job.job_id.to_string());
        (
            ids.collect(),
            found.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn every_form_that_was_ever_taken_is_taken() {
        let lines = "\u{feff}{\"job_id\": \"1\", \"metadata\": {\"task\": \"x\"}}\n\n\"2\"\r\n3\n{\"job_id\": \"1\"}\n";
        assert_eq!(
            read(lines),
            (vec!["1".into(), "2".into(), "3".into()], vec![])
        );
        let array = "\n [{\"job_id\": \"1\"},\n \"2\", {\"job_id\": \"sessions/3\"}]\n";
        assert_eq!(
            read(array),
            (vec!["1".into(), "2".into(), "3".into()], vec![])
        );
        assert_eq!(read(""), (vec![], vec![]));
    }

    /// Upstream defect 14: one corrupt line stopped the monitoring of all jobs.
    #[test]
    fn defect_14_a_corrupt_line_costs_that_line_only() {
        let text = "{\"job_id\": \"1\"}\n{\"job_id\": \n{\"metadata\": {}}\n{\"job_id\": \"../2\"}\ntrue\n{\"job_id\": \"3\"}";
        let (ids, found) = read(text);
        assert_eq!(ids, ["1", "3"]);
        assert_eq!(found.len(), 4);
        assert!(found[0].starts_with("jobs.jsonl:2:"), "{}", found[0]);
        assert!(found[1].contains("no job_id"), "{}", found[1]);
        let (registry, _) = parse(text.as_bytes()).unwrap();
        let lines = written(&registry).split(|byte| *byte == b'\n').count();
        assert_eq!(lines, 7, "nothing is lost");
    }

    #[test]
    fn an_array_that_cannot_be_read_is_not_written_over() {
        let error = parse(b"[{\"job_id\": \"1\"},\n").unwrap_err();
        assert!(error.to_string().starts_with("jobs.jsonl:2:"), "{error}");
    }

    #[test]
    fn a_later_line_about_a_job_counts() {
        let lines =
            b"{\"job_id\": \"1\", \"branch\": \"a\"}\n{\"job_id\": \"1\", \"branch\": \"b\"}\n";
        let (registry, _) = parse(lines).unwrap();
        let id: JobId = "1".parse().unwrap();
        assert_eq!(registry.get(&id).unwrap().branch.as_deref(), Some("b"));
        assert_eq!(written(&registry).split(|byte| *byte == b'\n').count(), 2);
    }

    /// Upstream: a line that was not UTF-8 kept all other jobs from being checked.
    #[test]
    fn a_line_of_other_bytes_costs_that_line_only_and_is_kept() {
        let utf16: Vec<u8> = "{\"job_id\": \"8\"}\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let mut bytes = b"{\"job_id\": \"1\"}\n\xff\xfe bad\n".to_vec();
        bytes.extend_from_slice(&utf16);
        bytes.extend_from_slice(b"{\"job_id\": \"2\"}\n\0\0\0\n\xef\xbb\xbf{\"job_id\": \"3\"}\n");
        bytes.extend_from_slice(b"{\"job_id\": \"4\", \"branch\": \"\xe9\"}\n");
        let (ids, found) = read(&bytes);
        assert_eq!(ids, ["1", "2", "3"]);
        let lines: Vec<_> = found.iter().map(|told| told.split(':').nth(1)).collect();
        assert_eq!(
            lines,
            [Some("2"), Some("3"), Some("5"), Some("7")],
            "{found:?}"
        );
        let (registry, _) = parse(&bytes).unwrap();
        let (again, _) = parse(&written(&registry)).unwrap();
        assert_eq!(again.jobs().count(), 3);
        let kept = written(&registry);
        assert!(
            kept.windows(4).any(|part| part == b"\xff\xfe b"),
            "it is kept"
        );
    }

    /// Upstream: lines that other programs appended to an array made it count as broken.
    #[test]
    fn lines_behind_an_array_are_read_too() {
        let (ids, found) = read("[{\"job_id\": \"1\"},\n \"2\"]\n{\"job_id\": \"3\"}\nbad\n");
        assert_eq!(
            (ids, found.len()),
            (vec!["1".into(), "2".into(), "3".into()], 1)
        );
        assert!(found[0].starts_with("jobs.jsonl:4:"), "{}", found[0]);
        // A torn first line that only begins like an array.
        let (ids, found) = read("[torn\n{\"job_id\": \"3\"}\n");
        assert_eq!((ids, found.len()), (vec!["3".into()], 1));
        let mut bytes = b"[\"1\",\n\xff\n\"2\"]\n".to_vec();
        let (ids, found) = read(&bytes);
        assert_eq!((ids, found.len()), (vec!["1".into(), "2".into()], 1));
        bytes.truncate(4);
        assert!(parse(&bytes).is_err());
    }

    #[test]
    fn many_bad_lines_are_counted() {
        let (ids, found) = read("bad\n".repeat(300) + "\"1\"\n");
        assert_eq!((ids, found.len()), (vec!["1".to_owned()], 21));
        assert!(found[20].contains("280 more lines"), "{}", found[20]);
    }
}
