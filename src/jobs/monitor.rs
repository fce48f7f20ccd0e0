//! The monitor: checks all jobs once per cycle, and writes an event when an agent should be woken.
//!
//! A cycle costs one listing for each key, and further requests only for what has changed. A second
//! monitor on the same files is a standby: only one monitor runs a cycle, and the files pass its
//! results to the next.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::Diagnostic;
use phileas_domain::jobs::backoff::{CREDENTIAL_PAUSE, jitter_factor, next_try};
use phileas_domain::jobs::{
    AccountMemory, AccountSession, Event, EventKind, Job, JobId, MonitorMemory, NewEvent, Payload,
    RetireReason,
};

use super::files::{self, Lock, StoreError};
use super::paths::JobPaths;
use crate::runtime::ports::account::{AccountError, AccountFailure, ReadAccount};

mod cycle;
mod job_check;
mod settings;

use cycle::CycleFindings;
pub use cycle::SkippedAccount;
use job_check::JobCheck;
pub use settings::{MAX_ACTIVITY_READS, MAX_SESSION_READS, MonitorSettings};

/// The account of jobs for which no other account is named.
pub const DEFAULT_ACCOUNT: &str = "default";

/// The largest monitor memory that is read, in bytes.
pub const MAX_MEMORY_BYTES: usize = 64 << 20;

/// Checks jobs.
#[derive(Debug)]
pub struct Monitor<A> {
    paths: JobPaths,
    rhythm: MonitorSettings,
    accounts: BTreeMap<String, A>,
}

/// The result of a cycle.
#[derive(Debug, Default)]
pub struct Cycle {
    /// Whether another monitor was running a cycle.
    pub busy: bool,
    /// The events that the cycle wrote.
    pub events: Vec<Event>,
    /// What is wrong with the jobs file, and what prevents jobs from being checked.
    pub warnings: Vec<Diagnostic>,
    /// How many jobs are live.
    pub live: usize,
    /// What the monitor remembers for the next cycle.
    pub memory: MonitorMemory,
    /// Jobs that the cycle retired.
    pub retired: Vec<(JobId, RetireReason)>,
    /// Accounts that the cycle did not read, or not completely.
    pub unasked: Vec<SkippedAccount>,
    /// How many live jobs have no key.
    pub keyless: usize,
}

impl<A: ReadAccount> Monitor<A> {
    /// Creates a monitor. Accounts are named as key files are: `owner__name`, `owner`, and
    /// [`DEFAULT_ACCOUNT`].
    #[must_use]
    pub fn new(paths: JobPaths, rhythm: MonitorSettings, accounts: BTreeMap<String, A>) -> Self {
        Self {
            paths,
            rhythm,
            accounts,
        }
    }

    /// The accounts.
    #[must_use]
    pub fn account_names(&self) -> &BTreeMap<String, A> {
        &self.accounts
    }

    /// Runs one cycle. `eager`: also when another monitor has just run one. Pauses after failures,
    /// or that Jules requires, apply to both. After a refused key the monitor waits until another
    /// key is in its place.
    ///
    /// # Errors
    ///
    /// [`StoreError`], when a file cannot be read or written. The monitor remembers failures of
    /// Jules and GitHub, and reports those that last.
    pub async fn run_cycle(&self, now: Timestamp, eager: bool) -> Result<Cycle, StoreError> {
        let Some(_lock) = Lock::try_lock(&self.paths.monitor)? else {
            return Ok(Cycle {
                busy: true,
                ..Cycle::default()
            });
        };
        let (registry, mut warnings) = self.paths.jobs_file().read_jobs()?;
        let mut memory = self.write_memory(&mut warnings)?;
        memory.forget(|id| registry.get(id).is_some(), now);
        let mut by_account: BTreeMap<&str, Vec<&Job>> = BTreeMap::new();
        let (mut live, mut keyless) = (0, 0);
        for job in registry.jobs().filter(|job| job.is_live()) {
            live += 1;
            match self.account_of(job) {
                Some(name) => by_account.entry(name).or_default().push(job),
                None => {
                    keyless += 1;
                    warnings.push(self.no_key(job));
                }
            }
        }
        let mut gathered = CycleFindings::default();
        let sent: u64 = self.accounts.values().map(ReadAccount::request_count).sum();
        for (name, mut jobs) in by_account {
            jobs.sort_by(|a, b| (a.priority, &a.job_id).cmp(&(b.priority, &b.job_id)));
            let account = &self.accounts[name];
            self.check_account(name, account, &jobs, &mut memory, &mut gathered, now, eager)
                .await;
        }
        let after: u64 = self.accounts.values().map(ReadAccount::request_count).sum();
        let first = |draft: &NewEvent| draft.payload.priority.unwrap_or_default();
        gathered.drafts.sort_by_key(first);
        let told = gathered.drafts.clone();
        let events = self
            .paths
            .events_file()
            .append_events(gathered.drafts, now)?;
        for draft in told {
            if let Some(job) = draft.job_id {
                memory.jobs.entry(job).or_default().record_sent(draft.cause);
            }
        }
        for event in &events {
            *memory.own.events.entry(event.event.clone()).or_default() += 1;
        }
        memory.own.cycles += 1;
        memory.own.requests += after.saturating_sub(sent);
        memory.own.cycle_at = Some(now);
        files::write_whole(&self.paths.monitor, &memory.render())?;
        for (id, reason) in &gathered.retired {
            self.paths.jobs_file().retire_job(id, *reason, now)?;
        }
        Ok(Cycle {
            busy: false,
            events,
            warnings,
            live,
            memory,
            retired: gathered.retired,
            unasked: gathered.unasked,
            keyless,
        })
    }

