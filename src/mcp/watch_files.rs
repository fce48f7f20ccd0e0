//! Watches the monitor's files and the runs for what other programs write.

use std::collections::BTreeMap;
use std::time::SystemTime;

use phileas_domain::pipeline::IssueId;

use super::monitor_files::MonitorFiles;
use crate::adapters::pipeline::{self as runs, Runs};

/// How many runs are watched, those that changed last.
const MAX_RUNS: usize = 100;

/// The state of the monitor's files and the runs at one moment, to find later changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileMarks {
    jobs: Option<(u64, SystemTime)>,
    events: Option<(u64, SystemTime)>,
    runs: BTreeMap<(IssueId, &'static str), runs::Mark>,
}

impl FileMarks {
    pub(super) fn read_marks(queue: &MonitorFiles, runs: &Runs) -> Self {
        let mark = |path: &std::path::Path| {
            let known = std::fs::metadata(path).ok()?;
            Some((known.len(), known.modified().ok()?))
        };
        Self {
            jobs: mark(queue.jobs.path()),
            events: mark(queue.events.path()),
            runs: runs.artifact_marks(MAX_RUNS),
        }
    }

    /// Whether the jobs file and the events file have changed.
    pub(super) fn changed_files(&self, before: &Self) -> (bool, bool) {
        (self.jobs != before.jobs, self.events != before.events)
    }

    /// The files of runs that have changed.
    pub(super) fn changed_artifacts(&self, before: &Self) -> Vec<(IssueId, &'static str)> {
        let is_new = |(file, mark): &(&(IssueId, &'static str), &runs::Mark)| {
            before.runs.get(file).is_none_or(|known| known != *mark)
        };
        let gone = before
            .runs
            .keys()
            .filter(|file| !self.runs.contains_key(file));
        let new = self.runs.iter().filter(is_new).map(|(file, _)| file);
        new.chain(gone).cloned().collect()
    }
}
