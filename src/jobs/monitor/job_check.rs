//! Checks one job at Jules.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::SessionState;
use phileas_domain::jobs::backoff::{FRESH_FOR, jitter_factor, next_try};
use phileas_domain::jobs::{
    AccountSession, EventKind, Job, JobMemory, NewEvent, Payload, RetireReason, judge_session,
    needs_activities,
};

use super::cycle::CycleFindings;
use super::settings::{MAX_ACTIVITY_READS, MAX_SESSION_READS, MonitorSettings};
use crate::runtime::ports::account::{AccountError, AccountFailure, ReadAccount};

/// The monitor stops checking a session that ended and has not changed for this long.
const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(14 * 24);
/// How many times in a row Jules must not know a session before the monitor takes it for deleted.
const MISSING: u32 = 2;

/// The check of one job.
pub(super) struct JobCheck<'a, A> {
    pub(super) account: &'a A,
    pub(super) rhythm: &'a MonitorSettings,
    pub(super) job: &'a Job,
    pub(super) known: &'a mut JobMemory,
    /// The time of this machine's clock, which measures pauses.
    pub(super) now: Timestamp,
    /// The time of Jules' clock, which dates sessions and activities.
    pub(super) clock: Timestamp,
    pub(super) gathered: &'a mut CycleFindings,
}

impl<A: ReadAccount> JobCheck<'_, A> {
    /// Checks the session. A failure of this job alone is remembered; one of the whole account is
    /// the error.
    pub(super) async fn check_session(
        &mut self,
        shown: Option<AccountSession>,
        looks: &mut usize,
        reads: &mut usize,
    ) -> Result<(), AccountFailure> {
        let waits = self.known.next_poll_at.is_some_and(|at| at > self.now);
        let seen = match shown {
            Some(_) if waits => return Ok(()),
            Some(seen) => seen,
            None if waits || *looks >= MAX_SESSION_READS => return Ok(()),
            None => {
                *looks += 1;
                match self.account.read_session(&self.job.job_id).await {
                    Ok(Some(seen)) => seen,
                    Ok(None) => {
                        self.is_missing();
                        return Ok(());
                    }
                    Err(failure) => return self.record_failure(failure),
                }
            }
        };
        let mut log = None;
        if needs_activities(self.known, &seen, self.clock, &self.rhythm.rules) {
            if *reads >= MAX_ACTIVITY_READS {
                return Ok(());
            }
            *reads += 1;
            match self.account.read_session_activities(&self.job.job_id).await {
                Ok(Some(activities)) => log = Some(activities),
                // Activities appear some seconds after the session.
                Ok(None) if self.is_fresh(seen.created_at) => return Ok(()),
                Ok(None) => log = Some(Vec::new()),
                Err(failure) => return self.record_failure(failure),
            }
        }
        self.known.record_success();
        let draft = judge_session(
            self.job,
            self.known,
            &seen,
            log.as_deref(),
            self.clock,
            &self.rhythm.rules,
        );
        self.gathered.drafts.extend(draft);
        if let Some(reason) = self.is_over(&seen) {
            let retired = (self.job.job_id.clone(), reason);
            self.gathered.retired.push(retired);
        }
        Ok(())
    }

    fn is_over(&self, seen: &AccountSession) -> Option<RetireReason> {
        if seen.archived {
            return Some(RetireReason::Archived);
        }
        let ended = matches!(seen.state, SessionState::Completed | SessionState::Failed);
        let since = self.known.status_since.unwrap_or(self.clock);
        let long = self.clock.duration_since(since) >= FORGOTTEN_AFTER;
        (ended && long).then_some(RetireReason::Forgotten)
    }

    fn is_fresh(&self, created: Option<Timestamp>) -> bool {
        let young = |at: Option<Timestamp>, now: Timestamp| {
            at.is_some_and(|at| now.duration_since(at) < FRESH_FOR)
        };
        let known_since = self.job.registered_at.max(self.known.first_seen);
        young(created, self.clock) || young(known_since, self.now)
    }

    fn is_missing(&mut self) {
        if self.is_fresh(None) {
            return;
        }
        self.known.missing += 1;
        if self.known.missing < MISSING {
            return;
        }
        self.gathered.drafts.extend(self.error_event(
            "not_found".to_owned(),
            "not_found",
            "Jules does not know this session; phileas stops checking the job".to_owned(),
        ));
        self.gathered
            .retired
            .push((self.job.job_id.clone(), RetireReason::NotFound));
    }

    fn record_failure(&mut self, failure: AccountFailure) -> Result<(), AccountFailure> {
        if matches!(
            failure.kind,
            AccountError::Throttled { .. } | AccountError::Denied
        ) {
            return Err(failure);
        }
        tracing::warn!(job = %self.job.job_id, "{failure}");
        self.known.failures += 1;
        let failures = self.known.failures;
        let since = *self.known.failing_since.get_or_insert(self.now);
        let drawn = jitter_factor(self.job.job_id.as_str(), failures, self.rhythm.seed);
        let at = next_try(self.now, failures, self.rhythm.poll, None, drawn);
        self.known.next_poll_at = Some(at);
        if failures >= self.rhythm.max_failures {
            let message = format!("the check failed {failures} times in a row: {failure}");
            let told =
                self.error_event(format!("unreachable since {since}"), "unreachable", message);
            self.gathered.drafts.extend(told);
        }
        Ok(())
    }

    fn error_event(&self, cause: String, word: &str, message: String) -> Option<NewEvent> {
        (!self.known.was_sent(&cause)).then(|| NewEvent {
            kind: EventKind::Error,
            job_id: Some(self.job.job_id.clone()),
            status: self.known.last_status.clone(),
            message: Some(message),
            last_activity: self.known.last_activity,
            payload: Payload {
                repo: self.job.repository_name().map(|name| name.to_string()),
                cause: Some(word.to_owned()),
                pull: self.known.pull.clone(),
                ..Payload::default()
            },
            cause,
        })
    }
}
