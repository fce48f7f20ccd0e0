//! Lists and reads resources: jobs, events, ledgers, and runs of a pipeline with their artifacts.

use phileas_domain::engine::ActivityKind;
use phileas_domain::jobs::{AccountSession, EventId};
use phileas_domain::model::RepositoryName;
use phileas_domain::pipeline::{Artifact, IssueId, next, run_overview};
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::changes::{EVENTS, JOBS, RUNS};
use super::cursor;
use super::policy::Allowed;
use super::text_limit::TextLimit;
use super::tool_context::{ToolContext, job_id};
use super::tool_error::ToolError;
use super::tools::artifacts::read_changes;
use super::view::{JobView, plan_text};

/// The scheme of all addresses.
const SCHEME: &str = "jules://";
/// How many resources one page lists.
const PAGE: usize = 50;
/// How many jobs and events one resource contains.
const MAX_ITEMS: usize = 200;
/// The largest text that is returned, in bytes; a client pays for all of it.
const MAX_BYTES: usize = 256 * 1024;
/// The media type of one JSON document.
const JSON: &str = "application/json";
/// The media type of one JSON document a line.
const LINES: &str = "application/x-ndjson";
/// The media type of a diff.
const DIFF: &str = "text/x-diff";
/// The folder in which agents of a pipeline hand over their files.
const PIPELINE: &str = ".pipeline";

/// What an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ResourceAddress {
    Jobs,
    Job(String),
    Messages(String),
    Diff(String),
    Events,
    Event(EventId),
    State(RepositoryName),
    Runs,
    Lessons,
    Run(IssueId),
    Paper(IssueId, &'static str),
    Pipeline(RepositoryName, String),
}

fn parse_address(uri: &str) -> Option<ResourceAddress> {
    let path = uri.strip_prefix(SCHEME)?;
    let parts: Vec<&str> = path.split('/').collect();
    let id = |text: &str| job_id(text).ok().filter(|id| id == text);
    let repository = |owner: &str, name: &str| format!("{owner}/{name}").parse().ok();
    Some(match parts.as_slice() {
        ["jobs"] => ResourceAddress::Jobs,
        ["jobs", job] => ResourceAddress::Job(id(job)?),
        ["jobs", job, "messages"] => ResourceAddress::Messages(id(job)?),
        ["jobs", job, "diff"] => ResourceAddress::Diff(id(job)?),
        ["events"] => ResourceAddress::Events,
        ["events", event] => ResourceAddress::Event(EventId(event.parse().ok()?)),
        ["state", owner, name] => ResourceAddress::State(repository(owner, name)?),
        ["pipeline"] => ResourceAddress::Runs,
        ["pipeline", lessons] if *lessons == Artifact::Lessons.file_name() => {
            ResourceAddress::Lessons
        }
        ["pipeline", issue] => ResourceAddress::Run(issue.parse().ok()?),
        ["pipeline", issue, file] => ResourceAddress::Paper(issue.parse().ok()?, run_file(file)?),
        ["pipeline", owner, name, issue, artifact] => {
            let sound = |text: &str| {
                let legal =
                    |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '#');
                !text.is_empty() && !text.starts_with('.') && text.chars().all(legal)
            };
            if !sound(issue) || !sound(artifact) {
                return None;
            }
            ResourceAddress::Pipeline(
                repository(owner, name)?,
                format!("{PIPELINE}/{issue}/{artifact}"),
            )
        }
        _ => return None,
    })
}

/// Returns the file of a run with this name.
fn run_file(name: &str) -> Option<&'static str> {
    let artifact = Artifact::from_path(name).ok()?;
    let known = artifact.names().into_iter().find(|known| *known == name);
    known.filter(|_| artifact != Artifact::Lessons)
}

/// Whether such a resource may exist, for clients that subscribe to it.
pub(super) fn is_known(uri: &str) -> bool {
    parse_address(uri).is_some()
}

