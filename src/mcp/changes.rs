//! What has changed, for those who subscribed to it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use tokio::sync::{broadcast, watch};

use phileas_domain::pipeline::IssueId;

use super::queue::Queue;
use crate::adapters::pipeline::{self as runs, Runs};

/// How many changes a slow listener may lag behind before it is told that anything may have changed.
const CAPACITY: usize = 256;
/// How often the monitor's files are looked at while somebody listens.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// The list of jobs.
pub(super) const JOBS: &str = "jules://jobs";
/// The queue of events.
pub(super) const EVENTS: &str = "jules://events";

/// The runs of a pipeline on this machine.
pub(super) const RUNS: &str = "jules://pipeline";
/// How many runs are watched, those that changed last.
const MAX_RUNS: usize = 100;

/// Something that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Its address.
    pub(super) uri: String,
    /// Whether the list of resources is another now.
    pub(super) list: bool,
}

/// Tells listeners of this process what has changed.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    told: broadcast::Sender<Change>,
    over: watch::Sender<bool>,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            told: broadcast::channel(CAPACITY).0,
            over: watch::Sender::new(false),
        }
    }
}

impl Changes {
    pub(super) fn listen(&self) -> broadcast::Receiver<Change> {
        self.told.subscribe()
    }

    /// Nobody will ask any more, so nobody need wait any longer.
    pub(super) fn end(&self) {
        self.over.send_replace(true);
    }

    /// Completes when nobody will ask any more.
    pub(super) async fn ended(&self) {
        // The sender lives as long as this does.
        let mut over = self.over.subscribe();
        let _ended = over.wait_for(|over| *over).await;
    }

    /// A job is another now.
    pub(super) fn job(&self, id: &str) {
        self.tell(format!("{JOBS}/{id}"), false);
        self.tell(format!("{JOBS}/{id}/messages"), false);
    }

    /// A job was registered or retired.
    pub(super) fn jobs(&self) {
        self.tell(JOBS.to_owned(), true);
    }

    /// There are new events, or some were acknowledged.
    pub(super) fn events(&self) {
        self.tell(EVENTS.to_owned(), false);
    }

    /// The ledger of a repository is another now.
    pub(super) fn state(&self, repository: &str) {
        self.tell(format!("jules://state/{repository}"), false);
    }

    /// A file of a run was written.
    pub(super) fn run(&self, issue: &str, file: &str) {
        self.tell(RUNS.to_owned(), true);
        self.tell(format!("{RUNS}/{issue}"), false);
        self.tell(format!("{RUNS}/{issue}/{file}"), false);
    }

    fn tell(&self, uri: String, list: bool) {
        // Nobody listens most of the time.
        let _unheard = self.told.send(Change { uri, list });
    }
}

/// The monitor's files and the runs as they stood, to tell when somebody else has written into them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    jobs: Option<(u64, SystemTime)>,
    events: Option<(u64, SystemTime)>,
    runs: BTreeMap<(IssueId, &'static str), runs::Mark>,
}

impl Mark {
    pub(super) fn of(queue: &Queue, runs: &Runs) -> Self {
        let mark = |path: &std::path::Path| {
            let known = std::fs::metadata(path).ok()?;
            Some((known.len(), known.modified().ok()?))
        };
        Self {
            jobs: mark(queue.jobs.path()),
            events: mark(queue.events.path()),
            runs: runs.marks(MAX_RUNS),
        }
    }

    /// Whether the jobs file and the events file are others than they were.
    pub(super) fn differs(&self, before: &Self) -> (bool, bool) {
        (self.jobs != before.jobs, self.events != before.events)
    }

    /// Files of runs that are others than they were.
    pub(super) fn written(&self, before: &Self) -> Vec<(IssueId, &'static str)> {
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
