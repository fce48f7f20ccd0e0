//! The jobs and the events that the monitor keeps, as far as they may be seen here.

use std::path::PathBuf;

use jiff::Timestamp;
use phileas_domain::jobs::{Event, EventId, Job, JobId, MonitorMemory, Registry, RetireReason};
use phileas_domain::model::RepositoryName;

use super::changes::ChangeFeed;
use super::policy::Policy;
use super::tool_error::ToolError;
use crate::jobs::files::read_state;
use crate::jobs::monitor::MAX_MEMORY_BYTES;
use crate::jobs::paths::confine_path;
use crate::jobs::{EventsFile, JobPaths, JobsFile, Page, StoreError};
use crate::runtime::ports::sessions_api::BoxedAnswer;

/// How many events, from the newest back, may be news to a listener who looks every second.
const NEWEST: u64 = 20;

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        Self::new(error.to_string())
    }
}

/// Checks the registered jobs once, as a monitor does, and writes what happened into the events file.
pub trait CheckJobs: Send + Sync {
    /// Checks them.
    fn check_jobs(&self) -> BoxedAnswer<'_, Result<(), ToolError>>;
}

/// The files of the monitor.
#[derive(Debug, Clone)]
pub struct MonitorFiles {
    pub(super) jobs: JobsFile,
    pub(super) events: EventsFile,
    /// What the monitor remembers.
    monitor: PathBuf,
    /// Files that a caller names must lie in here.
    root: PathBuf,
}

impl MonitorFiles {
    /// The files at these places. What a caller names must lie in `root`.
    #[must_use]
    pub fn new(places: &JobPaths, root: PathBuf) -> Self {
        Self {
            jobs: places.jobs_file(),
            events: places.events_file(),
            monitor: places.monitor.clone(),
            root,
        }
    }

    /// When a monitor last checked the jobs; `None`: none ever did, or its file cannot be read.
    pub(super) fn last_check(&self) -> Option<Timestamp> {
        let parse = MonitorMemory::parse;
        let (memory, _) = read_state(&self.monitor, MAX_MEMORY_BYTES, false, parse).ok()?;
        memory?.own.cycle_at
    }

    /// The jobs file that a caller means.
    pub(super) fn jobs_at(&self, asked: Option<&str>) -> Result<JobsFile, ToolError> {
        match asked {
            None => Ok(self.jobs.clone()),
            Some(path) if self.jobs.path() == std::path::Path::new(path) => Ok(self.jobs.clone()),
            Some(path) => confine_path(&self.root, path)
                .map(JobsFile::new)
                .map_err(|error| ToolError::new(format!("`jobs_path`: {error}"))),
        }
    }

    /// All registered jobs.
    pub(super) fn read_registry(&self) -> Result<Registry, ToolError> {
        Ok(self.jobs.read_jobs()?.0)
    }

    /// What is known of a job; nothing where the file cannot be read.
    pub(super) fn find_job(&self, id: &str) -> Option<Job> {
        self.jobs.get(&id.parse().ok()?).ok().flatten()
    }

    /// Has a job watched. Gives why that is not so: the job itself exists all the same.
    pub(super) fn register_job(&self, changes: &ChangeFeed, job: Job) -> Option<String> {
        let registered = self.jobs.register_job(job, Timestamp::now());
        changes.notify_jobs();
        registered.err().map(|error| error.to_string())
    }

    /// Has a job not watched any more, where it was. A file that cannot be written is the monitor's to tell.
    pub(super) fn retire_job(&self, changes: &ChangeFeed, id: &str, reason: RetireReason) {
        let Ok(id) = id.parse::<JobId>() else { return };
        if self.find_job(id.as_str()).is_none() {
            return;
        }
        if let Err(error) = self.jobs.retire_job(&id, reason, Timestamp::now()) {
            tracing::warn!("job {id} is still watched: {error}");
        }
        changes.notify_jobs();
    }

    /// The registered jobs that may be seen, the newest first.
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

    /// The jobs of the newest events; none where the file cannot be read.
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

    /// The events after a cursor that may be seen and are wanted.
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