/// Returns the templates of all addresses.
pub(super) fn address_templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, text: &str, mime: &str| {
        ResourceTemplate::new(uri, name)
            .with_description(text)
            .with_mime_type(mime)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(
            "jules://jobs/{job_id}",
            "job",
            "The present state of a job",
            JSON,
        ),
        template(
            "jules://jobs/{job_id}/messages",
            "messages",
            "The messages of a job",
            LINES,
        ),
        template(
            "jules://jobs/{job_id}/diff",
            "diff",
            "The changes of a job",
            DIFF,
        ),
        template("jules://events/{event_id}", "event", "A whole event", JSON),
        template(
            "jules://state/{owner}/{repo}",
            "state",
            "The state of phileas for a repository, from its ledger",
            JSON,
        ),
        template(
            "jules://pipeline/{issue}",
            "run",
            "A run of a pipeline on this machine: its attempts, its artifacts and the next agent",
            JSON,
        ),
        template(
            "jules://pipeline/{issue}/{artifact}",
            "artifact",
            "An artifact of a run on this machine, such as `plan.json`, `worker-result.json`, `test-result.json`, \
             `review-result.json` or `state.yaml`",
            JSON,
        ),
        template(
            "jules://pipeline/{owner}/{repo}/{issue}/{artifact}",
            "pipeline",
            "A file of a pipeline run, such as `plan.json`, from the default branch",
            JSON,
        ),
    ])
}

/// Lists the resources that exist now.
pub(super) fn list_resources(
    context: &ToolContext,
    from: Option<&str>,
) -> Result<ListResourcesResult, ToolError> {
    let at: usize = cursor::open_cursor("resources", from)?.unwrap_or(0);
    let mut all = vec![
        Resource::new(JOBS, "jobs")
            .with_description("The registered jobs, newest first")
            .with_mime_type(LINES),
        Resource::new(EVENTS, "events")
            .with_description("The events that are not acknowledged yet, oldest first")
            .with_mime_type(LINES),
        Resource::new(RUNS, "pipeline")
            .with_description("The runs of a pipeline on this machine, and the next agent of each")
            .with_mime_type(LINES),
    ];
    for allowed in &context.policy.allowed {
        if let Allowed::One(name) = allowed {
            all.push(
                Resource::new(format!("jules://state/{name}"), format!("state of {name}"))
                    .with_description("The state of phileas for this repository")
                    .with_mime_type(JSON),
            );
        }
    }
    for ((issue, file), _) in context.runs.artifact_marks(MAX_ITEMS) {
        let name = format!("{file} of {issue}");
        all.push(
            Resource::new(format!("{RUNS}/{issue}/{file}"), name).with_mime_type(mime_type(file)),
        );
    }
    for job in context.queue.jobs_of(&context.policy)? {
        let id = job.job_id;
        all.push(Resource::new(format!("{JOBS}/{id}"), format!("job {id}")).with_mime_type(JSON));
    }
    let more = all.len() > at.saturating_add(PAGE);
    let page = all.into_iter().skip(at).take(PAGE).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = more.then(|| cursor::seal_cursor("resources", &(at + PAGE)));
    Ok(result)
}

/// Why a resource cannot be read.
pub(super) enum ResourceError {
    /// It does not exist.
    Missing,
    /// It cannot be read.
    Failed(ToolError),
}

impl<T: Into<ToolError>> From<T> for ResourceError {
    fn from(error: T) -> Self {
        Self::Failed(error.into())
    }
}

