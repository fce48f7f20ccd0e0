//! Handles one event: reads the facts, retries or approves where that is allowed, and writes the
//! brief for an agent.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{CreateFailure, Pull, format_utc};
use phileas_domain::jobs::job::RetryIntent;
use phileas_domain::jobs::{
    AccountSession, Brief, Event, EventKind, Job, JobId, PullLink, RetireReason, settled_reason,
};
use phileas_domain::model::RepositoryName;
use phileas_domain::patch::{self, FileChange};
use serde_json::{Value, json};

use super::Registered;
use super::files::StoreError;
use super::monitor::account_for;
use super::paths::JobPaths;
use super::settle::{PullSettlement, archive_session, finish_job, reason_of};
use crate::runtime::ports::account::{AccountFailure, ReadAccount, ReadPull};
use crate::runtime::ports::sessions_api::{NewJob, SessionsApi};

/// The prefix of a retry's marker, in a session's title and in the last line of its prompt.
const MARKER: &str = "phileas-retry:";

/// How long a new session can take to appear in the listing. The handler does not start a second
/// one before that.
const RETRY_GRACE: SignedDuration = SignedDuration::from_secs(20);

/// What the configuration allows the handler to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// Ask Jules for the session's changes, and whether the session still waits for a reaction.
    pub checks_session: bool,
    /// Ask GitHub for the pull request and its checks.
    pub checks: bool,
    /// Start a session in place of a failed one, at most this many times.
    pub retries: u32,
    /// Approve plans.
    pub approve_plans: bool,
    /// What to do when the pull request is merged or closed.
    pub settling: PullSettlement,
}

/// Handles events.
#[derive(Debug)]
pub struct EventHandler<'a, A, P> {
    /// Where the files are.
    pub paths: &'a JobPaths,
    /// The accounts, one a Jules key; empty if there is no key.
    pub accounts: &'a BTreeMap<String, A>,
    /// The GitHub client; `None` without a credential.
    pub pulls: Option<&'a P>,
    /// What the configuration allows the handler to do.
    pub allowed: Allowed,
}

/// What the handler did about an event.
#[derive(Debug, Clone, PartialEq)]
pub struct HandledEvent {
    /// The brief for an agent.
    pub text: String,
    /// The same for a program.
    pub document: Value,
    /// Whether the event must be handled again, because something is to be tried again.
    pub again: bool,
}

/// What the handler finds out and does about one event.
#[derive(Default)]
struct Work {
    files: Vec<FileChange>,
    pull: Option<Pull>,
    settled: Option<String>,
    notes: Vec<String>,
    retried: Option<JobId>,
    again: bool,
}