    /// Runs cycles until `end`, and reports the result of each. Only an error of the first cycle
    /// ends it. Later ones are tried again, because other programs may break a file while the
    /// monitor runs.
    ///
    /// # Errors
    ///
    /// [`StoreError`], of the first cycle.
    pub async fn run<C: crate::runtime::ports::Clock>(
        &self,
        clock: &C,
        end: impl Future<Output = ()>,
        mut each: impl AsyncFnMut(Cycle),
    ) -> Result<(), StoreError> {
        let mut end = std::pin::pin!(end);
        let (mut has_begun, mut last_error) = (false, None);
        loop {
            let now = clock.now();
            let cycle = tokio::select! {
                () = &mut end => return Ok(()),
                cycle = self.run_cycle(now, false) => cycle,
            };
            match cycle {
                Ok(cycle) => {
                    (has_begun, last_error) = (true, None);
                    each(cycle).await;
                }
                Err(error) if has_begun => {
                    let told = error.to_string();
                    if last_error.as_ref() != Some(&told) {
                        tracing::error!(
                            "no job was checked, and the next cycle tries again: {told}"
                        );
                    }
                    last_error = Some(told);
                }
                Err(error) => return Err(error),
            }
            let next = now.checked_add(self.rhythm.poll).unwrap_or(Timestamp::MAX);
            tokio::select! {
                () = &mut end => return Ok(()),
                () = clock.sleep_until(next) => {}
            }
        }
    }

    fn write_memory(&self, warnings: &mut Vec<Diagnostic>) -> Result<MonitorMemory, StoreError> {
        let path = &self.paths.monitor;
        let (memory, found) = files::read_state(
            path,
            MAX_MEMORY_BYTES,
            files::Unreadable::MoveAside,
            MonitorMemory::parse,
        )?;
        warnings.extend(found);
        Ok(memory.unwrap_or_default())
    }

    /// The account of a job.
    fn account_of(&self, job: &Job) -> Option<&str> {
        account_for(&self.accounts, job)
    }

    fn no_key(&self, job: &Job) -> Diagnostic {
        let file = self.paths.jobs.to_string_lossy();
        Diagnostic::warning(file, "there is no Jules key for this job")
            .key(job.job_id.as_str())
            .help("set JULES_API_KEY, or name its repository in `repo`")
    }

