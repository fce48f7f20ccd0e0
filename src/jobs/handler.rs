//! What is done about an event, and what an agent reads of it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{CreateFailure, Pull};
use phileas_domain::jobs::job::RetryIntent;
use phileas_domain::jobs::{
    Brief, Event, EventKind, Job, JobId, PullLink, RetireReason, settled_reason,
};
use phileas_domain::patch::{self, FileChange};
use serde_json::{Value, json};

use super::files::StoreError;
use super::monitor::account_for;
use super::paths::JobPaths;
use super::settle::{PullSettlement, finish, reason_of};
use crate::runtime::ports::account::{AccountFailure, NewJob, ReadPull, WriteAccount};

/// What stands before a retry's marker in a title and in the last line of a prompt.
const MARKER: &str = "phileas-retry:";
/// What stands in the prompt of a session that a track of phileas has started: the track decides about it.
const TURN: &str = "phileas-turn:";

/// How long a session that may have been started can take to appear in the listing. Nothing is started before that.
const RETRY_GRACE: SignedDuration = SignedDuration::from_secs(20);

/// What the handler may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// Ask Jules for the session's changes, and whether what the event reports still waits for a reaction.
    pub checks_session: bool,
    /// Ask GitHub for the pull request and its checks.
    pub checks: bool,
    /// Start a session in place of one that failed, at most so many times.
    pub retries: u32,
    /// Approve plans.
    pub approve_plans: bool,
    /// What is done when the pull request is merged or closed.
    pub settling: PullSettlement,
}

/// Deals with events.
#[derive(Debug)]
pub struct EventHandler<'a, A, P> {
    /// Where the files are.
    pub paths: &'a JobPaths,
    /// The Jules keys; empty where there are none.
    pub accounts: &'a BTreeMap<String, A>,
    /// GitHub, where there is a credential.
    pub pulls: Option<&'a P>,
    /// What may be done.
    pub allowed: Allowed,
}

/// What was done.
#[derive(Debug, Clone, PartialEq)]
pub struct HandledEvent {
    /// For an agent.
    pub text: String,
    /// For a program.
    pub document: Value,
    /// Something is to be tried again: the event is not dealt with yet.
    pub again: bool,
}

/// What is found out and done about one event.
#[derive(Default)]
struct Work {
    files: Vec<FileChange>,
    pull: Option<Pull>,
    settled: Option<String>,
    notes: Vec<String>,
    retried: Option<JobId>,
    again: bool,
}