impl<A: ReadAccount + SessionsApi, P: ReadPull> EventHandler<'_, A, P> {
    /// Handles an event.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. A failure of Jules or GitHub becomes a note of the brief.
    pub async fn handle_event(
        &self,
        event: &Event,
        now: Timestamp,
    ) -> Result<HandledEvent, StoreError> {
        let jobs = self.paths.jobs_file();
        let job = match &event.job_id {
            Some(id) => jobs.get(id)?,
            None => None,
        };
        let mut work = Work::default();
        if let Some(id) = &event.job_id {
            let job = job.clone().unwrap_or_else(|| unlisted_job(event, id));
            match event.event_kind() {
                Some(EventKind::Completed) => {
                    self.handle_completed(event, &job, &mut work, now).await?
                }
                Some(EventKind::Stuck) => {
                    self.recheck_job(event, &job, &mut work).await;
                    self.pull_of(event, &mut work).await;
                }
                Some(EventKind::PlanReview) => {
                    self.recheck_job(event, &job, &mut work).await;
                    if work.settled.is_none() {
                        self.handle_plan(&job, &mut work).await;
                    }
                }
                Some(EventKind::Error) => self.handle_failed(event, &job, &mut work, now).await?,
                Some(EventKind::Question) => self.recheck_job(event, &job, &mut work).await,
                None => {}
            }
        }
        let job = match &event.job_id {
            Some(id) => jobs.get(id)?,
            None => None,
        };
        let brief = Brief {
            event,
            job: job.as_ref(),
            files: &work.files,
            pull: work.pull.as_ref(),
            settled: work.settled.as_deref(),
            notes: &work.notes,
        };
        let changes = |file: &FileChange| json!({"path": file.path, "added": file.added, "removed": file.removed, "binary": file.binary});
        let document = json!({
            "event": event.event,
            "id": event.id,
            "job_id": event.job_id,
            "files": work.files.iter().map(changes).collect::<Vec<_>>(),
            "checks": work.pull.as_ref().map(|pull| format!("{:?}", pull.checks).to_lowercase()),
            "head": work.pull.as_ref().map(|pull| pull.head_oid.to_string()),
            "retried_as": work.retried,
            "settled": work.settled,
            "notes": work.notes,
            "brief": brief.render_brief(),
        });
        Ok(HandledEvent {
            text: brief.render_brief(),
            document,
            again: work.again,
        })
    }

    fn find_account(&self, job: &Job) -> Option<&A> {
        account_for(self.accounts, job).map(|name| &self.accounts[name])
    }

    /// Asks Jules whether the session still waits: another process may have answered it already.
    async fn recheck_job(&self, event: &Event, job: &Job, work: &mut Work) {
        if !self.allowed.checks_session {
            return;
        }
        let Some(account) = self.find_account(job) else {
            work.notes.push(
                "it is unknown whether the session still waits: there is no Jules key".to_owned(),
            );
            return;
        };
        match self.read_job_state(event, job, account, work).await {
            Ok(settled) => work.settled = settled,
            Err(failure) => work.notes.push(format!(
                "it is unknown whether the session still waits: {failure}"
            )),
        }
    }

    async fn read_job_state(
        &self,
        event: &Event,
        job: &Job,
        account: &A,
        work: &mut Work,
    ) -> Result<Option<String>, AccountFailure> {
        let Some(seen) = account.read_session(&job.job_id).await? else {
            // A session of another key looks the same, so this settles nothing.
            let note = "it is unknown whether the session still waits: Jules shows this key no such session";
            work.notes.push(note.to_owned());
            return Ok(None);
        };
        let log = account
            .read_session_activities(&job.job_id)
            .await?
            .unwrap_or_default();
        Ok(settled_reason(event, &seen, &log))
    }

    async fn handle_completed(
        &self,
        event: &Event,
        job: &Job,
        work: &mut Work,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if self.allowed.checks_session {
            match self.find_account(job) {
                Some(account) => match account.read_session_changes(&job.job_id).await {
                    Ok(diff) => {
                        work.files = diff
                            .as_deref()
                            .map(patch::changed_files)
                            .unwrap_or_default()
                    }
                    Err(failure) => work.notes.push(failure.to_string()),
                },
                None => work
                    .notes
                    .push("the changes were not read: there is no Jules key".to_owned()),
            }
        }
        self.pull_of(event, work).await;
        let over = work.pull.as_ref().and_then(|pull| reason_of(pull.state));
        if let Some(reason) = over {
            let settling = self.allowed.settling;
            if finish_job(self.paths, job, self.accounts, reason, settling, now).await? {
                work.notes.push("the job is retired".to_owned());
            }
        }
        Ok(())
    }

    async fn pull_of(&self, event: &Event, work: &mut Work) {
        let link = event
            .payload
            .as_ref()
            .and_then(|payload| payload.pull.as_deref());
        let Some(link) = link
            .and_then(PullLink::parse)
            .filter(|_| self.allowed.checks)
        else {
            return;
        };
        let Some(pulls) = self.pulls else {
            work.notes
                .push("the pull request was not read: there is no GitHub credential".to_owned());
            return;
        };
        match pulls.read_pull(&link).await {
            Ok(pull) => work.pull = pull,
            Err(failure) => work.notes.push(failure.to_string()),
        }
    }

    async fn handle_plan(&self, job: &Job, work: &mut Work) {
        if !self.allowed.approve_plans {
            return;
        }
        let note = match self.find_account(job) {
            None => "the plan was not approved: there is no Jules key".to_owned(),
            Some(account) => match account.approve_job_plan(job.job_id.as_str()).await {
                Ok(()) => "the plan was approved, as the configuration says".to_owned(),
                Err(failure) => {
                    work.again = true;
                    format!("the plan was not approved: {failure}")
                }
            },
        };
        work.notes.push(note);
    }

    async fn handle_failed(
        &self,
        event: &Event,
        job: &Job,
        work: &mut Work,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let cause = event
            .payload
            .as_ref()
            .and_then(|payload| payload.cause.as_deref());
        let failed = match cause {
            Some(cause) => cause == "session_failed",
            // A line of the first program that wrote events, which names the status alone.
            None => matches!(event.status.as_deref(), Some("FAILED" | "ERROR")),
        };
        if !failed || !job.is_live() {
            return Ok(());
        }
        if job.attempt_number() > self.allowed.retries {
            if self.allowed.retries > 0 {
                let attempts = job.attempt_number();
                work.notes.push(format!(
                    "the job failed after {attempts} attempts and is not retried again"
                ));
            }
            return Ok(());
        }
        let Some(account) = self.find_account(job) else {
            work.notes
                .push("the job was not retried: there is no Jules key".to_owned());
            return Ok(());
        };
        match self.retry_job(job, account, now).await {
            Ok(new) => {
                work.notes.push(format!("the job is retried as job {new}"));
                work.retried = Some(new);
            }
            Err(RetryError::NotStarted { why, again }) => {
                work.notes.push(format!("the job was not retried: {why}"));
                work.again = again;
            }
            Err(RetryError::Store(error)) => return Err(error),
        }
        Ok(())
    }

    /// Starts a session in place of a failed one. The intent is written first, so that a process
    /// that is killed in between does not start two.
    async fn retry_job(&self, job: &Job, account: &A, now: Timestamp) -> Result<JobId, RetryError> {
        let jobs = self.paths.jobs_file();
        let attempt = job.attempt_number() + 1;
        let marker = format!("{MARKER}{}.{attempt}", job.job_id);
        let old = read_failed_session(job, account).await?;
        let source = retry_source(job, &old)?;
        let started = match &job.retry_intent {
            None => {
                self.record_retry_intent(job, attempt, now)?;
                None
            }
            Some(intent) => {
                let started = account.find_marked_session(&marker).await?;
                let young = now.duration_since(intent.at) < RETRY_GRACE;
                if started.is_none() && young {
                    return Err(RetryError::later(
                        "it may have been created; the next run looks for it",
                    ));
                }
                started
            }
        };
        let started = match started {
            Some(started) => started,
            None => {
                let new = NewJob {
                    prompt: format!("{}\n\n{marker}", without_marker(&old.prompt)),
                    title: Some(
                        format!("{} [{marker}]", title_of(&old.title))
                            .trim()
                            .to_owned(),
                    ),
                    source,
                    open_pull: job.open_pull.unwrap_or(true),
                    require_plan_approval: job.require_plan_approval.unwrap_or(false),
                };
                self.start_retry(job, account, new).await?
            }
        };
        let mut next = job.clone();
        next.job_id = started.id.clone();
        next.retry_intent = None;
        next.retired = None;
        next.registered_at = Some(now);
        next.retry_of = Some(job.job_id.clone());
        next.attempt = Some(attempt);
        let _known = jobs.register_job(next, now)?;
        if self.allowed.settling.archive
            && let Err(failure) = archive_session(account, &job.job_id).await
        {
            tracing::warn!(job = %job.job_id, "{failure}");
        }
        jobs.retire_job(&job.job_id, RetireReason::Retried, now)?;
        Ok(started.id)
    }

    /// Records the intent to start a session. The intent is part of the job's entry, so a job
    /// without an entry gets one.
    fn record_retry_intent(
        &self,
        job: &Job,
        attempt: u32,
        now: Timestamp,
    ) -> Result<(), RetryError> {
        let jobs = self.paths.jobs_file();
        let intent = RetryIntent { attempt, at: now };
        let began = || RetryError::later("another program has begun to retry it");
        let is_first = jobs.update_job(&job.job_id, |known| {
            let is_first = known.retry_intent.is_none();
            known.retry_intent.get_or_insert_with(|| intent.clone());
            is_first
        })?;
        match is_first {
            Some(true) => Ok(()),
            Some(false) => Err(began()),
            None => {
                let mut new = job.clone();
                new.retry_intent = Some(intent);
                match jobs.register_job(new, now)? {
                    Registered::New => Ok(()),
                    Registered::Known | Registered::Again => Err(began()),
                }
            }
        }
    }

    /// Starts the session. The intent stays while it is unknown whether one was started.
    async fn start_retry(
        &self,
        job: &Job,
        account: &A,
        new: NewJob,
    ) -> Result<AccountSession, RetryError> {
        let failure = match account.create_job(new).await {
            Ok(started) => return Ok(started),
            Err(CreateFailure::Unknown { detail }) => return Err(RetryError::later(detail)),
            Err(failure) => failure,
        };
        let jobs = self.paths.jobs_file();
        jobs.update_job(&job.job_id, |job| job.retry_intent = None)?;
        Err(RetryError::from(failure))
    }
}

