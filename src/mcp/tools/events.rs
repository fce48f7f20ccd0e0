//! The tools `jules_register_job`, `jules_list_events`, `jules_wait_for_event` and
//! `jules_ack_event`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::jobs::{Event, EventId, Job, JobId};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::cursor;
use super::super::text_limit::TextLimit;
use super::super::tool_context::{ToolContext, job_id};
use super::super::tool_definition::{ToolCall, ToolCard, ToolDefinition, ToolEffect, ToolReply};
use super::super::tool_error::ToolError;
use super::arguments::check_limit;
use super::arguments::list_or_one;
use crate::jobs::{Page, Registered};

/// How many events a page has by default.
const DEFAULT_LIMIT: u32 = 20;
/// The most events of a page.
const MAX_LIMIT: u32 = 100;
/// How many bytes of an event's message are shown.
const MESSAGE_BYTES: usize = 2_000;
/// The default wait, in seconds: many clients give up after 60.
const DEFAULT_WAIT_S: u64 = 45;
/// The longest wait, in seconds.
const MAX_WAIT_S: u64 = 300;
/// How often the file is read.
const LOOK: Duration = Duration::from_millis(500);
/// After this long without a check by any monitor, this server checks the jobs itself: twice a
/// monitor's interval.
const CHECK_AFTER: Duration = Duration::from_secs(90);
/// How often a client that requested progress is notified that the call still waits.
const PULSE: Duration = Duration::from_secs(10);
/// How many jobs a call may name.
const MAX_NAMED: usize = 100;
/// The name of the whole queue in cursors.
const OF: &str = "events";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RegisterInput {
    /// The job's id.
    job_id: String,
    /// Another jobs file than the server's own; it must be inside the server's folder.
    jobs_path: Option<String>,
    /// Values to keep with the job, such as `parent`, `acceptance`, `depends_on`.
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RegisterOutput {
    /// Whether the job is registered.
    registered: bool,
    /// The job's id.
    job_id: String,
    /// `new`, `known` (new values replace the old ones) or `again` (it had been retired).
    was: &'static str,
}

pub(super) fn register_job() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_register_job",
        title: "Register a Jules job",
        text: "Adds a job to the monitor's file, so that its questions, its end and its failures become events. \
            `jules_create_job` does that by itself; use this for jobs that were started elsewhere.",
        effect: ToolEffect::Notes,
    };
    ToolDefinition::new(card, run_register_job)
}

async fn run_register_job(
    context: Arc<ToolContext>,
    input: RegisterInput,
) -> Result<RegisterOutput, ToolError> {
    let id = job_id(&input.job_id)?;
    let file = context.queue.jobs_at(input.jobs_path.as_deref())?;
    let mut job = Job::new(known_id(&id)?);
    job.metadata = Value::Object(input.metadata);
    if !context.policy.allowed.is_empty() {
        // Only Jules knows which repository the job works on.
        job.repo = context
            .read_job(&id)
            .await?
            .repository
            .map(|name| name.to_string());
    }
    let registered = file.register_job(job, Timestamp::now())?;
    context.changes.notify_jobs();
    Ok(RegisterOutput {
        registered: true,
        job_id: id,
        was: match registered {
            Registered::New => "new",
            Registered::Known => "known",
            Registered::Again => "again",
        },
    })
}

