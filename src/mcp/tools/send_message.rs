//! The tools `jules_send_message` and `jules_approve_plan`.

use std::sync::Arc;

use phileas_domain::engine::ActivityKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::ToolError;
use super::super::view::plan_waits;

/// The longest message, in characters. Jules names no limit; this is far more than people type.
const MAX_MESSAGE_CHARS: usize = 100_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageInput {
    /// The job's id.
    job_id: String,
    /// The message: a text, or an object with a text in `content`.
    message: Message,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Message {
    /// The text.
    Text(String),
    /// An object, as the first design sent it.
    Object {
        /// The text.
        #[serde(alias = "text", alias = "prompt", alias = "message")]
        content: String,
    },
}

#[derive(Serialize, JsonSchema)]
pub(super) struct MessageOutput {
    /// The job's id.
    job_id: String,
    /// Whether it was sent.
    sent: bool,
    /// The job's state before the call, in Jules' words.
    state_before: String,
}

pub(super) fn send_message() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_send_message",
        title: "Send a message to a Jules job",
        text: "Sends a message to a job: the answer to its question, a correction, or what is still missing. A \
            completed job resumes its work.",
        effect: ToolEffect::Acts,
    };
    ToolDefinition::new(card, run_send_message)
}

async fn run_send_message(
    context: Arc<ToolContext>,
    input: MessageInput,
) -> Result<MessageOutput, ToolError> {
    let (Message::Text(text) | Message::Object { content: text }) = input.message;
    if text.trim().is_empty() {
        return Err(ToolError::input(
            "nothing was sent: `message` is empty; write a text",
        ));
    }
    if text.chars().count() > MAX_MESSAGE_CHARS {
        return Err(ToolError::input(format!(
            "nothing was sent: `message` is longer than {MAX_MESSAGE_CHARS} characters"
        )));
    }
    let job = context.read_job(&input.job_id).await?;
    if job.archived {
        return Err(ToolError::new(format!(
            "nothing was sent: job {} is archived, so Jules ignores messages; `jules_request_retry` starts its work \
             again",
            job.id
        )));
    }
    context
        .jules()?
        .send_message(job.id.as_str(), &text)
        .await?;
    context.changes.notify_job(job.id.as_str());
    Ok(MessageOutput {
        state_before: job.state.as_str().to_owned(),
        job_id: job.id.to_string(),
        sent: true,
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproveInput {
    /// The job's id.
    job_id: String,
    /// The plan that you have read. The approval is refused if Jules has made another since.
    plan_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ApproveOutput {
    /// The job's id.
    job_id: String,
    /// The plan's id.
    plan_id: Option<String>,
    /// Whether this call approved it; otherwise it was approved before.
    approved_now: bool,
}

pub(super) fn approve_plan() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_approve_plan",
        title: "Approve the plan of a Jules job",
        text: "Approves the plan that a job waits with; `jules_get_job` shows it. To have it changed, use \
            `jules_send_message` instead. Later plans of the same job run without a second approval.",
        effect: ToolEffect::Acts,
    };
    ToolDefinition::new(card, run_approve_plan)
}

async fn run_approve_plan(
    context: Arc<ToolContext>,
    input: ApproveInput,
) -> Result<ApproveOutput, ToolError> {
    let job = context.read_job(&input.job_id).await?;
    let happenings = context.read_activities(&job).await?;
    let newest = happenings.iter().rev().find_map(|one| match &one.kind {
        ActivityKind::PlanGenerated { id, .. } => Some(id.clone()),
        _ => None,
    });
    if let (Some(read), Some(newest)) = (&input.plan_id, &newest)
        && read != newest
    {
        return Err(ToolError::new(format!(
            "nothing was approved: the newest plan of job {} is {newest}, not {read}; read it first",
            job.id
        )));
    }
    let approved_now = match plan_waits(&job, &happenings) {
        Some(true) => {
            context.jules()?.approve_job_plan(job.id.as_str()).await?;
            context.changes.notify_job(job.id.as_str());
            true
        }
        Some(false) => false,
        None => {
            return Err(ToolError::new(format!(
                "job {} has no plan that waits for approval; its state is {}",
                job.id,
                job.state.as_str()
            )));
        }
    };
    Ok(ApproveOutput {
        job_id: job.id.to_string(),
        plan_id: newest,
        approved_now,
    })
}
