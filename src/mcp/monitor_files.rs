//! Reads and changes the monitor's jobs and events, as far as the policy shows them.

use std::path::PathBuf;

use async_trait::async_trait;
use jiff::Timestamp;
use phileas_domain::jobs::{Event, EventId, Job, JobId, MonitorMemory, Registry, RetireReason};
use phileas_domain::model::RepositoryName;

use super::changes::ChangeFeed;
use super::policy::Policy;
use super::tool_error::{ErrorCause, ToolError};
use crate::adapters::files::is_disk_full;
use crate::jobs::files::{Unreadable, read_state};
use crate::jobs::monitor::MAX_MEMORY_BYTES;
use crate::jobs::paths::confine_path;
use crate::jobs::{EventsFile, FileProblem, JobPaths, JobsFile, Page, StoreError};

/// How many of the newest events may be new to a listener that reads every second.
const NEWEST: u64 = 20;

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let cause = match &error.problem {
            FileProblem::System(source) if is_disk_full(source) => ErrorCause::Internal,
            FileProblem::Corrupt(_) | FileProblem::TooLarge { .. } => ErrorCause::Corrupt,
            FileProblem::System(_)
            | FileProblem::Full { .. }
            | FileProblem::Folder
            | FileProblem::Link => ErrorCause::Input,
        };
        Self::with_cause(cause, error.to_string())
    }
}

/// Checks the registered jobs once, as a monitor does, and writes what happened to the events file.
#[async_trait]
pub trait CheckJobs: Send + Sync {
    /// Checks the jobs.
    async fn check_jobs(&self) -> Result<(), ToolError>;
}

/// Opens a file that a caller names, unless something else than jobs is in it: a job would be added to it, and the rest
/// written again.
fn jobs_file_only(path: PathBuf) -> Result<JobsFile, ToolError> {
    let refused = |why: String| {
        let path = path.display();
        ToolError::input(format!("`jobs_path`: {path} is no jobs file: {why}"))
    };
    if path.extension().is_none_or(|ending| ending != "jsonl") {
        return Err(refused("its name does not end in `.jsonl`".to_owned()));
    }
    let file = JobsFile::new(&path);
    let (registry, found) = file.read_jobs()?;
    // Beside jobs, a line that is none is only warned about.
    match found.first().filter(|_| registry.is_empty()) {
        Some(wrong) => Err(refused(wrong.to_string())),
        None => Ok(file),
    }
}

/// The files of the monitor.
#[derive(Debug, Clone)]
pub struct MonitorFiles {
    pub(super) jobs: JobsFile,
    pub(super) events: EventsFile,
    /// The file of the monitor's memory.
    monitor: PathBuf,
    /// The folder that must contain any file that a caller names.
    root: PathBuf,
}

impl MonitorFiles {
    /// Takes the paths of the files. A file that a caller names must be inside `root`.
    #[must_use]
    pub fn new(places: &JobPaths, root: PathBuf) -> Self {
        Self {
            jobs: places.jobs_file(),
            events: places.events_file(),
            monitor: places.monitor.clone(),
            root,
        }
    }

    /// When a monitor last checked the jobs; `None` if none has, or its memory cannot be read.
    pub(super) fn last_check(&self) -> Option<Timestamp> {
        let parse = MonitorMemory::parse;
        let (memory, _) =
            read_state(&self.monitor, MAX_MEMORY_BYTES, Unreadable::Ignore, parse).ok()?;
        memory?.own.cycle_at
    }

    /// Opens the jobs file that a caller names.
    pub(super) fn jobs_at(&self, asked: Option<&str>) -> Result<JobsFile, ToolError> {
        match asked {
            None => Ok(self.jobs.clone()),
            Some(path) if self.jobs.path() == std::path::Path::new(path) => Ok(self.jobs.clone()),
            Some(path) => confine_path(&self.root, path)
                .map_err(|error| ToolError::input(format!("`jobs_path`: {error}")))
                .and_then(jobs_file_only),
        }
    }

    /// Reads all registered jobs.
    pub(super) fn read_registry(&self) -> Result<Registry, ToolError> {
        Ok(self.jobs.read_jobs()?.0)
    }

    /// Returns the entry of a job; `None` if there is none or the file cannot be read.
    pub(super) fn find_job(&self, id: &str) -> Option<Job> {
        self.jobs.get(&id.parse().ok()?).ok().flatten()
    }

    /// Registers a job with the monitor. A failure is returned as a text, because the job itself
    /// exists.
    pub(super) fn register_job(&self, changes: &ChangeFeed, job: Job) -> Option<String> {
        let registered = self.jobs.register_job(job, Timestamp::now());
        changes.notify_jobs();
        registered.err().map(|error| error.to_string())
    }

    /// Retires a job, if it is registered. A failure is only logged, because the monitor reports a
    /// file that it cannot write.
    pub(super) fn retire_job(&self, changes: &ChangeFeed, id: &str, reason: RetireReason) {
        let Ok(id) = id.parse::<JobId>() else { return };
        if self.find_job(id.as_str()).is_none() {
            return;
        }
        if let Err(error) = self.jobs.retire_job(&id, reason, Timestamp::now()) {
            tracing::warn!("job {id} could not be retired and is still watched: {error}");
        }
        changes.notify_jobs();
    }

    /// The registered jobs that the policy shows, newest first.
    pub(super) fn jobs_of(&self, policy: &Policy) -> Result<Vec<Job>, ToolError> {
        let mut jobs: Vec<Job> = self
            .read_registry()?
            .jobs()
            .filter(|job| policy.is_visible(job.repository_name().as_ref()))
            .cloned()
            .collect();
        jobs.reverse();
        Ok(jobs)
    }

    /// The jobs of the newest events; empty if the file cannot be read.
    pub(super) fn newest_jobs(&self) -> std::collections::BTreeSet<JobId> {
        let last = self.events.newest_id().unwrap_or_default();
        let from = EventId(last.0.saturating_sub(NEWEST));
        let page = self
            .events
            .read_after(from, crate::jobs::events::MAX_PAGE, |_| true);
        let events = page.unwrap_or_default().events;
        events
            .into_iter()
            .filter_map(|event| event.job_id)
            .collect()
    }

    /// The events after a cursor that the policy shows and `wanted` accepts.
    pub(super) fn events_after(
        &self,
        policy: &Policy,
        cursor: EventId,
        limit: usize,
        wanted: impl Fn(&Event) -> bool,
    ) -> Result<Page, ToolError> {
        let registry = if policy.allowed.is_empty() {
            Registry::default()
        } else {
            self.read_registry()?
        };
        let shown = |event: &Event| policy.is_visible(repository_of(event, &registry).as_ref());
        let page = self
            .events
            .read_after(cursor, limit, |event| wanted(event) && shown(event))?;
        Ok(page)
    }
}

fn repository_of(event: &Event, registry: &Registry) -> Option<RepositoryName> {
    let told = event
        .payload
        .as_ref()
        .and_then(|payload| payload.repo.as_ref());
    let told = told.and_then(|repo| repo.parse().ok());
    let known = |id: &JobId| registry.get(id)?.repository_name();
    told.or_else(|| event.job_id.as_ref().and_then(known))
}