/// A resource's text and its media type.
type Content = (String, &'static str);

/// Reads a resource.
pub(super) async fn read_resource(
    context: &ToolContext,
    uri: &str,
) -> Result<ReadResourceResult, ResourceError> {
    let (text, mime) = match parse_address(uri).ok_or(ResourceError::Missing)? {
        ResourceAddress::Jobs => {
            let jobs = context.queue.jobs_of(&context.policy)?;
            let newest = jobs.iter().take(MAX_ITEMS);
            (json_lines(newest.map(|job| json!(job))), LINES)
        }
        ResourceAddress::Job(id) => (
            json!(JobView::from_job(&read_job(context, &id).await?)).to_string(),
            JSON,
        ),
        ResourceAddress::Messages(id) => job_messages(context, &id).await?,
        ResourceAddress::Diff(id) => {
            let job = read_job(context, &id).await?;
            let changes = read_changes(context, &job)
                .await?
                .ok_or(ResourceError::Missing)?;
            (changes.patch, DIFF)
        }
        ResourceAddress::Events => open_events(context)?,
        ResourceAddress::Event(id) => one_event(context, id)?,
        ResourceAddress::State(repository) => {
            let repository = context.policy.parse_repository(&repository.to_string())?;
            let text = context.phileas.read_state(&repository).await?;
            (text.ok_or(ResourceError::Missing)?, JSON)
        }
        ResourceAddress::Pipeline(repository, path) => {
            let repository = context.policy.parse_repository(&repository.to_string())?;
            let text = context.phileas.read_text(&repository, &path).await?;
            (text.ok_or(ResourceError::Missing)?, mime_type(&path))
        }
        ResourceAddress::Runs => all_runs(context)?,
        ResourceAddress::Run(issue) => {
            let run = context.runs.run(&issue, context.runs.read_settings()?)?;
            let run = run.ok_or(ResourceError::Missing)?;
            (run_overview(&run).to_string(), JSON)
        }
        ResourceAddress::Paper(issue, file) => {
            let text = context.runs.read_artifact(&issue, file)?;
            (text.ok_or(ResourceError::Missing)?, mime_type(file))
        }
        ResourceAddress::Lessons => {
            let known = context.runs.read_lessons()?.ok_or(ResourceError::Missing)?;
            let text = known.normal_form().ok_or(ResourceError::Missing)?;
            (text, mime_type(Artifact::Lessons.file_name()))
        }
    };
    let cut = TextLimit::new(&text, MAX_BYTES);
    let mut contents = ResourceContents::text(cut.text, uri).with_mime_type(mime);
    if cut.truncated {
        let mut meta = rmcp::model::MetaObject::default();
        meta.insert("truncated".to_owned(), json!(true));
        meta.insert("total_bytes".to_owned(), json!(cut.total_bytes));
        contents = contents.with_meta(meta);
    }
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn job_messages(context: &ToolContext, id: &str) -> Result<Content, ResourceError> {
    let job = read_job(context, id).await?;
    let activities = context.read_activities(&job).await?;
    let messages = activities.iter().filter_map(|activity| {
        let (role, text) = match &activity.kind {
            ActivityKind::AgentMessaged(text) => ("agent", text.clone()),
            ActivityKind::UserMessaged(text) => ("user", text.clone()),
            ActivityKind::PlanGenerated { steps, .. } => ("agent", plan_text(steps)),
            _ => return None,
        };
        let at = activity.at.map(|at| at.to_string());
        Some(json!({"id": activity.id, "at": at, "role": role, "content": text}))
    });
    Ok((json_lines(messages), LINES))
}

/// The events that are not acknowledged yet.
fn open_events(context: &ToolContext) -> Result<Content, ResourceError> {
    let done = context.queue.events.read_acknowledged()?;
    let page = context
        .queue
        .events_after(&context.policy, EventId(0), MAX_ITEMS, |event| {
            event.id.is_none_or(|id| !done.contains(id))
        })?;
    let lines = json_lines(page.events.iter().map(|event| json!(event)));
    Ok((lines, LINES))
}

fn one_event(context: &ToolContext, id: EventId) -> Result<Content, ResourceError> {
    let before = EventId(id.0.saturating_sub(1));
    let page = context
        .queue
        .events_after(&context.policy, before, 1, |event| event.id == Some(id))?;
    let event = page.events.first().ok_or(ResourceError::Missing)?;
    Ok((json!(event).to_string(), JSON))
}

/// The pipeline's runs on this machine, with the next agent of each.
fn all_runs(context: &ToolContext) -> Result<Content, ResourceError> {
    let (issues, _) = context.runs.list_issues()?;
    let settings = context.runs.read_settings()?;
    let mut lines = String::new();
    for issue in issues.iter().take(MAX_ITEMS) {
        if let Some(run) = context.runs.run(issue, settings)? {
            lines.push_str(&format!("{}\n", next(&run).json(&run)));
        }
    }
    Ok((lines, LINES))
}

async fn read_job(context: &ToolContext, id: &str) -> Result<AccountSession, ResourceError> {
    match context.jules()?.read_job(id).await? {
        Some(job) if context.policy.is_visible(job.repository.as_ref()) => Ok(job),
        _ => Err(ResourceError::Missing),
    }
}

/// The media type of a file, by its name.
fn mime_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "json")) => JSON,
        Some((_, "yaml" | "yml")) => "application/yaml",
        Some((_, "md")) => "text/markdown",
        _ => "text/plain",
    }
}

