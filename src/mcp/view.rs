//! Shows a job in the results of tools.

use phileas_domain::engine::{ActivityKind, PlanStep, SessionState};
use phileas_domain::jobs::AccountSession;
use schemars::JsonSchema;
use serde::Serialize;

use super::text_limit::TextLimit;
use crate::runtime::ports::sessions_api::JobActivity;

/// How many bytes of a title are shown.
const TITLE_BYTES: usize = 200;

/// The short form of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct JobView {
    /// The job's id.
    pub(super) job_id: String,
    /// The repository that it works on, `owner/name`.
    pub(super) repo: Option<String>,
    /// The branch that it started from.
    pub(super) branch: Option<String>,
    /// Its title.
    pub(super) title: String,
    /// Its state, in Jules' words, such as `IN_PROGRESS`.
    pub(super) state: String,
    /// What it waits for: `answer` (see `jules_get_messages`, then `jules_send_message`) or `plan_approval` (then
    /// `jules_approve_plan`).
    pub(super) waits_for: Option<&'static str>,
    /// When it was created, RFC 3339.
    pub(super) created_at: Option<String>,
    /// When it last changed, RFC 3339.
    pub(super) updated_at: Option<String>,
    /// The address of its page.
    pub(super) url: String,
    /// Whether it is archived. Jules does not work on archived jobs.
    pub(super) archived: bool,
    /// The pull requests that it opened.
    pub(super) pull_requests: Vec<PullView>,
}

/// A pull request of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PullView {
    /// Its number.
    pub(super) number: Option<u64>,
    /// The address of its page.
    pub(super) url: String,
    /// Its title.
    pub(super) title: String,
}

impl JobView {
    pub(super) fn from_job(job: &AccountSession) -> Self {
        Self {
            job_id: job.id.to_string(),
            repo: job.repository.as_ref().map(ToString::to_string),
            branch: job.branch.clone(),
            title: TextLimit::new(&job.title, TITLE_BYTES).text,
            state: job.state.as_str().to_owned(),
            waits_for: waits_for(&job.state),
            created_at: job.created_at.map(|at| at.to_string()),
            updated_at: job.updated_at.map(|at| at.to_string()),
            url: job.url.clone(),
            archived: job.archived,
            pull_requests: job
                .pulls
                .iter()
                .map(|pull| PullView {
                    number: pull.link.as_ref().map(|link| link.number.0),
                    url: pull.url.clone(),
                    title: TextLimit::new(&pull.title, TITLE_BYTES).text,
                })
                .collect(),
        }
    }
}

fn waits_for(state: &SessionState) -> Option<&'static str> {
    match state {
        SessionState::AwaitingPlanApproval => Some("plan_approval"),
        SessionState::AwaitingUserFeedback => Some("answer"),
        _ => None,
    }
}

/// The steps of the newest plan, a line each.
pub(super) fn plan_text(steps: &[PlanStep]) -> String {
    let lines: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(place, PlanStep { title, description })| {
            let text = if description.is_empty() {
                String::new()
            } else {
                format!(": {description}")
            };
            format!("{}. {title}{text}", place + 1)
        })
        .collect();
    lines.join("\n")
}

/// Whether a plan waits for approval. Some jobs are COMPLETED and wait all the same, so activities
/// count, too.
pub(super) fn plan_waits(job: &AccountSession, happenings: &[JobActivity]) -> Option<bool> {
    if job.state == SessionState::AwaitingPlanApproval {
        return Some(true);
    }
    happenings.iter().rev().find_map(|one| match one.kind {
        ActivityKind::PlanGenerated { .. } => Some(true),
        ActivityKind::PlanApproved => Some(false),
        _ => None,
    })
}