    /// Checks the jobs of one account.
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments are the state of one cycle for one account"
    )]
    async fn check_account(
        &self,
        name: &str,
        account: &A,
        jobs: &[&Job],
        memory: &mut MonitorMemory,
        gathered: &mut CycleFindings,
        now: Timestamp,
        eager: bool,
    ) {
        let known = memory.own.accounts.entry(name.to_owned()).or_default();
        let mark = account.key_mark();
        let needs_fix = known.refused_key.as_ref().is_some_and(|old| *old != mark);
        if needs_fix {
            known.key_replaced();
        }
        let waits = known.next_poll_at.is_some_and(|at| at > now);
        if waits {
            let unasked = skipped_account(name, known, jobs.len(), true);
            gathered.unasked.push(unasked);
            return;
        }
        // A check by another monitor counts as ours.
        let just = self.rhythm.poll.checked_div(2).unwrap_or_default();
        let seen_just_now = known
            .polled_at
            .is_some_and(|at| at <= now && now.duration_since(at) < just);
        if seen_just_now && !eager && !needs_fix {
            return;
        }
        known.polled_at = Some(now);
        let wanted: BTreeSet<JobId> = jobs.iter().map(|job| job.job_id.clone()).collect();
        let listed = match account.list_wanted_sessions(&wanted).await {
            Ok(listed) => {
                known.record_success();
                listed
            }
            Err(failure) => {
                let told = self.account_failed(name, known, &failure, &mark, jobs.len(), now);
                gathered.drafts.extend(told);
                gathered
                    .unasked
                    .push(skipped_account(name, known, jobs.len(), false));
                return;
            }
        };
        // Jules dates sessions and activities, so only its clock tells how old they are.
        let clock = account.jules_time().unwrap_or(now);
        let mut listed: BTreeMap<JobId, AccountSession> = listed
            .into_iter()
            .map(|session| (session.id.clone(), session))
            .collect();
        let (mut looks, mut reads) = (0, 0);
        for job in jobs {
            let job_memory = memory.jobs.entry(job.job_id.clone()).or_default();
            job_memory.first_seen.get_or_insert(now);
            let mut visit = JobCheck {
                account,
                rhythm: &self.rhythm,
                job,
                known: job_memory,
                now,
                clock,
                gathered,
            };
            let shown = listed.remove(&job.job_id);
            let looked = visit.check_session(shown, &mut looks, &mut reads).await;
            if let Err(failure) = looked {
                // The whole account must wait; the findings so far count.
                let known = memory.own.accounts.entry(name.to_owned()).or_default();
                let told = self.account_failed(name, known, &failure, &mark, jobs.len(), now);
                gathered.drafts.extend(told);
                gathered
                    .unasked
                    .push(skipped_account(name, known, jobs.len(), false));
                return;
            }
        }
    }

    /// Remembers that an account cannot be read. Reports it when only a person can help, or when it
    /// lasts.
    fn account_failed(
        &self,
        name: &str,
        known: &mut AccountMemory,
        failure: &AccountFailure,
        mark: &str,
        jobs: usize,
        now: Timestamp,
    ) -> Option<NewEvent> {
        tracing::warn!(account = name, "{failure}");
        let draw = |count| jitter_factor(name, count, self.rhythm.seed);
        known.refused_key = None;
        match failure.kind {
            AccountError::Throttled { after } => {
                known.throttled += 1;
                let asked = after.and_then(|after| SignedDuration::try_from(after).ok());
                let at = next_try(
                    now,
                    known.throttled,
                    self.rhythm.poll,
                    asked,
                    draw(known.throttled),
                );
                known.next_poll_at = Some(at);
                None
            }
            AccountError::Denied => {
                known.refused_key = Some(mark.to_owned());
                let since = *known.refused_since.get_or_insert(now);
                known.next_poll_at = now.checked_add(CREDENTIAL_PAUSE).ok();
                let cause = format!("credential {name} since {since}");
                let message = format!(
                    "{failure}; phileas checks no job of this key until you replace it \
                     (jules.google.com/settings#api)"
                );
                known
                    .record_sent(&cause)
                    .then(|| of_account(&cause, "credential", message, jobs))
            }
            AccountError::Down | AccountError::Refused => {
                known.failures += 1;
                let since = *known.failing_since.get_or_insert(now);
                let failures = known.failures;
                let at = next_try(now, failures, self.rhythm.poll, None, draw(failures));
                known.next_poll_at = Some(at);
                if failures < self.rhythm.max_failures {
                    return None;
                }
                let cause = format!("unreachable {name} since {since}");
                let message =
                    format!("the sessions could not be read {failures} times in a row: {failure}");
                known
                    .record_sent(&cause)
                    .then(|| of_account(&cause, "unreachable", message, jobs))
            }
        }
    }
}

/// The account of a job: its repository's own, its owner's, or the default one.
pub fn account_for<'a, A>(accounts: &'a BTreeMap<String, A>, job: &Job) -> Option<&'a str> {
    let mut names = Vec::new();
    if let Some(repository) = job.repository_name() {
        let (owner, name) = (
            repository.owner.to_ascii_lowercase(),
            repository.name.to_ascii_lowercase(),
        );
        names.push(format!("{owner}__{name}"));
        names.push(owner);
    }
    names.push(DEFAULT_ACCOUNT.to_owned());
    names
        .iter()
        .find_map(|name| accounts.get_key_value(name))
        .map(|(name, _)| name.as_str())
}

fn skipped_account(name: &str, known: &AccountMemory, jobs: usize, waits: bool) -> SkippedAccount {
    SkippedAccount {
        account: name.to_owned(),
        refused: known.refused_key.is_some(),
        waits,
        until: known.next_poll_at,
        jobs,
    }
}

fn of_account(cause: &str, word: &str, message: String, jobs: usize) -> NewEvent {
    NewEvent {
        kind: EventKind::Error,
        job_id: None,
        status: None,
        message: Some(message),
        last_activity: None,
        payload: Payload {
            cause: Some(word.to_owned()),
            jobs: Some(jobs),
            ..Payload::default()
        },
        cause: cause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 10 of the seed: jobs of several repositories, each with the most specific key.
    #[test]
    fn a_job_belongs_to_the_nearest_account() {
        let job = |text: &str| serde_json::from_str::<Job>(text).unwrap();
        let names = ["acme__widget", "acme", DEFAULT_ACCOUNT];
        let accounts: BTreeMap<String, ()> = names.map(|name| (name.to_owned(), ())).into();
        for (text, wanted) in [
            (r#"{"job_id": "1", "repo": "Acme/Widget"}"#, "acme__widget"),
            (
                r#"{"job_id": "2", "metadata": {"repo": "acme/gadget"}}"#,
                "acme",
            ),
            (r#"{"job_id": "3", "repo": "other/thing"}"#, DEFAULT_ACCOUNT),
            (r#"{"job_id": "4"}"#, DEFAULT_ACCOUNT),
        ] {
            assert_eq!(account_for(&accounts, &job(text)), Some(wanted), "{text}");
        }
        let own: BTreeMap<String, ()> = [("acme".to_owned(), ())].into();
        assert_eq!(account_for(&own, &job(r#"{"job_id": "4"}"#)), None);
    }
}