fn json_lines(values: impl Iterator<Item = serde_json::Value>) -> String {
    values.map(|value| format!("{value}\n")).collect()
}

/// Completes an argument of a template or a prompt from the registered jobs and the existing runs.
pub(super) fn complete_argument(context: &ToolContext, name: &str, begun: &str) -> Vec<String> {
    let known: Vec<String> = match name {
        "job_id" => {
            let jobs = context.queue.jobs_of(&context.policy).unwrap_or_default();
            jobs.into_iter().map(|job| job.job_id.to_string()).collect()
        }
        "issue" => {
            let (issues, _) = context.runs.list_issues().unwrap_or_default();
            issues.iter().map(ToString::to_string).collect()
        }
        "artifact" => Artifact::ALL
            .iter()
            .filter(|artifact| **artifact != Artifact::Lessons)
            .map(|artifact| artifact.file_name().to_owned())
            .collect(),
        _ => Vec::new(),
    };
    let fits = known.into_iter().filter(|value| value.starts_with(begun));
    fits.take(rmcp::model::CompletionInfo::MAX_VALUES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_one_thing_or_nothing() {
        assert_eq!(parse_address("jules://jobs"), Some(ResourceAddress::Jobs));
        assert_eq!(
            parse_address("jules://jobs/77/diff"),
            Some(ResourceAddress::Diff("77".into()))
        );
        assert_eq!(
            parse_address("jules://events/3"),
            Some(ResourceAddress::Event(EventId(3)))
        );
        let widget: RepositoryName = "acme/widget".parse().unwrap();
        assert_eq!(
            parse_address("jules://state/acme/widget"),
            Some(ResourceAddress::State(widget.clone()))
        );
        assert_eq!(
            parse_address("jules://pipeline/acme/widget/42/plan.json"),
            Some(ResourceAddress::Pipeline(
                widget,
                ".pipeline/42/plan.json".into()
            ))
        );
        let run: IssueId = "ISSUE-42".parse().unwrap();
        assert_eq!(
            parse_address("jules://pipeline"),
            Some(ResourceAddress::Runs)
        );
        assert_eq!(
            parse_address("jules://pipeline/ISSUE-42"),
            Some(ResourceAddress::Run(run.clone()))
        );
        assert_eq!(
            parse_address("jules://pipeline/ISSUE-42/test-result-fail.json"),
            Some(ResourceAddress::Paper(run, "test-result-fail.json"))
        );
        assert_eq!(
            parse_address("jules://pipeline/lessons.yaml"),
            Some(ResourceAddress::Lessons)
        );
        for wrong in [
            "",
            "jules://",
            "jules://jobs/",
            "jules://jobs/x",
            "jules://jobs/1/2",
            "jules://events/x",
            "jules://state/acme",
            "jules://pipeline/../plan.json",
            "jules://pipeline/completed",
            "jules://pipeline/42/nothing.json",
            "jules://pipeline/42/lessons.yaml",
            "jules://pipeline/acme/widget/../state.json",
            "jules://pipeline/acme/widget/42/..",
            "file:///etc/passwd",
        ] {
            assert_eq!(parse_address(wrong), None, "{wrong}");
        }
    }
}
