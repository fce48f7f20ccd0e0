//! The tools `explain`, `status` and `run`, which use phileas on a repository.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::engine::{Ledger, Line, RepositoryView, RunRequest, Snapshot, Yield};
use phileas_domain::model::{PersonaId, TrackName};
use phileas_domain::plan::{Plan, closest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::confirm::{Confirmation, confirm_action};
use super::super::phileas_api::TickAnswer;
use super::super::text_limit::TextLimit;
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCall, ToolCard, ToolDefinition, ToolEffect, ToolReply};
use super::super::tool_error::{ErrorCause, ToolError};
use crate::runtime::TickReport;

/// How many lines of a report are shown.
const MAX_LINES: usize = 60;
/// How many bytes of a line's detail are shown.
const DETAIL_BYTES: usize = 300;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainInput {
    /// The repository, `owner/name`.
    repo: String,
    /// Only this track.
    track: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ReportView {
    /// The repository.
    repo: String,
    /// Whether this is a forecast of the next tick. Nothing was written or started.
    forecast: bool,
    /// GitHub's time, RFC 3339.
    at: String,
    /// A line for each track, schedule and request: what phileas does about it, or why it waits.
    lines: Vec<LineView>,
    /// Whether there are more lines than the list shows.
    truncated: bool,
    /// The diagnostics of the plan.
    diagnostics: Vec<String>,
    /// What failed.
    failed: Vec<String>,
    /// How many commits the tick made.
    commits: usize,
    /// The time of the next tick, RFC 3339.
    next_due: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LineView {
    /// The track.
    track: Option<String>,
    /// The persona.
    persona: Option<String>,
    /// Such as `dispatched`, `waiting`, `skipped`, `refused`, `paused`, `held`.
    decision: String,
    /// A stable code, such as `waiting.pr_open`.
    reason: String,
    /// The explanation of the reason.
    detail: String,
    /// The session, which is the job's id.
    job_id: Option<String>,
    /// The pull request.
    pull_number: Option<u64>,
    /// The end of the wait, RFC 3339.
    until: Option<String>,
}

impl LineView {
    fn from_line(line: &Line) -> Self {
        Self {
            track: line.track.as_ref().map(ToString::to_string),
            persona: line.persona.as_ref().map(ToString::to_string),
            decision: line.verdict.as_str().to_owned(),
            reason: line.reason.code().to_owned(),
            detail: TextLimit::new(&line.detail, DETAIL_BYTES).text,
            job_id: line.session_id.as_ref().map(ToString::to_string),
            pull_number: line.pr_number.map(|number| number.0),
            until: line.until.map(|until| until.to_string()),
        }
    }
}

fn report_view(
    repo: String,
    forecast: bool,
    report: &TickReport,
    track: Option<&TrackName>,
) -> ReportView {
    let wanted: Vec<&(Timestamp, Line)> = report
        .all_lines()
        .filter(|(_, line)| track.is_none() || line.track.is_none() || line.track.as_ref() == track)
        .collect();
    ReportView {
        repo,
        forecast,
        at: report.now.to_string(),
        truncated: wanted.len() > MAX_LINES,
        lines: wanted
            .iter()
            .take(MAX_LINES)
            .map(|(_, line)| LineView::from_line(line))
            .collect(),
        diagnostics: report
            .plan_diagnostics
            .iter()
            .take(MAX_LINES)
            .map(ToString::to_string)
            .collect(),
        failed: report
            .failed
            .iter()
            .map(|one| format!("{} failed for {}: {}", one.what, one.about, one.detail))
            .collect(),
        commits: report.commits,
        next_due: report.wake_at.map(|at| at.to_string()),
    }
}

pub(super) fn explain_repository() -> ToolDefinition {
    let card = ToolCard {
        name: "explain",
        title: "Explain what phileas does",
        text: "Returns what phileas would do next in a repository, and why everything else waits, with a stable reason \
            code for each track, schedule and request. Writes nothing.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::with_reply(card, |context, input, _call| run_explain(context, input))
}

async fn run_explain(
    context: Arc<ToolContext>,
    input: ExplainInput,
) -> Result<ToolReply<ReportView>, ToolError> {
    let repository = context.policy.parse_repository(&input.repo)?;
    let (answer, snapshot) = context
        .phileas
        .explain_repository(&repository, RunRequest::Due)
        .await?;
    let track = input.track.as_deref().map(TrackName::from);
    if let Some(name) = &track {
        check_track(name, &snapshot, &answer.report)?;
    }
    let view = report_view(repository.to_string(), true, &answer.report, track.as_ref());
    Ok(ToolReply::with_cause(view, answer.cause))
}

/// Checks the name of a track: one of the plan, of the ledger or of the report. While the plan has mistakes, any name may
/// be one of its tracks.
fn check_track(
    name: &TrackName,
    snapshot: &Snapshot,
    report: &TickReport,
) -> Result<(), ToolError> {
    let schedules = snapshot.plan.schedules.keys().map(TrackName::of_schedule);
    let planned: Vec<TrackName> = snapshot
        .plan
        .tracks
        .keys()
        .cloned()
        .chain(schedules)
        .collect();
    let is_recorded = match &snapshot.ledger {
        Ledger::Present { state, .. } => state.tracks.contains_key(name),
        _ => false,
    };
    if planned.contains(name)
        || is_recorded
        || report
            .all_lines()
            .any(|(_, line)| line.track.as_ref() == Some(name))
        || report.plan_diagnostics.iter().any(Diagnostic::is_error)
    {
        return Ok(());
    }
    let names: Vec<&str> = planned.iter().map(TrackName::as_str).collect();
    let help = match closest(name.as_str(), names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if names.is_empty() => "there are none".to_owned(),
        None => format!("there are: {}", names.join(", ")),
    };
    Err(ToolError::input(format!(
        "there is no track `{name}`; {help}"
    )))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusInput {
    /// The repository, `owner/name`.
    repo: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct StatusView {
    /// The repository.
    repo: String,
    /// `present`, `missing` or `corrupt`.
    ledger: &'static str,
    /// How many turns the ledger has recorded.
    entries: usize,
    /// What a person has to do, a sentence each.
    needs_you: Vec<String>,
    /// Live jobs of the ledger's turns.
    live: Vec<LineView>,
    /// The paused tracks, with the reasons.
    paused: BTreeMap<String, String>,
    /// The results of each persona's work.
    personas: BTreeMap<String, YieldView>,
    /// What the budget still allows.
    budget: BudgetView,
    /// The time of the next tick, RFC 3339.
    next_due: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct YieldView {
    /// The number of jobs.
    sessions: u32,
    /// The number of pull requests.
    pulls: u32,
    /// The number of merged pull requests.
    merged: u32,
    /// The number of merged pull requests for each job; null without a job.
    merged_per_session: Option<f64>,
    /// The number of them that no person changed or objected to.
    zero_touch: u32,
    /// The number of pull requests that were merged and then reverted.
    reverted: u32,
    /// The number of rejected pull requests.
    rejected: u32,
    /// Why people refused pull requests, each reason with how often they gave it.
    refused: BTreeMap<&'static str, u32>,
    /// The number of pull requests that repeated earlier work.
    repeated: u32,
    /// The number of pull requests that changed nothing.
    no_op: u32,
    /// The number of pull requests whose change was merged with another one.
    superseded: u32,
    /// The number of pull requests without a review.
    ignored: u32,
}

#[derive(Serialize, JsonSchema)]
struct BudgetView {
    /// The number of running jobs of this repository.
    live: u32,
    /// The most jobs that may run at once; null if the plan's limits cannot be read.
    live_limit: Option<u32>,
    /// Jobs of this repository in the last 24 hours.
    day: u32,
    /// The jobs of them that people requested. They may exceed the limit by what the plan reserves for people.
    day_requested: u32,
    /// The most jobs in 24 hours; null if the plan's limits cannot be read.
    day_limit: Option<u32>,
    /// Pull requests of phileas without a review.
    backlog: u32,
    /// The numbers of these pull requests.
    unreviewed: Vec<u64>,
    /// The most of them before phileas starts nothing new; null if the plan's limits cannot be read.
    backlog_limit: Option<u32>,
}

pub(super) fn repository_status() -> ToolDefinition {
    let card = ToolCard {
        name: "status",
        title: "Show the status of phileas in a repository",
        text: "Returns the running jobs, the pauses, the results of each persona's work, and what the budget still \
            allows.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::with_reply(card, |context, input, _call| run_status(context, input))
}

async fn run_status(
    context: Arc<ToolContext>,
    input: StatusInput,
) -> Result<ToolReply<StatusView>, ToolError> {
    let repository = context.policy.parse_repository(&input.repo)?;
    let (TickAnswer { report, cause }, snapshot) = context
        .phileas
        .explain_repository(&repository, RunRequest::Due)
        .await?;
    let ledger = match &snapshot.ledger {
        Ledger::Present { .. } => "present",
        Ledger::Missing { .. } => "missing",
        Ledger::Corrupt { .. } => "corrupt",
    };
    let lines = report.all_lines();
    let live = lines.filter(|(_, line)| line.session_id.is_some());
    let view = RepositoryView::new(&snapshot, report.current_lines());
    let figures = &view.budget;
    let status = StatusView {
        repo: repository.to_string(),
        ledger,
        entries: view.entries.unwrap_or_default(),
        needs_you: view
            .needs
            .iter()
            .take(MAX_LINES)
            .map(|need| TextLimit::new(&need.title, DETAIL_BYTES).text)
            .collect(),
        live: live
            .take(MAX_LINES)
            .map(|(_, line)| LineView::from_line(line))
            .collect(),
        paused: view
            .paused_tracks()
            .map(|(track, why)| (track.to_string(), why.to_owned()))
            .collect(),
        personas: view
            .yields
            .iter()
            .map(|(persona, figures)| (persona.to_string(), yield_view(figures)))
            .collect(),
        budget: BudgetView {
            live: figures.live,
            live_limit: figures.limits.map(|limits| limits.live),
            day: figures.day,
            day_requested: figures.day_requested,
            day_limit: figures.limits.map(|limits| limits.day),
            backlog: figures.backlog,
            unreviewed: figures
                .unreviewed
                .iter()
                .take(MAX_LINES)
                .map(|pull| pull.number.0)
                .collect(),
            backlog_limit: figures.limits.map(|limits| limits.backlog),
        },
        next_due: report.wake_at.map(|at| at.to_string()),
    };
    Ok(ToolReply::with_cause(status, cause))
}

fn yield_view(figures: &Yield) -> YieldView {
    YieldView {
        sessions: figures.sessions,
        pulls: figures.pulls,
        merged: figures.merged,
        merged_per_session: figures.merged_per_session(),
        zero_touch: figures.zero_touch,
        reverted: figures.reverted,
        rejected: figures.rejected,
        refused: figures
            .refused
            .iter()
            .map(|(reason, count)| (reason.as_str(), *count))
            .collect(),
        repeated: figures.repeated,
        no_op: figures.no_op,
        superseded: figures.superseded,
        ignored: figures.ignored,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunInput {
    /// The repository, `owner/name`.
    repo: String,
    /// Start this persona now, outside its schedule.
    persona: Option<String>,
    /// Start this track's next step now, outside its schedule.
    track: Option<String>,
    /// Whether to only return a forecast.
    #[serde(default)]
    dry_run: bool,
    /// Whether the user that you work for wants it. Required if the client cannot ask; otherwise
    /// ignored.
    #[serde(default)]
    confirm: bool,
}

pub(super) fn run_repository() -> ToolDefinition {
    let card = ToolCard {
        name: "run",
        title: "Run phileas on a repository once",
        text: "Runs one tick: starts what is due (or the persona or track that you name), follows the running jobs, \
            and writes the ledger. `dry_run: true` only returns a forecast. Otherwise it asks a person first, whose \
            refusal is final; if the client cannot ask, it needs `confirm: true`.",
        effect: ToolEffect::Decides,
    };
    ToolDefinition::with_reply(card, run_cycle)
}

fn is_in_plan(ask: &RunRequest, plan: &Plan) -> bool {
    match ask {
        RunRequest::Persona(id) => plan.personas.contains_key(id),
        RunRequest::Track(name) => plan.tracks.contains_key(name),
        RunRequest::Due | RunRequest::Enter(_) | RunRequest::All => true,
    }
}

async fn run_cycle(
    context: Arc<ToolContext>,
    input: RunInput,
    call: ToolCall,
) -> Result<ToolReply<ReportView>, ToolError> {
    let repository = context.policy.parse_repository(&input.repo)?;
    let (ask, what) = match (&input.persona, &input.track) {
        (None, None) => (RunRequest::Due, "what is due".to_owned()),
        (Some(id), None) => (
            RunRequest::Persona(PersonaId::new(id.as_str())),
            format!("the persona {id}"),
        ),
        (None, Some(name)) => (
            RunRequest::Track(TrackName::from(name.as_str())),
            format!("the track {name}"),
        ),
        (Some(_), Some(_)) => {
            return Err(ToolError::input("give `persona` or `track`, not both"));
        }
    };
    let repo = repository.to_string();
    if input.dry_run || ask != RunRequest::Due {
        let forecast = context
            .phileas
            .explain_repository(&repository, ask.clone())
            .await?;
        let (answer, snapshot) = forecast;
        // No user needs to confirm what does not exist.
        let is_unknown =
            answer.cause == Some(ErrorCause::Input) && !is_in_plan(&ask, &snapshot.plan);
        if input.dry_run || is_unknown {
            let view = report_view(repo, true, &answer.report, None);
            return Ok(ToolReply::with_cause(view, answer.cause));
        }
    }
    let question = format!(
        "Let phileas run {what} in {repo} now? It may start Jules jobs, and merge pull requests if the plan allows \
         that."
    );
    // GitHub ignores the case of repository names.
    let pinned = format!("{what} in {}", repo.to_ascii_lowercase());
    if let Confirmation::AskPerson(ask) =
        confirm_action(&context, &call, input.confirm, &question, &pinned).await?
    {
        return Ok(ToolReply::AskPerson(ask));
    }
    let TickAnswer { report, cause } = context.phileas.run(&repository, ask).await?;
    if report.commits > 0 {
        context.changes.notify_state(&repo);
    }
    let view = report_view(repo, false, &report, None);
    Ok(ToolReply::with_cause(view, cause))
}
