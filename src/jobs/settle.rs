//! Settles a job whose pull request is merged or closed: archives the session, so that it cannot
//! push again, and retires the job.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::PullState;
use phileas_domain::jobs::{Job, JobId, MonitorMemory, PullLink, RetireReason};

use super::files::StoreError;
use super::monitor::account_for;
use super::paths::JobPaths;
use crate::runtime::ports::account::ReadPull;
use crate::runtime::ports::sessions_api::SessionsApi;
use crate::runtime::ports::{Disposition, Failure};

/// How often the pull request of a job is read.
pub const EVERY: SignedDuration = SignedDuration::from_mins(5);
/// How many pull requests are read in one call.
pub const MAX_PULLS: usize = 20;

/// What the configuration allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PullSettlement {
    /// Archive the session.
    pub archive: bool,
    /// Retire the job.
    pub retire: bool,
}

/// Reads the pull requests of jobs, and settles those that are merged or closed. Returns the jobs
/// that it retired. A failure is tried again at the next call.
///
/// # Errors
///
/// [`StoreError`].
pub async fn settle_pulls<A: SessionsApi>(
    places: &JobPaths,
    memory: &MonitorMemory,
    asked: &mut BTreeMap<JobId, Timestamp>,
    accounts: &BTreeMap<String, A>,
    pulls: &impl ReadPull,
    settling: PullSettlement,
    now: Timestamp,
) -> Result<Vec<(JobId, RetireReason)>, StoreError> {
    let mut retired = Vec::new();
    if !settling.archive && !settling.retire {
        return Ok(retired);
    }
    let (registry, _) = places.jobs_file().read_jobs()?;
    asked.retain(|id, _| registry.get(id).is_some());
    let mut left = MAX_PULLS;
    for job in registry.jobs().filter(|job| job.is_live()) {
        let known = memory.jobs.get(&job.job_id);
        let link = known.and_then(|known| PullLink::parse(known.pull.as_deref()?));
        let due = asked
            .get(&job.job_id)
            .is_none_or(|at| now.duration_since(*at) >= EVERY);
        let Some(link) = link.filter(|_| due && left > 0) else {
            continue;
        };
        left -= 1;
        asked.insert(job.job_id.clone(), now);
        let reason = match pulls.read_pull(&link).await {
            Ok(Some(pull)) => match reason_of(pull.state) {
                Some(reason) => reason,
                None => continue,
            },
            Ok(None) => continue,
            Err(failure) => {
                tracing::warn!(job = %job.job_id, "{failure}");
                continue;
            }
        };
        if finish_job(places, job, accounts, reason, settling, now).await? {
            retired.push((job.job_id.clone(), reason));
        }
    }
    Ok(retired)
}

/// The reason to retire a job, by the state of its pull request.
#[must_use]
pub fn reason_of(state: PullState) -> Option<RetireReason> {
    match state {
        PullState::Merged => Some(RetireReason::Merged),
        PullState::Closed => Some(RetireReason::Closed),
        PullState::Open => None,
    }
}

/// Archives the session and retires the job, as far as that is allowed. Returns whether the job was
/// retired.
///
/// # Errors
///
/// [`StoreError`].
pub async fn finish_job<A: SessionsApi>(
    places: &JobPaths,
    job: &Job,
    accounts: &BTreeMap<String, A>,
    reason: RetireReason,
    settling: PullSettlement,
    now: Timestamp,
) -> Result<bool, StoreError> {
    if settling.archive
        && let Some(account) = account_for(accounts, job).map(|name| &accounts[name])
        && let Err(failure) = archive_session(account, &job.job_id).await
    {
        // A retired job is not checked again, so its session must be archived first.
        tracing::warn!(job = %job.job_id, "{failure}");
        return Ok(false);
    }
    if !settling.retire {
        return Ok(false);
    }
    places.jobs_file().retire_job(&job.job_id, reason, now)
}

/// Archives a session; a running one is paused. A session that Jules does not know is no error.
pub(super) async fn archive_session(account: &impl SessionsApi, id: &JobId) -> Result<(), Failure> {
    match account.archive_job(id.as_str()).await {
        Err(failure) if failure.disposition == Disposition::NotFound => Ok(()),
        archived => archived,
    }
}
