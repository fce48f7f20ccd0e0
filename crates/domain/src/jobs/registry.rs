//! The jobs file: one JSON object a line, and everything else that was ever taken for it.
//!
//! Taken are a JSON array of all jobs, a bare id in place of an object, blank lines, and lines that cannot be read, which
//! are told and left alone. Written is the form with an object a line.

use std::collections::BTreeMap;

use serde_json::Value;

use super::job::{Job, JobId};
use crate::Diagnostic;

/// The largest jobs file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// The most jobs that are kept in a file; a monitor looks at them all.
pub const MAX_JOBS: usize = 10_000;

/// The jobs of a file, in the order in which they stand there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry {
    entries: Vec<Entry>,
    /// Where each job stands in `entries`.
    places: BTreeMap<JobId, usize>,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Job(Box<Job>),
    /// A line that is no job, as it stands.
    Foreign(String),
}

impl Registry {
    /// Reads a jobs file. What cannot be read is told; it stays as it is when the file is written again.
    ///
    /// # Errors
    ///
    /// A file that begins as an array and is none: nothing of it can be told apart, so it must not be written over.
    pub fn parse(file: &str, text: &str) -> Result<(Self, Vec<Diagnostic>), Diagnostic> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_start().starts_with('[') {
            return Self::parse_array(file, text);
        }
        let mut registry = Self::default();
        let mut found = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let read = serde_json::from_str::<Value>(line)
                .map_err(|error| {
                    let column = u32::try_from(error.column()).unwrap_or(u32::MAX);
                    Diagnostic::warning(file, "the line is no JSON")
                        .at(number, column)
                        .mend("write one JSON object a line, such as {\"job_id\": \"15481661885092594092\"}")
                })
                .and_then(|value| {
                    job_of(value).map_err(|wrong| wrong.told(file).at(number, 1))
                });
            match read {
                Ok(job) => registry.put(job),
                Err(diagnostic) => {
                    found.push(diagnostic);
                    registry.entries.push(Entry::Foreign(line.to_owned()));
                }
            }
        }
        Ok((registry, found))
    }

    fn parse_array(file: &str, text: &str) -> Result<(Self, Vec<Diagnostic>), Diagnostic> {
        let values: Vec<Value> = serde_json::from_str(text).map_err(|error| {
            let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            Diagnostic::error(file, "the file begins as a JSON array and is none")
                .at(place(error.line()), place(error.column()))
                .mend("mend the array, or write one JSON object a line")
        })?;
        let mut registry = Self::default();
        let mut found = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let line = value.to_string();
            match job_of(value) {
                Ok(job) => registry.put(job),
                Err(wrong) => {
                    found.push(wrong.told(file).key(format!("[{index}]")));
                    registry.entries.push(Entry::Foreign(line));
                }
            }
        }
        Ok((registry, found))
    }

    /// The jobs, retired ones included.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Job(job) => Some(&**job),
            Entry::Foreign(_) => None,
        })
    }

    /// A job.
    #[must_use]
    pub fn get(&self, id: &JobId) -> Option<&Job> {
        match self.entries.get(*self.places.get(id)?)? {
            Entry::Job(job) => Some(job),
            Entry::Foreign(_) => None,
        }
    }

    /// A job, to be changed.
    pub fn get_mut(&mut self, id: &JobId) -> Option<&mut Job> {
        match self.entries.get_mut(*self.places.get(id)?)? {
            Entry::Job(job) => Some(job),
            Entry::Foreign(_) => None,
        }
    }

    /// Adds a job, or puts it in the place of the one with its id.
    pub fn put(&mut self, job: Job) {
        match self.get_mut(&job.job_id) {
            Some(known) => *known = job,
            None => {
                self.places.insert(job.job_id.clone(), self.entries.len());
                self.entries.push(Entry::Job(Box::new(job)));
            }
        }
    }

    /// Leaves out the jobs that `keep` says no to.
    pub fn retain(&mut self, mut keep: impl FnMut(&Job) -> bool) {
        self.entries.retain(|entry| match entry {
            Entry::Job(job) => keep(job),
            Entry::Foreign(_) => true,
        });
        self.places = self
            .entries
            .iter()
            .enumerate()
            .filter_map(place_of)
            .collect();
    }

    /// How many jobs there are, retired ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The file's text.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            match entry {
                Entry::Job(job) => text.push_str(&line_of(job)),
                Entry::Foreign(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }
}

fn place_of((place, entry): (usize, &Entry)) -> Option<(JobId, usize)> {
    match entry {
        Entry::Job(job) => Some((job.job_id.clone(), place)),
        Entry::Foreign(_) => None,
    }
}

/// A job as its line of the file, with the end of the line.
#[must_use]
pub fn line_of(job: &Job) -> String {
    let mut line = serde_json::to_string(job).expect("a job's keys are texts");
    line.push('\n');
    line
}

/// What keeps an entry from being a job.
enum Wrong {
    NoId,
    Unreadable(String),
}

impl Wrong {
    fn told(self, file: &str) -> Diagnostic {
        match self {
            Self::NoId => Diagnostic::warning(file, "the entry has no job_id")
                .mend("name the session, as {\"job_id\": \"15481661885092594092\"}"),
            Self::Unreadable(why) => {
                Diagnostic::warning(file, why).mend("the entry is passed over until it is mended")
            }
        }
    }
}

fn job_of(value: Value) -> Result<Job, Wrong> {
    match value {
        Value::String(_) | Value::Number(_) => serde_json::from_value(value)
            .map(Job::new)
            .map_err(|error| Wrong::Unreadable(error.to_string())),
        Value::Object(ref object) => {
            if object.get("job_id").is_none_or(Value::is_null) {
                return Err(Wrong::NoId);
            }
            serde_json::from_value(value).map_err(|error| Wrong::Unreadable(error.to_string()))
        }
        _ => Err(Wrong::Unreadable(
            "the entry is neither an object nor a session's id".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let (registry, found) = Registry::parse("jobs.jsonl", text).unwrap();
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
        let (registry, _) = Registry::parse("jobs.jsonl", text).unwrap();
        assert_eq!(registry.render().lines().count(), 6, "nothing is lost");
    }

    #[test]
    fn an_array_that_cannot_be_read_is_not_written_over() {
        let error = Registry::parse("jobs.jsonl", "[{\"job_id\": \"1\"},\n").unwrap_err();
        assert!(error.to_string().starts_with("jobs.jsonl:2:"), "{error}");
    }

    #[test]
    fn a_later_line_about_a_job_counts() {
        let text =
            "{\"job_id\": \"1\", \"branch\": \"a\"}\n{\"job_id\": \"1\", \"branch\": \"b\"}\n";
        let (registry, _) = Registry::parse("jobs.jsonl", text).unwrap();
        let id: JobId = "1".parse().unwrap();
        assert_eq!(registry.get(&id).unwrap().branch.as_deref(), Some("b"));
        assert_eq!(registry.render().lines().count(), 1);
    }
}
