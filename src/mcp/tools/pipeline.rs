//! `pipeline_status`, `pipeline_next`, `pipeline_validate`, `pipeline_check` and `pipeline_write`: the runs of a pipeline
//! that agents on this machine work on.

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
use super::super::tool_definition::{ToolCall, ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::ToolError;
use super::arguments::list_or_one;
use super::jobs::check_limit;

/// How many runs are shown at once by default.
const DEFAULT_LIMIT: u32 = 20;
/// How many runs are shown at once at most.
const MAX_LIMIT: u32 = 100;
/// How many findings are shown.
const MAX_FINDINGS: usize = 30;
/// How much of a finding is shown, in bytes.
const FINDING_BYTES: usize = 400;
/// How many changed paths are taken.
const MAX_CHANGED: usize = 10_000;
/// The listing's name in cursors.
const OF: &str = "runs";

#[derive(Serialize, JsonSchema)]
struct NextView {
    /// The run's issue.
    issue: String,
    /// `run` (an agent), `person` (a person decides), `wait`, or `archive` (it is done).
    action: &'static str,
    /// The rule that says so, a stable word.
    rule: &'static str,
    /// The same in a sentence.
    why: String,
    /// The stage that comes next.
    stage: Option<&'static str>,
    /// The agent whose turn it is.
    agent: Option<String>,
    /// How strong that agent is to be.
    tier: Option<&'static str>,
    /// The how many-th attempt at the stage it is.
    attempt: Option<u32>,
    /// The artifacts that it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reads: Vec<String>,
    /// The artifact that it writes.
    writes: Option<&'static str>,
    /// Further instructions for it.
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
    /// `error` or `warning`. Warnings tell of other spellings, which are taken.
    severity: &'static str,
    /// The invariant that does not hold, a stable word.
    check: Option<&'static str>,
    /// Where, what is wrong, and how to fix it.
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

/// What is wrong, the gravest first, and whether all of it is shown.
#[derive(Serialize, JsonSchema)]
struct Findings {
    /// How many errors there are.
    errors: usize,
    /// What is wrong, errors first.
    findings: Vec<Finding>,
    /// Whether there is more than is shown.
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
    /// `next_cursor` of the answer before. Left out: from the first run.
    cursor: Option<String>,
    /// How many runs at most, 1 to 100. Default: 20.
    limit: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct StatusOutput {
    /// The runs, by their issues.
    runs: Vec<RunView>,
    /// Pass it as `cursor` for the runs after these; missing on the last page.
    next_cursor: Option<String>,
    /// How many runs are archived.
    archived: usize,
}

#[derive(Serialize, JsonSchema)]
struct RunView {
    /// Who comes next, and why.
    next: NextView,
    /// The attempts, oldest first; only where one run is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptView>,
    /// Its artifacts: `jules://pipeline/{issue}/{file}` holds each.
    artifacts: Vec<ArtifactView>,
}

#[derive(Serialize, JsonSchema)]
struct AttemptView {
    /// The stage.
    stage: &'static str,
    /// How strong the agent was.
    tier: &'static str,
    /// How it ended.
    outcome: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct ArtifactView {
    /// Its file.
    file: String,
    /// Whether it may be used.
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
        title: "Where the runs of a pipeline stand",
        text: "The runs below `.pipeline` of this repository: who comes next in each, and which artifacts there are. With \
               `issue`, one run with its attempts.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, run_status)
}

async fn run_status(
    desk: Arc<ToolContext>,
    input: StatusInput,
    _call: ToolCall,
) -> Result<StatusOutput, ToolError> {
    let limit = check_limit(input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let (issues, archived) = desk.runs.list_issues()?;
    if let Some(issue) = &input.issue {
        let run = find_run(&desk, &parse_issue(issue)?)?;
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
    let settings = desk.runs.read_settings()?;
    let mut runs = Vec::new();
    for issue in left.by_ref().take(limit) {
        if let Some(run) = desk.runs.run(issue, settings)? {
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
    /// Who comes next, and why.
    next: NextView,
}

pub(super) fn pipeline_next() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_next",
        title: "Who comes next in a run",
        text: "Says which agent runs next in a run, what it reads and writes, and by which rule; or that a person decides. \
               For a run that has not begun, who begins.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, next_role)
}

async fn next_role(
    desk: Arc<ToolContext>,
    input: NextInput,
    _call: ToolCall,
) -> Result<NextOutput, ToolError> {
    let issue = parse_issue(&input.issue)?;
    let settings = desk.runs.read_settings()?;
    let run = match desk.runs.run(&issue, settings)? {
        Some(run) => run,
        None if desk.runs.is_archived(&issue)? => return Err(archived_error(&issue)),
        None => Run::read_run(issue, &[], settings),
    };
    Ok(NextOutput {
        next: NextView::from_run(&run),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ValidateInput {
    /// Which artifact, such as `plan`, `worker-result`, `test-result`, `review-result`, `state`.
    artifact: String,
    /// What it is to say: JSON, or YAML for `state`.
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ValidateOutput {
    /// Whether it may be used as it is.
    sound: bool,
    /// What is wrong with it.
    #[serde(flatten)]
    diagnostics: Findings,
}

pub(super) fn pipeline_validate() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_validate",
        title: "Check a draft of an artifact",
        text: "Holds the text of an artifact against its shape and says where it is wrong and how to fix it. Writes \
               nothing; `pipeline_write` checks by itself.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, run_validate)
}

async fn run_validate(
    desk: Arc<ToolContext>,
    input: ValidateInput,
    _call: ToolCall,
) -> Result<ValidateOutput, ToolError> {
    let artifact = parse_artifact(&input.artifact)?;
    let settings = desk.runs.read_settings()?;
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
    /// The paths that differ from where the work began, as `git diff --name-only` tells. Needed for `implement`, whose
    /// scope is held against the plan's.
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
    /// Whether every invariant holds; there may be warnings.
    holds: bool,
    /// What does not hold.
    #[serde(flatten)]
    diagnostics: Findings,
}

pub(super) fn pipeline_check() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_check",
        title: "Check what must hold between the artifacts of a run",
        text: "Every invariant of a stage that does not hold, by its name, with where and how to fix it.",
        effect: ToolEffect::Looks,
    };
    ToolDefinition::new(card, run_check)
}

async fn run_check(
    desk: Arc<ToolContext>,
    input: CheckInput,
    _call: ToolCall,
) -> Result<CheckOutput, ToolError> {
    let run = find_run(&desk, &parse_issue(&input.issue)?)?;
    let all = CheckStage::ALL;
    let stage = all
        .into_iter()
        .find(|stage| stage.as_str() == input.stage)
        .ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|stage| stage.as_str()).collect();
            ToolError::new(format!("`stage` is one of {}", names.join(", ")))
        })?;
    let changed = input.changed.as_deref();
    if stage == CheckStage::Of(Stage::Implement) && changed.is_none() {
        return Err(ToolError::new(
            "`changed` is missing: for `implement` give the paths that differ from where the work began \
             (`git diff --name-only main...`, and new files)",
        ));
    }
    if changed.is_some_and(|changed| changed.len() > MAX_CHANGED) {
        return Err(ToolError::new(format!(
            "`changed` names more than {MAX_CHANGED} paths; use `phileas pipeline check`, which asks git itself"
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
    /// The issue: the name of the run's folder. It is made where it is missing.
    issue: String,
    /// Which artifact, such as `plan`, `worker-result`, `test-result`, `debug-diagnosis`, `review-result`, `git-result`,
    /// `state`.
    artifact: String,
    /// What it says: JSON, or YAML for `state`. The whole of it.
    text: String,
    /// The agent that wrote it. Left out: what it says itself, or the one whose turn it was.
    agent: Option<String>,
    /// When the agent began, RFC 3339. Left out: the end of the stage before.
    started_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WriteOutput {
    /// The file that was written.
    written: String,
    /// Where it can be read: the address of a resource.
    uri: String,
    /// What was brought into the normal form.
    #[serde(flatten)]
    diagnostics: Findings,
    /// Who comes next.
    next: NextView,
}

pub(super) fn pipeline_write() -> ToolDefinition {
    let card = ToolCard {
        name: "pipeline_write",
        title: "Write an artifact of a run",
        text: "Writes an artifact in its normal form and notes it in the trace. What is not sound replaces nothing, and the \
               answer says what to fix.",
        effect: ToolEffect::Replaces,
    };
    ToolDefinition::new(card, run_write)
}

async fn run_write(
    desk: Arc<ToolContext>,
    input: WriteInput,
    _call: ToolCall,
) -> Result<WriteOutput, ToolError> {
    let issue = parse_issue(&input.issue)?;
    let artifact = parse_artifact(&input.artifact)?;
    let started_at = input
        .started_at
        .as_deref()
        .map(str::parse::<Timestamp>)
        .transpose()
        .map_err(|_| {
            let help = "write an instant in RFC 3339, such as 2026-01-05T09:00:00Z";
            ToolError::new(format!("`started_at` is no instant: {help}"))
        })?;
    if desk.runs.is_archived(&issue)? {
        return Err(archived_error(&issue));
    }
    let settings = desk.runs.read_settings()?;
    let made = Made {
        at: Timestamp::now(),
        started_at,
        agent: input.agent,
    };
    let written = desk
        .runs
        .write_artifact(&issue, artifact, &input.text, settings, &made)?;
    desk.changes.run(issue.as_str(), artifact.file_name());
    let run = find_run(&desk, &issue)?;
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

/// The run of an issue.
fn find_run(desk: &ToolContext, issue: &IssueId) -> Result<Run, ToolError> {
    let run = desk.runs.run(issue, desk.runs.read_settings()?)?;
    match run {
        Some(run) => Ok(run),
        None if desk.runs.is_archived(issue)? => Err(archived_error(issue)),
        None => Err(ToolError::new(format!(
            "there is no run of {issue} in {}; `pipeline_status` shows those that there are, `pipeline_write` begins one",
            desk.runs.folder().display()
        ))),
    }
}

fn archived_error(issue: &IssueId) -> ToolError {
    ToolError::new(format!("the run of {issue} is done and archived"))
}

fn parse_issue(text: &str) -> Result<IssueId, ToolError> {
    text.trim()
        .parse()
        .map_err(|error| ToolError::new(format!("`issue`: {error}")))
}

/// An artifact by its file's name, with the extension or without.
fn parse_artifact(text: &str) -> Result<Artifact, ToolError> {
    let text = text.trim();
    let stem = |artifact: &Artifact| {
        let name = artifact.file_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem) == text
    };
    match Artifact::ALL.into_iter().find(stem) {
        Some(artifact) => Ok(artifact),
        None => Artifact::from_path(text)
            .map_err(|error| ToolError::new(format!("`artifact`: {error}"))),
    }
}
