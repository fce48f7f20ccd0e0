//! Notifies subscribers of resources that have changed.

use std::time::Duration;

use tokio::sync::{broadcast, watch};

/// How many changes a slow listener may miss before the server reports that anything may have
/// changed.
const CAPACITY: usize = 256;
/// How often the monitor's files are checked while a client listens.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// The list of jobs.
pub(super) const JOBS: &str = "jules://jobs";
/// The queue of events.
pub(super) const EVENTS: &str = "jules://events";

/// The runs of a pipeline on this machine.
pub(super) const RUNS: &str = "jules://pipeline";

/// Something that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Its address.
    pub(super) uri: String,
    /// Whether the list of resources has changed.
    pub(super) list: bool,
}

/// Sends changes to the listeners of this process.
#[derive(Debug, Clone)]
pub(super) struct ChangeFeed {
    sender: broadcast::Sender<Change>,
    over: watch::Sender<bool>,
}

impl Default for ChangeFeed {
    fn default() -> Self {
        Self {
            sender: broadcast::channel(CAPACITY).0,
            over: watch::Sender::new(false),
        }
    }
}

impl ChangeFeed {
    pub(super) fn subscribe_changes(&self) -> broadcast::Receiver<Change> {
        self.sender.subscribe()
    }

    /// Releases every call that waits: no client can send or read anything any more.
    pub(super) fn end_waits(&self) {
        self.over.send_replace(true);
    }

    /// Waits until [`Self::end_waits`] was called.
    pub(super) async fn wait_for_end(&self) {
        // The sender lives as long as this does, so the wait cannot fail.
        let mut over = self.over.subscribe();
        let _ended = over.wait_for(|over| *over).await;
    }

    /// Reports that a job has changed.
    pub(super) fn notify_job(&self, id: &str) {
        self.send_change(format!("{JOBS}/{id}"), false);
        self.send_change(format!("{JOBS}/{id}/messages"), false);
    }

    /// Reports that a job was registered or retired.
    pub(super) fn notify_jobs(&self) {
        self.send_change(JOBS.to_owned(), true);
    }

    /// Reports new or acknowledged events.
    pub(super) fn notify_events(&self) {
        self.send_change(EVENTS.to_owned(), false);
    }

    /// Reports that the ledger of a repository has changed.
    pub(super) fn notify_state(&self, repository: &str) {
        self.send_change(format!("jules://state/{repository}"), false);
    }

    /// Reports that a file of a run was written.
    pub(super) fn run(&self, issue: &str, file: &str) {
        self.send_change(RUNS.to_owned(), true);
        self.send_change(format!("{RUNS}/{issue}"), false);
        self.send_change(format!("{RUNS}/{issue}/{file}"), false);
    }

    fn send_change(&self, uri: String, list: bool) {
        // A send without a listener fails, and most of the time there is none.
        let _unheard = self.sender.send(Change { uri, list });
    }
}
