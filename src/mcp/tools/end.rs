//! The tools `jules_request_retry` and `jules_cancel_job`. Jules has no such action, so they do the
//! nearest thing and say so.

use std::sync::Arc;

use phileas_domain::engine::{CreateFailure, SessionState};
use phileas_domain::jobs::{AccountSession, Job, RetireReason};
use phileas_domain::model::RepositoryName;
use phileas_domain::prompt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::confirm::{Confirmation, confirm_action};
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCall, ToolCard, ToolDefinition, ToolEffect, ToolReply};
use super::super::tool_error::{ErrorCause, ToolError};
use super::super::view::JobView;
use super::create::{explain_refusal, find_marked_job};
use crate::runtime::ports::sessions_api::NewJob;

/// The most attempts of one job; each costs one of the account's daily jobs.
const MAX_ATTEMPTS: u32 = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RetryInput {
    /// The job's id.
    job_id: String,
    /// What should be different this time; it is added to the prompt.
    note: Option<String>,
    /// Whether the new job waits for approval of its plan. Default: as the first job, if this
    /// server created it.
    require_plan_approval: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RetryOutput {
    /// The new job's id.
    job_id: String,
    /// Whether this call created the job; otherwise an earlier retry of the same job did.
    created: bool,
    /// The job that it repeats.
    retry_of: String,
    /// Whether the old job is archived now.
    archived_old: bool,
    /// Why the monitor does not watch the new job, if it does not.
    not_registered: Option<String>,
    /// The new job.
    job: JobView,
}

pub(super) fn request_retry() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_request_retry",
        title: "Retry a Jules job",
        text: "Creates a new job with the prompt, the repository and the branch of an ended job, and archives the old \
            one. Costs one of the account's daily jobs. A second retry of the same job returns the first retry; if \
            that failed, too, retry that one. A running job is not retried; to nudge it, use `jules_send_message`.",
        effect: ToolEffect::Acts,
    };
    ToolDefinition::new(card, retry_job)
}

async fn retry_job(context: Arc<ToolContext>, input: RetryInput) -> Result<RetryOutput, ToolError> {
    let old = context.read_job(&input.job_id).await?;
    let source = check_retry(&old)?;
    // The reply to the first call may have been lost, or the model calls twice.
    if let Some(first) = find_marked_job(&context, &source.0, &retry_of(old.id.as_str())).await? {
        return found_retry(&context, &old, &first);
    }
    let before = context.queue.find_job(old.id.as_str());
    let attempt = before
        .as_ref()
        .and_then(|job| job.attempt)
        .unwrap_or(1)
        .saturating_add(1);
    if attempt > MAX_ATTEMPTS {
        return Err(ToolError::new(format!(
            "job {} was not retried: it is attempt {}, the last one; find out why it fails, and create another by \
             `jules_create_job`",
            old.id,
            attempt - 1
        )));
    }
    // Jules does not show the settings of the old job; the monitor's file does, if this server
    // created it.
    let set = |pick: fn(&Job) -> Option<bool>| before.as_ref().and_then(pick);
    let require_plan_approval = input
        .require_plan_approval
        .or(set(|job| job.require_plan_approval))
        .unwrap_or(false);
    let open_pull = set(|job| job.open_pull).unwrap_or(true);
    let note = input.note.as_deref().map(str::trim).unwrap_or_default();
    let asked = NewJob {
        prompt: retry_prompt(&old.prompt, note, old.id.as_str()),
        title: Some(old.title.clone()).filter(|title| !title.is_empty()),
        source: Some(source.clone()),
        open_pull,
        require_plan_approval,
    };
    let new = create_retry(&context, &old, &source, asked).await?;
    // An archived job cannot push over the new one's work. If archiving fails, the new job exists
    // all the same.
    let archived_old = old.archived || context.jules()?.archive_job(old.id.as_str()).await.is_ok();
    context
        .queue
        .retire_job(&context.changes, old.id.as_str(), RetireReason::Retried);
    let mut tracked = tracked_retry(&new, &old);
    if let Some(before) = before {
        tracked.metadata = before.metadata;
    }
    tracked.require_plan_approval = Some(require_plan_approval);
    tracked.open_pull = Some(open_pull);
    tracked.attempt = Some(attempt);
    let not_registered = context.queue.register_job(&context.changes, tracked);
    context.changes.notify_job(old.id.as_str());
    Ok(RetryOutput {
        not_registered,
        created: true,
        job_id: new.id.to_string(),
        retry_of: old.id.to_string(),
        archived_old,
        job: JobView::from_job(&new),
    })
}

/// The repository and branch for the retry of a job that is over.
fn check_retry(old: &AccountSession) -> Result<(RepositoryName, String), ToolError> {
    if old.belongs_to_turn() {
        return Err(ToolError::new(format!(
            "job {} was not retried: it belongs to a track, which decides about retries; `run` starts the persona again",
            old.id
        )));
    }
    let over = matches!(
        old.state,
        SessionState::Failed | SessionState::Completed | SessionState::Paused
    );
    if !over && !old.archived {
        return Err(ToolError::new(format!(
            "job {} was not retried: it is {}, and two jobs would do the same work; cancel it first by \
             `jules_cancel_job`, or say what is missing by `jules_send_message`",
            old.id,
            old.state.as_str()
        )));
    }
    let source = old.repository.clone().zip(old.branch.clone());
    source.filter(|_| !old.prompt.trim().is_empty()).ok_or_else(|| {
        ToolError::new(format!(
            "job {} was not retried: Jules does not show its prompt, repository and branch; create it again by \
             `jules_create_job`",
            old.id
        ))
    })
}

