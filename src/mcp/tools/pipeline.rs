//! The tools `pipeline_status`, `pipeline_next`, `pipeline_validate`, `pipeline_check` and
//! `pipeline_write`, for pipeline runs of this machine's agents.

use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::pipeline::{
    Artifact, CheckStage, IssueId, Made, Run, Stage, Step, check_stage, next, read_artifact,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::cursor;
use super::super::text_limit::TextLimit;
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::ToolError;
use super::arguments::check_limit;
use super::arguments::list_or_one;

/// How many runs a page has by default.
const DEFAULT_LIMIT: u32 = 20;
/// The most runs of a page.
const MAX_LIMIT: u32 = 100;
/// How many diagnostics are shown.
const MAX_FINDINGS: usize = 30;
/// How many bytes of a diagnostic are shown.
const FINDING_BYTES: usize = 400;
/// The most changed paths that a call may name.
const MAX_CHANGED: usize = 10_000;
/// The name of the listing in cursors.
const OF: &str = "runs";

#[derive(Serialize, JsonSchema)]
struct NextView {
    /// The run's issue.
    issue: String,
    /// `run` (an agent runs), `person` (a person decides), `wait`, or `archive` (the run is done).
    action: &'static str,
    /// The stable name of the rule that decided.
    rule: &'static str,
    /// The reason in a sentence.
    why: String,
    /// The next stage.
    stage: Option<&'static str>,
    /// The next agent.
    agent: Option<String>,
    /// The tier of the model for that agent.
    tier: Option<&'static str>,
    /// The number of this attempt at the stage.
    attempt: Option<u32>,
    /// The artifacts that it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reads: Vec<String>,
    /// The artifact that it writes.
    writes: Option<&'static str>,
    /// Further instructions for the agent.
    instructions: Option<String>,
}

impl NextView {
    fn from_run(run: &Run) -> Self {
        let next = next(run);
        let (action, order) = match &next.step {
            Step::Run(order) => ("run", Some(order)),
            Step::Person => ("person", None),
            Step::Wait => ("wait", None),
            Step::Archive => ("archive", None),
        };
        Self {
            issue: run.issue.to_string(),
            action,
            rule: next.rule.code(),
            why: next.why.clone(),
            stage: order.map(|order| order.stage.as_str()),
            agent: order.map(|order| order.agent.clone()),
            tier: order.map(|order| order.tier.as_str()),
            attempt: order.map(|order| order.attempt),
            reads: order.map_or_else(Vec::new, |order| {
                order.reads.iter().map(ToString::to_string).collect()
            }),
            writes: order.map(|order| order.writes),
            instructions: order.and_then(|order| order.instructions.clone()),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Finding {
    /// `error` or `warning`. A warning names another spelling, which is accepted.
    severity: &'static str,
    /// The stable name of the violated invariant.
    check: Option<&'static str>,
    /// The location, the problem, and how to fix it.
    text: String,
}

impl Finding {
    fn from_diagnostic(check: Option<&'static str>, said: &Diagnostic) -> Self {
        Self {
            severity: if said.is_error() { "error" } else { "warning" },
            check,
            text: TextLimit::new(&said.to_string(), FINDING_BYTES).text,
        }
    }
}

/// The problems, worst first, and whether all of them are shown.
#[derive(Serialize, JsonSchema)]
struct Findings {
    /// How many errors there are.
    errors: usize,
    /// The problems, errors first.
    findings: Vec<Finding>,
    /// Whether there are more than the list shows.
    truncated: bool,
}

impl Findings {
    fn from_diagnostics<'d>(
        found: impl Iterator<Item = (Option<&'static str>, &'d Diagnostic)>,
    ) -> Self {
        let mut all: Vec<_> = found.collect();
        all.sort_by_key(|(_, said)| !said.is_error());
        Self {
            errors: all.iter().filter(|(_, said)| said.is_error()).count(),
            truncated: all.len() > MAX_FINDINGS,
            findings: all
                .iter()
                .take(MAX_FINDINGS)
                .map(|(check, said)| Finding::from_diagnostic(*check, said))
                .collect(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusInput {
    /// Only the run of this issue, with its attempts and artifacts.
    issue: Option<String>,
    /// `next_cursor` of the previous answer. Default: the first run.
    cursor: Option<String>,
    /// The most runs to return, 1 to 100. Default: 20.
    limit: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct StatusOutput {
    /// The runs, ordered by issue.
    runs: Vec<RunView>,
    /// The `cursor` for further runs. Missing: there are none.
    next_cursor: Option<String>,
    /// How many runs are archived.
    archived: usize,
}

#[derive(Serialize, JsonSchema)]
struct RunView {
    /// The next action, and the reason.
    next: NextView,
    /// The attempts, oldest first; only if one run is requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptView>,
    /// Its artifacts; read each at `jules://pipeline/{issue}/{file}`.
    artifacts: Vec<ArtifactView>,
}

#[derive(Serialize, JsonSchema)]
struct AttemptView {
    /// The stage.
    stage: &'static str,
    /// The tier of the agent's model.
    tier: &'static str,
    /// How it ended.
    outcome: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct ArtifactView {
    /// Its file.
    file: String,
    /// Whether it is valid.
    sound: bool,
}

impl RunView {
    fn from_run(run: &Run, whole: bool) -> Self {
        let attempts = if whole { run.attempts() } else { Vec::new() };
        Self {
            next: NextView::from_run(run),
            attempts: attempts
                .into_iter()
                .map(|one| AttemptView {
                    stage: one.stage.as_str(),
                    tier: one.tier.as_str(),
                    outcome: one.outcome.as_str(),
                })
                .collect(),
            artifacts: run
                .readings()
                .map(|one| ArtifactView {
                    file: one.file.clone(),
                    sound: one.is_sound(),
                })
                .collect(),
        }
    }
}

pub(super) fn pipeline_status() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_status",
        title: "Show the runs of a pipeline",
        text: "Returns the runs below `.pipeline` of this repository with the next agent and the artifacts of each. \
            With `issue`, one run with its attempts.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, run_status)
}

async fn run_status(
    context: Arc<ToolContext>,
    input: StatusInput,
) -> Result<StatusOutput, ToolError> {
    let limit = check_limit(input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let (issues, archived) = context.runs.list_issues()?;
    if let Some(issue) = &input.issue {
        let run = find_run(&context, &parse_issue(issue)?)?;
        return Ok(StatusOutput {
            runs: vec![RunView::from_run(&run, true)],
            next_cursor: None,
            archived: archived.len(),
        });
    }
    let after: Option<String> = cursor::open_cursor(OF, input.cursor.as_deref())?;
    let mut left = issues
        .iter()
        .filter(|issue| after.as_deref().is_none_or(|after| issue.as_str() > after));
    let settings = context.runs.read_settings()?;
    let mut runs = Vec::new();
    for issue in left.by_ref().take(limit) {
        if let Some(run) = context.runs.run(issue, settings)? {
            runs.push(RunView::from_run(&run, false));
        }
    }
    let last = runs.last().map(|run| run.next.issue.clone());
    let more = left.next().is_some();
    Ok(StatusOutput {
        next_cursor: last
            .filter(|_| more)
            .map(|last| cursor::seal_cursor(OF, &last)),
        runs,
        archived: archived.len(),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NextInput {
    /// The issue: the name of the run's folder.
    issue: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct NextOutput {
    /// The next action, and the reason.
    next: NextView,
}

pub(super) fn pipeline_next() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_next",
        title: "Show the next agent of a run",
        text: "Returns the next agent of a run, what it reads and writes, and the rule that decided; or that a person \
            must decide. For a run that has not begun: the first agent.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, next_role)
}

async fn next_role(context: Arc<ToolContext>, input: NextInput) -> Result<NextOutput, ToolError> {
    let issue = parse_issue(&input.issue)?;
    let settings = context.runs.read_settings()?;
    let run = match context.runs.run(&issue, settings)? {
        Some(run) => run,
        None if context.runs.is_archived(&issue)? => return Err(archived_error(&issue)),
        None => Run::read_run(issue, &[], settings),
    };
    Ok(NextOutput {
        next: NextView::from_run(&run),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ValidateInput {
    /// The artifact, such as `plan`, `worker-result`, `test-result`, `review-result`, `state`.
    artifact: String,
    /// The draft: JSON, or YAML for `state`.
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ValidateOutput {
    /// Whether it is valid.
    sound: bool,
    /// The problems of the draft.
    #[serde(flatten)]
    diagnostics: Findings,
}

pub(super) fn pipeline_validate() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_validate",
        title: "Check a draft of an artifact",
        text: "Validates the text of an artifact, and returns what is wrong and how to fix it. Writes nothing; \
            `pipeline_write` validates by itself.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, run_validate)
}

async fn run_validate(
    context: Arc<ToolContext>,
    input: ValidateInput,
) -> Result<ValidateOutput, ToolError> {
    let artifact = parse_artifact(&input.artifact)?;
    let settings = context.runs.read_settings()?;
    let reading = read_artifact(artifact, artifact.file_name(), &input.text, &settings);
    Ok(ValidateOutput {
        sound: reading.is_sound(),
        diagnostics: Findings::from_diagnostics(
            reading.diagnostics.iter().map(|said| (None, said)),
        ),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckInput {
    /// The issue: the name of the run's folder.
    issue: String,
    /// `plan`, `implement`, `test`, `debug`, `review`, `git` or `trace`.
    stage: String,
    /// The changed paths since the work began, as `git diff --name-only` prints them. Required for
    /// `implement`, whose scope is compared with the plan's.
    #[serde(default, deserialize_with = "list_or_none")]
    changed: Option<Vec<String>>,
}

fn list_or_none<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<String>>, D::Error> {
    Ok(match Option::<Value>::deserialize(from)? {
        None => None,
        Some(value) => Some(list_or_one(value).map_err(serde::de::Error::custom)?),
    })
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CheckOutput {
    /// Whether every invariant is satisfied; there may be warnings.
    holds: bool,
    /// The violated invariants.
    #[serde(flatten)]
    diagnostics: Findings,
}

pub(super) fn pipeline_check() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_check",
        title: "Check the invariants between the artifacts of a run",
        text: "Returns every violated invariant of a stage by its name, with the location and the fix.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, run_check)
}

async fn run_check(context: Arc<ToolContext>, input: CheckInput) -> Result<CheckOutput, ToolError> {
    let run = find_run(&context, &parse_issue(&input.issue)?)?;
    let all = CheckStage::ALL;
    let stage = all
        .into_iter()
        .find(|stage| stage.as_str() == input.stage)
        .ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|stage| stage.as_str()).collect();
            ToolError::input(format!("`stage` is one of {}", names.join(", ")))
        })?;
    let changed = input.changed.as_deref();
    if stage == CheckStage::Of(Stage::Implement) && changed.is_none() {
        return Err(ToolError::input(
            "`changed` is missing: for `implement` give the changed paths since the work began (`git diff --name-only \
             main...`, and new files)",
        ));
    }
    if changed.is_some_and(|changed| changed.len() > MAX_CHANGED) {
        return Err(ToolError::input(format!(
            "`changed` names more than {MAX_CHANGED} paths; use `phileas pipeline check`, which runs git itself"
        )));
    }
    let found = check_stage(&run, stage, changed);
    let found = Findings::from_diagnostics(found.iter().map(|one| (Some(one.check), &one.said)));
    Ok(CheckOutput {
        holds: found.errors == 0,
        diagnostics: found,
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteInput {
    /// The issue: the name of the run's folder. It is created if it is missing.
    issue: String,
    /// The artifact, such as `plan`, `worker-result`, `test-result`, `debug-diagnosis`,
    /// `review-result`, `git-result`, `state`.
    artifact: String,
    /// The whole artifact: JSON, or YAML for `state`.
    text: String,
    /// The agent that wrote it. Default: the agent that the artifact names, or else the agent of
    /// the present stage.
    agent: Option<String>,
    /// When the agent began, RFC 3339. Default: the end of the previous stage.
    started_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WriteOutput {
    /// The file that was written.
    written: String,
    /// The address of the resource that reads it.
    uri: String,
    /// What was normalized.
    #[serde(flatten)]
    diagnostics: Findings,
    /// The next action, and the reason.
    next: NextView,
}

pub(super) fn pipeline_write() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_write",
        title: "Write an artifact of a run",
        text: "Writes an artifact in its normal form and records it in the trace. An invalid artifact replaces \
            nothing, and the answer says what to fix.",
        effect: ToolEffect::Replaces,
    };
    ToolDefinition::new(card, run_write)
}

async fn run_write(context: Arc<ToolContext>, input: WriteInput) -> Result<WriteOutput, ToolError> {
    let issue = parse_issue(&input.issue)?;
    let artifact = parse_artifact(&input.artifact)?;
    let started_at = input
        .started_at
        .as_deref()
        .map(str::parse::<Timestamp>)
        .transpose()
        .map_err(|_| {
            let help = "write an instant in RFC 3339, such as 2026-01-05T09:00:00Z";
            ToolError::input(format!("`started_at` is not an instant: {help}"))
        })?;
    if context.runs.is_archived(&issue)? {
        return Err(archived_error(&issue));
    }
    let settings = context.runs.read_settings()?;
    let made = Made {
        at: Timestamp::now(),
        started_at,
        agent: input.agent,
    };
    let written = context
        .runs
        .write_artifact(&issue, artifact, &input.text, settings, &made)?;
    context.changes.run(issue.as_str(), artifact.file_name());
    let run = find_run(&context, &issue)?;
    Ok(WriteOutput {
        written: written.path.display().to_string(),
        uri: format!(
            "{}/{issue}/{}",
            super::super::changes::RUNS,
            artifact.file_name()
        ),
        diagnostics: Findings::from_diagnostics(
            written.reading.diagnostics.iter().map(|said| (None, said)),
        ),
        next: NextView::from_run(&run),
    })
}

/// Opens the run of an issue.
fn find_run(context: &ToolContext, issue: &IssueId) -> Result<Run, ToolError> {
    let run = context.runs.run(issue, context.runs.read_settings()?)?;
    match run {
        Some(run) => Ok(run),
        None if context.runs.is_archived(issue)? => Err(archived_error(issue)),
        None => Err(ToolError::input(format!(
            "there is no run of {issue} in {}; `pipeline_status` shows all runs, `pipeline_write` begins one",
            context.runs.folder().display()
        ))),
    }
}

fn archived_error(issue: &IssueId) -> ToolError {
    ToolError::input(format!("the run of {issue} is done and archived"))
}

fn parse_issue(text: &str) -> Result<IssueId, ToolError> {
    text.trim()
        .parse()
        .map_err(|error| ToolError::input(format!("`issue`: {error}")))
}

/// Parses the name of an artifact, with or without the file's extension.
fn parse_artifact(text: &str) -> Result<Artifact, ToolError> {
    let text = text.trim();
    let stem = |artifact: &Artifact| {
        let name = artifact.file_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem) == text
    };
    match Artifact::ALL.into_iter().find(stem) {
        Some(artifact) => Ok(artifact),
        None => Artifact::from_path(text)
            .map_err(|error| ToolError::input(format!("`artifact`: {error}"))),
    }
}