/// Why no session was started in place of another.
enum RetryError {
    /// The session was not started.
    NotStarted {
        why: String,
        /// Whether it is tried again.
        again: bool,
    },
    /// A file of the jobs cannot be read or written.
    Store(StoreError),
}

impl RetryError {
    fn later(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::NotStarted { why, again: true }
    }

    fn never(why: &str) -> Self {
        let why = why.to_owned();
        Self::NotStarted { why, again: false }
    }
}

impl From<StoreError> for RetryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<AccountFailure> for RetryError {
    fn from(failure: AccountFailure) -> Self {
        Self::later(failure.detail)
    }
}

impl From<CreateFailure> for RetryError {
    fn from(failure: CreateFailure) -> Self {
        match failure {
            CreateFailure::NotSent { detail } => Self::later(detail),
            CreateFailure::Quota { retry_at } => {
                let until =
                    retry_at.map_or_else(String::new, |at| format!(" until {}", format_utc(at)));
                Self::never(&format!("the key's quota is used up{until}"))
            }
            CreateFailure::Credential { detail }
            | CreateFailure::Refused { detail }
            | CreateFailure::TurnRefused { detail }
            | CreateFailure::Unknown { detail } => Self::never(&detail),
        }
    }
}

/// Reads the session that failed, unless another may not be started in its place.
async fn read_failed_session(
    job: &Job,
    account: &impl ReadAccount,
) -> Result<AccountSession, RetryError> {
    let old = account.read_session(&job.job_id).await?;
    let old = old.ok_or_else(|| RetryError::never("Jules does not know its session"))?;
    if old.belongs_to_turn() {
        return Err(RetryError::never(
            "it belongs to a track, which decides about retries",
        ));
    }
    if old.prompt.trim().is_empty() {
        return Err(RetryError::never("Jules does not show its prompt"));
    }
    Ok(old)
}