impl<A: WriteAccount, P: ReadPull> EventHandler<'_, A, P> {
    /// Deals with an event.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. What fails outside is a note of the brief.
    pub async fn handle(&self, event: &Event, now: Timestamp) -> Result<HandledEvent, StoreError> {
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

    /// Finds out whether what the event reports still waits: another process may have been quicker.
    async fn recheck_job(&self, event: &Event, job: &Job, work: &mut Work) {
        if !self.allowed.checks_session {
            return;
        }
        let Some(account) = self.find_account(job) else {
            work.notes
                .push("whether it still waits was not looked up: there is no Jules key".to_owned());
            return;
        };
        match self.read_job_state(event, job, account, work).await {
            Ok(settled) => work.settled = settled,
            Err(failure) => work
                .notes
                .push(format!("whether it still waits is not known: {failure}")),
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
            // One that belongs to another key looks the same, so that settles nothing.
            let note =
                "whether it still waits is not known: this key's Jules knows no such session";
            work.notes.push(note.to_owned());
            return Ok(None);
        };
        let log = account.activities(&job.job_id).await?.unwrap_or_default();
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
                Some(account) => match account.changes(&job.job_id).await {
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
            if finish(self.paths, job, self.accounts, reason, settling, now).await? {
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
        match pulls.pull(&link).await {
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
            Some(account) => match account.approve(&job.job_id).await {
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
            // A line of the first writer.
            None => matches!(event.status.as_deref(), Some("FAILED" | "ERROR")),
        };
        if !failed || !job.is_live() {
            return Ok(());
        }
        if job.attempt_number() > self.allowed.retries {
            if self.allowed.retries > 0 {
                let attempts = job.attempt_number();
                work.notes.push(format!(
                    "it was tried {attempts} times and is not tried again"
                ));
            }
            return Ok(());
        }
        let Some(account) = self.find_account(job) else {
            work.notes
                .push("it was not tried again: there is no Jules key".to_owned());
            return Ok(());
        };
        match self.retry_job(job, account, now).await? {
            Ok(new) => {
                work.notes.push(format!("it is tried again as job {new}"));
                work.retried = Some(new);
            }
            Err(NotRetried { why, again }) => {
                work.notes.push(format!("it was not tried again: {why}"));
                work.again = again;
            }
        }
        Ok(())
    }

    /// Starts a session in place of one that failed: the intent first, and once only, even if the process is killed in between.
    async fn retry_job(
        &self,
        job: &Job,
        account: &A,
        now: Timestamp,
    ) -> Result<Result<JobId, NotRetried>, StoreError> {
        let jobs = self.paths.jobs_file();
        let stop = |why: String, again| Ok(Err(NotRetried { why, again }));
        let attempt = job.attempt_number() + 1;
        let marker = format!("{MARKER}{}.{attempt}", job.job_id);
        let old = match account.read_session(&job.job_id).await {
            Ok(Some(old)) => old,
            Ok(None) => return stop("Jules does not know its session".to_owned(), false),
            Err(failure) => return stop(failure.to_string(), true),
        };
        if old.prompt.contains(TURN) {
            return stop(
                "it belongs to a track, which decides about it".to_owned(),
                false,
            );
        }
        if old.prompt.trim().is_empty() {
            return stop("its prompt is not shown".to_owned(), false);
        }
        let branch = match (&job.branch, account.branch(&job.job_id).await) {
            (Some(branch), _) => Some(branch.clone()),
            (None, Ok(branch)) => branch,
            (None, Err(failure)) => return stop(failure.to_string(), true),
        };
        let repository = old.repository.clone().or_else(|| job.repository_name());
        let source = match (repository, branch) {
            (None, _) => None,
            (Some(repository), Some(branch)) => Some((repository, branch)),
            (Some(_), None) => {
                return stop(
                    "the branch that it started from is not known".to_owned(),
                    false,
                );
            }
        };
        let intent = job.retry_intent.clone();
        let intended = intent.is_some();
        if !intended {
            let intent = RetryIntent { attempt, at: now };
            // A job that is in no jobs file joins it, so that the intent has a place.
            if jobs
                .update(&job.job_id, |job| job.retry_intent = Some(intent.clone()))?
                .is_none()
            {
                let mut new = job.clone();
                new.retry_intent = Some(intent);
                jobs.register(new, now)?;
            }
        }
        let made = if intended {
            match account.marked(&marker).await {
                Ok(made) => made,
                Err(failure) => return stop(failure.to_string(), true),
            }
        } else {
            None
        };
        let young = intent.is_some_and(|intent| now.duration_since(intent.at) < RETRY_GRACE);
        let made = match made {
            Some(made) => made,
            None if young => return stop("whether it was is looked for again".to_owned(), true),
            None => {
                let new = NewJob {
                    prompt: format!("{}\n\n{marker}", without_marker(&old.prompt)),
                    title: format!("{} [{marker}]", title_of(&old.title))
                        .trim()
                        .to_owned(),
                    source,
                    open_pull: job.open_pull.unwrap_or(true),
                    require_plan_approval: job.require_plan_approval.unwrap_or(false),
                };
                match account.start(&new).await {
                    Ok(made) => made,
                    Err(CreateFailure::Unknown { detail }) => return stop(detail, true),
                    Err(failure) => {
                        jobs.update(&job.job_id, |job| job.retry_intent = None)?;
                        let (why, again) = why_not(failure);
                        return stop(why, again);
                    }
                }
            }
        };
        let mut next = job.clone();
        next.job_id = made.id.clone();
        next.retry_intent = None;
        next.retired = None;
        next.registered_at = Some(now);
        next.retry_of = Some(job.job_id.clone());
        next.attempt = Some(attempt);
        let _known = jobs.register(next, now)?;
        if self.allowed.settling.archive
            && let Err(failure) = account.archive_account_job(&job.job_id).await
        {
            tracing::warn!(job = %job.job_id, "{failure}");
        }
        jobs.retire(&job.job_id, RetireReason::Retried, now)?;
        Ok(Ok(made.id))
    }
}

/// Why a session was not started in place of another, and whether it is tried again.
struct NotRetried {
    why: String,
    again: bool,
}

/// A job that is in no jobs file, of the repository that its event names: each may have a key of its own.
fn unlisted_job(event: &Event, id: &JobId) -> Job {
    let mut job = Job::new(id.clone());
    job.repo = event
        .payload
        .as_ref()
        .and_then(|payload| payload.repo.clone());
    job
}

fn why_not(failure: CreateFailure) -> (String, bool) {
    match failure {
        CreateFailure::NotSent { detail } => (detail, true),
        CreateFailure::Quota { retry_at } => {
            let until = retry_at.map_or_else(String::new, |at| format!(" until {at}"));
            (format!("the key's quota is used up{until}"), false)
        }
        CreateFailure::Credential { detail }
        | CreateFailure::Refused { detail }
        | CreateFailure::TurnRefused { detail }
        | CreateFailure::Unknown { detail } => (detail, false),
    }
}

/// A prompt without the marker of an earlier attempt.
fn without_marker(prompt: &str) -> &str {
    let prompt = prompt.trim_end();
    match prompt.rsplit_once('\n') {
        Some((before, last)) if last.starts_with(MARKER) => before.trim_end(),
        _ => prompt,
    }
}

/// A title without the marker of an earlier attempt.
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