async fn create_retry(
    context: &ToolContext,
    old: &AccountSession,
    source: &(RepositoryName, String),
    asked: NewJob,
) -> Result<AccountSession, ToolError> {
    match context.jules()?.create_job(asked).await {
        Ok(new) => Ok(new),
        // The reply was lost. The tool searches the job once, but the job may also appear later.
        Err(CreateFailure::Unknown { detail }) => {
            find_marked_job(context, &source.0, &retry_of(old.id.as_str()))
                .await
                .ok()
                .flatten()
                .ok_or_else(|| {
                    ToolError::with_cause(
                        ErrorCause::Unavailable,
                        format!(
                            "it is unknown whether Jules created the job ({detail}); call again in a minute, which \
                             finds the job if it exists"
                        ),
                    )
                })
        }
        Err(failure) => Err(explain_refusal(context, source, failure).await),
    }
}

/// The new job, as the monitor's file records it.
fn tracked_retry(new: &AccountSession, old: &AccountSession) -> Job {
    let mut tracked = Job::new(new.id.clone());
    tracked.repo = new.repository.as_ref().map(ToString::to_string);
    tracked.branch.clone_from(&new.branch);
    tracked.retry_of = Some(old.id.clone());
    tracked
}

/// The result of a retry that was made before.
fn found_retry(
    context: &ToolContext,
    old: &AccountSession,
    first: &AccountSession,
) -> Result<RetryOutput, ToolError> {
    let not_registered = match context.queue.find_job(first.id.as_str()) {
        Some(_) => None,
        // The process was killed between creating and registering the job.
        None => context
            .queue
            .register_job(&context.changes, tracked_retry(first, old)),
    };
    Ok(RetryOutput {
        not_registered,
        created: false,
        job_id: first.id.to_string(),
        retry_of: old.id.to_string(),
        archived_old: old.archived,
        job: JobView::from_job(first),
    })
}

fn retry_of(id: &str) -> String {
    format!("phileas-retry-of: {id}")
}

/// Builds the new prompt: the old one without its marker lines, then the note and the marker of the
/// retried job.
fn retry_prompt(old: &str, note: &str, id: &str) -> String {
    let kept: Vec<&str> = old
        .lines()
        .filter(|line| !line.starts_with("phileas-job:") && !line.starts_with("phileas-retry-of:"))
        .collect();
    let mut prompt = kept.join("\n").trim_end().to_owned();
    if !note.is_empty() {
        prompt.push_str(&format!("\n\nThis time: {note}"));
    }
    prompt.push_str(&format!("\n\n{}", retry_of(id)));
    prompt
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CancelInput {
    /// The job's id.
    job_id: String,
    /// Whether the user that you work for wants it. Required if the client cannot ask; otherwise
    /// ignored.
    #[serde(default)]
    confirm: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CancelOutput {
    /// The job's id.
    job_id: String,
    /// Whether this call archived the job; otherwise it was archived before.
    cancelled_now: bool,
    /// The job's state before the call, in Jules' words.
    state_before: String,
}

pub(super) fn cancel_job() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_cancel_job",
        title: "Cancel a Jules job",
        text: "Archives a job, which pauses it if it runs; Jules has no other way to cancel. Its pull request stays \
            open. Asks a person first, whose refusal is final; if the client cannot ask, it needs `confirm: true`.",
        effect: ToolEffect::PullEnds,
    };
    ToolDefinition::with_reply(card, run_cancel_job)
}

async fn run_cancel_job(
    context: Arc<ToolContext>,
    input: CancelInput,
    call: ToolCall,
) -> Result<ToolReply<CancelOutput>, ToolError> {
    let job = context.read_job(&input.job_id).await?;
    let state_before = job.state.as_str().to_owned();
    if !job.archived {
        let question = format!(
            "Cancel Jules job {} ({}) on {}, which is {state_before}? phileas archives it, and Jules stops working on \
             it.",
            job.id,
            prompt::clean_line(&job.title),
            job.repository
                .as_ref()
                .map_or_else(|| "no repository".to_owned(), ToString::to_string),
        );
        if let Confirmation::AskPerson(ask) =
            confirm_action(&context, &call, input.confirm, &question, job.id.as_str()).await?
        {
            return Ok(ToolReply::AskPerson(ask));
        }
        context.jules()?.archive_job(job.id.as_str()).await?;
        context
            .queue
            .retire_job(&context.changes, job.id.as_str(), RetireReason::Cancelled);
        context.changes.notify_job(job.id.as_str());
    }
    Ok(ToolReply::Done(CancelOutput {
        job_id: job.id.to_string(),
        cancelled_now: !job.archived,
        state_before,
    }))
}

#[cfg(test)]
mod tests {
    use super::retry_prompt;

    #[test]
    fn a_repeated_prompt_says_whose_it_repeats_once() {
        let first = retry_prompt("Do it.\n\nphileas-job: k1", "be quick", "7");
        assert_eq!(
            first,
            "Do it.\n\nThis time: be quick\n\nphileas-retry-of: 7"
        );
        assert_eq!(
            retry_prompt("Do it.\n\nphileas-retry-of: 7", "", "8"),
            "Do it.\n\nphileas-retry-of: 8"
        );
    }
}
