//! The context that all tools work with.

use std::sync::Arc;

use phileas_domain::jobs::{AccountSession, JobId};
use rmcp::model::RequestStateCodec;

use super::answers::Answers;
use super::changes::ChangeFeed;
use super::monitor_files::{CheckJobs, MonitorFiles};
use super::phileas_api::PhileasApi;
use super::policy::Policy;
use super::tool_error::{ErrorCause, ToolError};
use crate::adapters::pipeline::{RUNS_FOLDER, Runs};
use crate::runtime::ports::sessions_api::{JobActivity, SessionsApi};

/// Why there is no Jules key. A tool that needs Jules reports it; other tools work.
#[derive(Debug, Clone)]
pub struct MissingKey(pub String);

/// The context of all tools.
pub struct ToolContext {
    jules: Result<Arc<dyn SessionsApi>, MissingKey>,
    pub(super) phileas: Arc<dyn PhileasApi>,
    pub(super) queue: MonitorFiles,
    /// Checks jobs when no monitor runs; `None` if this server has no key.
    pub(super) checks: Option<Arc<dyn CheckJobs>>,
    /// The lock of a check, so that one runs at a time.
    pub(super) checking: Arc<tokio::sync::Mutex<()>>,
    pub(super) runs: Runs,
    pub(super) policy: Policy,
    pub(super) changes: ChangeFeed,
    /// Seals the state that a client returns with a person's answer.
    pub(super) seal: RequestStateCodec,
    /// The answers of people.
    pub(super) answers: Answers,
}

impl ToolContext {
    /// Creates a context. `secret` seals the state that clients return; servers that accept one
    /// another's answers share it.
    #[must_use]
    pub fn new(
        jules: Result<Arc<dyn SessionsApi>, MissingKey>,
        phileas: Arc<dyn PhileasApi>,
        queue: MonitorFiles,
        policy: Policy,
        secret: [u8; 32],
    ) -> Self {
        Self {
            jules,
            phileas,
            queue,
            checks: None,
            checking: Arc::default(),
            runs: Runs::in_folder(RUNS_FOLDER),
            policy,
            changes: ChangeFeed::default(),
            seal: RequestStateCodec::new_unchecked(secret),
            answers: Answers::default(),
        }
    }

    /// Checks jobs by `checks` when no monitor runs.
    #[must_use]
    pub fn with_checks(mut self, checks: Option<Arc<dyn CheckJobs>>) -> Self {
        self.checks = checks;
        self
    }

    /// Reads the runs of a pipeline from another folder than `.pipeline`.
    #[must_use]
    pub fn with_runs(mut self, runs: Runs) -> Self {
        self.runs = runs;
        self
    }

    /// Jules.
    pub(super) fn jules(&self) -> Result<&dyn SessionsApi, ToolError> {
        self.jules
            .as_deref()
            .map_err(|missing| ToolError::with_cause(ErrorCause::Credential, &missing.0))
    }

    /// Reads a job that Jules knows and that the policy shows.
    pub(super) async fn read_job(&self, id: &str) -> Result<AccountSession, ToolError> {
        let id = job_id(id)?;
        let unknown = || {
            ToolError::input(format!(
                "Jules knows no job {id} under this key; `jules_list_jobs` shows all jobs"
            ))
        };
        let job = self.jules()?.read_job(&id).await?.ok_or_else(unknown)?;
        if self.policy.is_visible(job.repository.as_ref()) {
            Ok(job)
        } else {
            Err(self
                .policy
                .refusal_error(&format!("job {id} works on another repository than those")))
        }
    }

    /// Reads what happened in a job, oldest first; empty while Jules does not show it.
    pub(super) async fn read_activities(
        &self,
        job: &AccountSession,
    ) -> Result<Vec<JobActivity>, ToolError> {
        Ok(self
            .jules()?
            .read_job_activities(job.id.as_str())
            .await?
            .unwrap_or_default())
    }
}

/// Parses a job's id as people copy it: bare, as `sessions/<id>`, or as the address of its page.
pub(super) fn job_id(text: &str) -> Result<String, ToolError> {
    let id = JobId::of_session(text).ok_or_else(|| {
        ToolError::input(
            "`job_id` is not the id of a job; give its digits, `sessions/<digits>`, or the address of its page",
        )
    })?;
    Ok(id.to_string())
}

#[cfg(test)]
mod tests {
    use super::job_id;

    #[test]
    fn ids_are_taken_as_people_copy_them_and_nothing_else_is() {
        for text in [
            "15481661885092594092",
            "sessions/15481661885092594092",
            "https://jules.google.com/session/15481661885092594092/?x=1#top",
            "https://jules.google.com/task/15481661885092594092",
        ] {
            assert_eq!(job_id(text).unwrap(), "15481661885092594092", "{text}");
        }
        for text in [
            "",
            "../1",
            "1/../2",
            "sessions/1:archive",
            "1?x",
            "a",
            "x/1",
            "%31",
        ] {
            assert!(job_id(text).is_err(), "{text}");
        }
    }
}