/// Converts an id that was parsed before for the monitor's files.
pub(super) fn known_id(id: &str) -> Result<JobId, ToolError> {
    id.parse()
        .map_err(|error| ToolError::input(format!("`job_id`: {error}")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListInput {
    /// `next_cursor` of the previous answer. Default: the oldest event.
    cursor: Option<String>,
    /// The most events to return, 1 to 100. Default: 20.
    limit: Option<u32>,
    /// Only events of this job.
    job_id: Option<String>,
    /// Whether to include acknowledged events.
    #[serde(default)]
    include_acknowledged: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Events {
    /// The events, oldest first.
    events: Vec<EventView>,
    /// The `cursor` for later events, which may be used at any time.
    next_cursor: String,
    /// Whether there are more events already.
    has_more: bool,
}

#[derive(Serialize, JsonSchema)]
struct EventView {
    /// Its id, for `jules_ack_event`.
    event_id: u64,
    /// `question`, `plan_review`, `completed`, `error` or `stuck`.
    event: String,
    /// The job's id. Missing: the event is about the monitor itself.
    job_id: Option<String>,
    /// When the monitor saw it, RFC 3339.
    observed_at: Option<String>,
    /// The job's state, in Jules' words.
    status: Option<String>,
    /// The question, the reason, or the problem.
    message: Option<TextLimit>,
    /// The repository.
    repo: Option<String>,
    /// The job's title.
    title: Option<String>,
    /// The track of phileas to whose turn the job belongs.
    track: Option<String>,
    /// The persona of the turn.
    persona: Option<String>,
    /// The result of a completed job: `pull_request`, `changes`, `imported` or `nothing`.
    outcome: Option<String>,
    /// The address of the pull request's page.
    pull_request: Option<String>,
    /// The id of the plan that waits for approval.
    plan_id: Option<String>,
    /// The titles of the plan's steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<String>,
    /// The time of the last activity of a stuck job, RFC 3339.
    last_activity: Option<String>,
}

impl EventView {
    fn from_event(event: &Event) -> Self {
        let payload = event.payload.clone().unwrap_or_default();
        Self {
            event_id: event.id.unwrap_or_default().0,
            event: event.event.clone(),
            job_id: event.job_id.as_ref().map(ToString::to_string),
            observed_at: event.observed_at.map(|at| at.to_string()),
            status: event.status.clone(),
            message: event
                .message_text()
                .map(|text| TextLimit::new(text, MESSAGE_BYTES)),
            repo: payload.repo,
            title: payload.title,
            track: payload.track,
            persona: payload.persona,
            outcome: payload.outcome,
            pull_request: payload.pull,
            plan_id: payload.plan_id,
            steps: payload.steps,
            last_activity: event.last_activity.map(|at| at.to_string()),
        }
    }
}

impl Events {
    fn from_page(page: &Page) -> Self {
        Self {
            events: page.events.iter().map(EventView::from_event).collect(),
            next_cursor: cursor::seal_cursor(OF, &page.cursor),
            has_more: page.more,
        }
    }
}

pub(super) fn list_events() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_list_events",
        title: "List events of Jules jobs",
        text: "Lists events of registered jobs that are not acknowledged yet, oldest first. Sends no request.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, run_list_events)
}

async fn run_list_events(context: Arc<ToolContext>, input: ListInput) -> Result<Events, ToolError> {
    let limit = check_limit(input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let from = cursor::open_cursor(OF, input.cursor.as_deref())?.unwrap_or_default();
    let jobs = event_names(input.job_id.as_slice())?;
    let page = read_events(&context, from, limit, &jobs, input.include_acknowledged)?;
    Ok(Events::from_page(&page))
}

fn event_names(ids: &[String]) -> Result<BTreeSet<JobId>, ToolError> {
    if ids.len() > MAX_NAMED {
        return Err(ToolError::input(format!(
            "`job_ids` names more than {MAX_NAMED} jobs; leave it out for all"
        )));
    }
    ids.iter().map(|id| known_id(&job_id(id)?)).collect()
}

fn read_events(
    context: &ToolContext,
    from: EventId,
    limit: usize,
    jobs: &BTreeSet<JobId>,
    acknowledged: bool,
) -> Result<Page, ToolError> {
    let done = context.queue.events.read_acknowledged()?;
    context
        .queue
        .events_after(&context.policy, from, limit, |event| {
            let fits = jobs.is_empty() || event.job_id.as_ref().is_some_and(|id| jobs.contains(id));
            fits && (acknowledged || event.id.is_none_or(|id| !done.contains(id)))
        })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitInput {
    /// `next_cursor` of the previous answer: only later events. Default: also earlier events that
    /// are not acknowledged.
    cursor: Option<String>,
    /// Only events of these jobs.
    #[serde(default, deserialize_with = "list_or_one")]
    job_ids: Vec<String>,
    /// The longest wait in seconds, up to 300. Default: 45.
    timeout_s: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Waited {
    /// The events.
    #[serde(flatten)]
    seen: Events,
    /// Whether the time passed without an event; call again with `next_cursor`.
    timed_out: bool,
    /// When the registered jobs were last checked, RFC 3339. Later changes are not known yet.
    /// Missing: never.
    last_checked: Option<String>,
}

pub(super) fn wait_for_event() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_wait_for_event",
        title: "Wait for an event of a Jules job",
        text: "Returns when a registered job asks a question, waits for approval of its plan, completes, fails or is \
            stuck, or when the time has passed. If no `phileas agent monitor` has checked the jobs lately, it checks \
            them itself; turns of repositories need `phileas serve`.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::with_reply(card, |context, input, call| async move {
        let waited = wait_for_events(context, input, call).await?;
        Ok(ToolReply::Done(waited))
    })
}

async fn wait_for_events(
    context: Arc<ToolContext>,
    input: WaitInput,
    call: ToolCall,
) -> Result<Waited, ToolError> {
    let mut from: EventId = cursor::open_cursor(OF, input.cursor.as_deref())?.unwrap_or_default();
    let jobs = event_names(&input.job_ids)?;
    let most = Duration::from_secs(input.timeout_s.unwrap_or(DEFAULT_WAIT_S).min(MAX_WAIT_S));
    let token = call
        .request
        .meta
        .as_ref()
        .and_then(|meta| meta.get_progress_token());
    let token = token.or_else(|| call.context.meta.get_progress_token());
    let begun = tokio::time::Instant::now();
    let mut told = Duration::ZERO;
    let waited = |page: &Page, timed_out| Waited {
        timed_out,
        seen: Events::from_page(page),
        last_checked: context.queue.last_check().map(|at| at.to_string()),
    };
    let mut checked = None;
    loop {
        let page = read_events(&context, from, DEFAULT_LIMIT as usize, &jobs, false)?;
        let over = begun.elapsed() >= most;
        if !page.events.is_empty() || over || call.context.ct.is_cancelled() {
            return Ok(waited(&page, page.events.is_empty()));
        }
        // Events that were read need not be read again.
        from = page.cursor;
        let is_due = checked.is_none_or(|at: tokio::time::Instant| at.elapsed() >= CHECK_AFTER);
        if is_due && is_stale(&context) {
            checked = Some(tokio::time::Instant::now());
            begin_check(&context);
        }
        let elapsed = begun.elapsed();
        if let Some(token) = &token
            && elapsed.saturating_sub(told) >= PULSE
        {
            told = elapsed;
            report_progress(&call, token, elapsed, most).await;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK.min(most.saturating_sub(elapsed))) => {}
            () = call.context.ct.cancelled() => {}
            () = context.changes.wait_for_end() => return Ok(waited(&page, true)),
        }
    }
}

/// Whether the last check is older than the interval of a running monitor.
fn is_stale(context: &ToolContext) -> bool {
    let age = |at: Timestamp| Timestamp::now().duration_since(at).unsigned_abs();
    context.checks.is_some()
        && context
            .queue
            .last_check()
            .is_none_or(|at| age(at) >= CHECK_AFTER)
}

/// Checks the jobs in a task, one at a time: a check that takes longer than the client waits still
/// runs to its end.
fn begin_check(context: &ToolContext) {
    let Some(checks) = context.checks.clone() else {
        return;
    };
    let Ok(alone) = Arc::clone(&context.checking).try_lock_owned() else {
        return;
    };
    tokio::spawn(async move {
        let _alone = alone;
        if let Err(trouble) = checks.check_jobs().await {
            tracing::warn!("the jobs were not checked: {trouble}");
        }
    });
}

async fn report_progress(
    call: &ToolCall,
    token: &ProgressToken,
    elapsed: Duration,
    most: Duration,
) {
    let progress = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64())
        .with_total(most.as_secs_f64())
        .with_message("no event yet");
    // A client that has disconnected will not read the result either.
    let _unheard = call.context.peer.notify_progress(progress).await;
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AckInput {
    /// The event's id.
    event_id: u64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AckOutput {
    /// The event's id.
    event_id: u64,
    /// Whether this call acknowledged the event; otherwise it was acknowledged before.
    acknowledged_now: bool,
}

pub(super) fn ack_event() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_ack_event",
        title: "Acknowledge an event",
        text: "Acknowledges an event, so that it is not listed again.",
        effect: ToolEffect::Notes,
    };
    ToolDefinition::new(card, acknowledge_event)
}

async fn acknowledge_event(
    context: Arc<ToolContext>,
    input: AckInput,
) -> Result<AckOutput, ToolError> {
    let id = EventId(input.event_id);
    let before = EventId(id.0.saturating_sub(1));
    let page = context
        .queue
        .events_after(&context.policy, before, 1, |event| event.id == Some(id))?;
    if page.events.is_empty() {
        return Err(ToolError::input(format!(
            "there is no event {id}; `jules_list_events` shows all events"
        )));
    }
    let acknowledged_now = context.queue.events.record_acknowledged(id)?;
    context.changes.notify_events();
    Ok(AckOutput {
        event_id: id.0,
        acknowledged_now,
    })
}
