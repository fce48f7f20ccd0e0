//! The tool `jules_get_messages`.

use std::sync::Arc;

use phileas_domain::engine::ActivityKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::cursor;
use super::super::text_limit::TextLimit;
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::ToolError;
use super::super::view::plan_text;
use super::arguments::check_limit;
use crate::runtime::ports::sessions_api::JobActivity;

/// How many bytes of a message are shown by default.
const DEFAULT_BYTES: usize = 2_000;
/// The most bytes of a message.
const MAX_BYTES: usize = 50_000;
/// How many messages a page has by default.
const DEFAULT_LIMIT: u32 = 20;
/// The most messages of a page.
const MAX_LIMIT: u32 = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The job's id.
    job_id: String,
    /// `next_cursor` of the previous answer: only later messages. Default: all messages.
    cursor: Option<String>,
    /// The most messages to return, 1 to 100. Default: 20.
    limit: Option<u32>,
    /// The most bytes of each text, up to 50000. Default: 2000.
    max_bytes: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The job's id.
    job_id: String,
    /// The messages, oldest first.
    messages: Vec<MessageView>,
    /// The `cursor` for later messages, which may be used at any time.
    next_cursor: String,
    /// Whether there are more messages already.
    has_more: bool,
}

#[derive(Serialize, JsonSchema)]
struct MessageView {
    /// The message's id.
    id: String,
    /// Its time, RFC 3339.
    at: Option<String>,
    /// The author: `agent` is Jules, `user` is any account that writes to the job.
    role: &'static str,
    /// `message` or `plan`.
    kind: &'static str,
    /// The text.
    content: TextLimit,
}

/// The position in the messages. Several may have the same time, so the ids of the last instant are
/// part of it.
#[derive(Serialize, Deserialize, Default)]
struct ReadMessages {
    at: String,
    ids: Vec<String>,
}

pub(super) fn get_messages() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_get_messages",
        title: "Read the messages of a Jules job",
        text: "Returns the messages of Jules and its users in a job, and its plans, oldest first, from a cursor on. \
            Long texts are truncated.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::new(card, get)
}

async fn get(context: Arc<ToolContext>, input: Input) -> Result<Output, ToolError> {
    let limit = check_limit(input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let bytes = input.max_bytes.unwrap_or(DEFAULT_BYTES).clamp(1, MAX_BYTES);
    let job = context.read_job(&input.job_id).await?;
    let of = format!("messages {}", job.id);
    let mut seen: ReadMessages =
        cursor::open_cursor(&of, input.cursor.as_deref())?.unwrap_or_default();
    let happenings = context.read_activities(&job).await?;
    let said = happenings.iter().filter_map(|one| message_view(one, bytes));
    let fresh: Vec<_> = said
        .filter(|(at, message)| *at > seen.at || *at == seen.at && !seen.ids.contains(&message.id))
        .collect();
    let has_more = fresh.len() > limit;
    let mut messages = Vec::new();
    for (at, message) in fresh.into_iter().take(limit) {
        if at != seen.at {
            seen = ReadMessages {
                at,
                ids: Vec::new(),
            };
        }
        seen.ids.push(message.id.clone());
        messages.push(message);
    }
    Ok(Output {
        job_id: job.id.to_string(),
        messages,
        next_cursor: cursor::seal_cursor(&of, &seen),
        has_more,
    })
}

/// The view of an activity that is a message, and its time in a comparable form.
fn message_view(one: &JobActivity, bytes: usize) -> Option<(String, MessageView)> {
    let (role, kind, text) = match &one.kind {
        ActivityKind::AgentMessaged(text) => ("agent", "message", text.clone()),
        ActivityKind::UserMessaged(text) => ("user", "message", text.clone()),
        ActivityKind::PlanGenerated { steps, .. } => ("agent", "plan", plan_text(steps)),
        _ => return None,
    };
    let at = one.at.map(|at| format!("{:020}", at.as_nanosecond()));
    let message = MessageView {
        id: one.id.clone(),
        at: one.at.map(|at| at.to_string()),
        role,
        kind,
        content: TextLimit::new(&text, bytes),
    };
    Some((at.unwrap_or_default(), message))
}