/// The repository and the branch that the session started from; `None` for a session without a repository.
fn retry_source(
    job: &Job,
    old: &AccountSession,
) -> Result<Option<(RepositoryName, String)>, RetryError> {
    let branch = job.branch.clone().or_else(|| old.branch.clone());
    let repository = old.repository.clone().or_else(|| job.repository_name());
    match (repository, branch) {
        (None, _) => Ok(None),
        (Some(repository), Some(branch)) => Ok(Some((repository, branch))),
        (Some(_), None) => Err(RetryError::never(
            "the branch that it started from is unknown",
        )),
    }
}

/// Builds a job that is in no jobs file, with the repository of its event: each repository may have
/// a key of its own.
fn unlisted_job(event: &Event, id: &JobId) -> Job {
    let mut job = Job::new(id.clone());
    job.repo = event
        .payload
        .as_ref()
        .and_then(|payload| payload.repo.clone());
    job
}

/// Returns the prompt without the marker of an earlier attempt.
fn without_marker(prompt: &str) -> &str {
    let prompt = prompt.trim_end();
    match prompt.rsplit_once('\n') {
        Some((before, last)) if last.starts_with(MARKER) => before.trim_end(),
        _ => prompt,
    }
}

/// Returns the title without the marker of an earlier attempt.
fn title_of(title: &str) -> &str {
    match title.rsplit_once(" [") {
        Some((before, last)) if last.starts_with(MARKER) => before,
        _ => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_do_not_pile_up() {
        assert_eq!(without_marker("Do it.\n\nphileas-retry:7.2\n"), "Do it.");
        assert_eq!(without_marker("Do it.\nNow."), "Do it.\nNow.");
        assert_eq!(title_of("Tidy [phileas-retry:7.2]"), "Tidy");
        assert_eq!(title_of("Tidy [up]"), "Tidy [up]");
    }
}
