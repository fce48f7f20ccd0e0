//! The tool `jules_create_job`.

use std::sync::Arc;

use phileas_domain::engine::CreateFailure;
use phileas_domain::jobs::{AccountSession, Job};
use phileas_domain::model::RepositoryName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::tool_context::{ToolContext, job_id};
use super::super::tool_definition::{ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::{ErrorCause, ToolError};
use super::super::view::JobView;
use super::arguments::list_or_one;
use super::events::known_id;
use crate::runtime::ports::sessions_api::{JobSource, NewJob};

/// The longest prompt, in characters. Jules names no limit; this is far more than one pull request
/// needs.
const MAX_PROMPT_CHARS: usize = 100_000;
/// The longest idempotency key, in characters.
const MAX_KEY_CHARS: usize = 64;
/// How many conditions and dependencies a job may have.
const MAX_LINKS: usize = 50;
/// How many pages of the account's jobs are searched for a job that may exist already.
const MAX_PAGES: usize = 5;
/// How many branches an error names.
const MAX_BRANCHES: usize = 20;
/// The prefix of the prompt's line that identifies a job.
const MARKER: &str = "phileas-job:";
/// How many random bytes make up a generated key.
const RANDOM_BYTES: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The repository, `owner/name`. The Jules App must be installed on it (see `jules_list_sources`).
    repo: String,
    /// The branch to start from, which must exist on GitHub. The pull request targets it. Default:
    /// the default branch.
    branch: Option<String>,
    /// The task: one outcome that fits one pull request, with everything that Jules must know.
    /// Jules sees the repository, but nothing of this conversation.
    prompt: String,
    /// Further settings: `title`, `require_plan_approval` (boolean) and `automation_mode`
    /// (`AUTO_CREATE_PR` or `NONE`). Anything else is added to the prompt, one line each.
    #[serde(default)]
    constraints: serde_json::Map<String, Value>,
    /// The conditions of a completed job. They are added to the prompt, and a review checks them.
    #[serde(default, deserialize_with = "list_or_one")]
    acceptance: Vec<String>,
    /// The job or task of which this job is a part.
    parent: Option<String>,
    /// Jobs that this job depends on. They must be completed, or nothing is created.
    #[serde(default, deserialize_with = "list_or_one")]
    depends_on: Vec<String>,
    /// A key of your own for this work (letters, digits, `.`, `_`, `-`). A second call with the
    /// same key and prompt returns the first job instead of creating another. A call with another
    /// prompt is refused.
    idempotency_key: Option<String>,
    /// Whether the monitor watches the job. Default: true.
    #[serde(default = "default_true")]
    register: bool,
}

fn default_true() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The job's id.
    job_id: String,
    /// Whether this call created the job; otherwise it existed already under this key.
    created: bool,
    /// The key by which a later call finds the job.
    idempotency_key: String,
    /// Whether the monitor watches the job, so that `jules_wait_for_event` reports its events.
    registered: bool,
    /// Why the monitor does not watch the job, if it should.
    not_registered: Option<String>,
    /// The job.
    job: JobView,
}

pub(super) fn create_job() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_create_job",
        title: "Create a Jules job",
        text: "Creates a job for Jules on a repository and returns its id at once; the work takes minutes to hours. By \
            default Jules opens a pull request at the end. Costs one of the account's daily jobs.",
        effect: ToolEffect::Acts,
    };
    ToolDefinition::new(card, run_create_job)
}

async fn run_create_job(context: Arc<ToolContext>, input: Input) -> Result<Output, ToolError> {
    let repository = context.policy.parse_repository(&input.repo)?;
    let settings = Settings::read_settings(input.constraints)?;
    let key = check_key(input.idempotency_key.as_deref())?;
    let prompt = build_prompt(&input.prompt, &settings.rest, &input.acceptance, &key)?;
    if let Some(parent) = &input.parent {
        one_line("parent", parent)?;
    }
    let card = Watch {
        register: input.register,
        require_plan_approval: settings.require_plan_approval,
        open_pull: settings.open_pull,
        metadata: job_metadata(&input.parent, &input.acceptance, &input.depends_on),
    };
    // A key that was generated here cannot have been used.
    if input.idempotency_key.is_some()
        && let Some(job) = find_marked_job(&context, &repository, &marker_line(&key)).await?
    {
        if !is_same_text(&job.prompt, &prompt) {
            return Err(ToolError::new(format!(
                "nothing was created: the `idempotency_key` {key} belongs to job {}, which has another prompt; give \
                 this work its own key, or repeat the first call unchanged",
                job.id
            )));
        }
        // The client was killed between creating and registering the job, and calls again.
        return Ok(watch_job(&context, job_output(&job, false, key), card));
    }
    are_settled(&context, &input.depends_on).await?;
    let branch = match input.branch.as_deref().map(str::trim) {
        Some(branch) if !branch.is_empty() => branch.to_owned(),
        _ => default_branch(&context, &repository).await?,
    };
    let source = (repository.clone(), branch);
    let new = NewJob {
        prompt,
        title: settings.title,
        source: Some(source.clone()),
        open_pull: settings.open_pull,
        require_plan_approval: settings.require_plan_approval,
    };
    match context.jules()?.create_job(new).await {
        Ok(job) => Ok(watch_job(&context, job_output(&job, true, key), card)),
        Err(CreateFailure::Unknown { detail }) => {
            // The reply was lost. The tool searches the job once, but the job may also appear
            // later.
            match find_marked_job(&context, &repository, &marker_line(&key)).await {
                Ok(Some(job)) => Ok(watch_job(&context, job_output(&job, true, key), card)),
                _ => Err(ToolError::with_cause(
                    ErrorCause::Unavailable,
                    format!(
                        "it is unknown whether Jules created the job ({detail}); before you try again, call with \
                         `idempotency_key: \"{key}\"`, which finds the job if it exists"
                    ),
                )),
            }
        }
        Err(failure) => Err(explain_refusal(&context, &source, failure).await),
    }
}

/// Explains why Jules refuses a job. Jules names one field or nothing, so the tool looks up the
/// repository and the branch.
pub(super) async fn explain_refusal(
    context: &ToolContext,
    (repository, branch): &(RepositoryName, String),
    failure: CreateFailure,
) -> ToolError {
    let (CreateFailure::Refused { detail } | CreateFailure::TurnRefused { detail }) = &failure
    else {
        return failure.into();
    };
    let Ok(source) = source_of(context, repository).await else {
        return failure.into();
    };
    match source {
        Lookup::Found(source) if source.branches.is_empty() => failure.into(),
        Lookup::Found(source) if !source.branches.contains(branch) => {
            let shown = source.branches.iter().take(MAX_BRANCHES);
            let mut names: Vec<&str> = shown.map(String::as_str).collect();
            if source.branches.len() > MAX_BRANCHES {
                names.push("…");
            }
            ToolError::input(format!(
                "nothing was created: Jules sees no branch `{branch}` in {repository}; its branches are: {}. A new \
                 branch may appear late",
                names.join(", ")
            ))
        }
        Lookup::Found(_) => ToolError::new(format!("Jules refuses this job: {detail}")),
        Lookup::Unknown => not_connected("nothing was created", repository),
        Lookup::BeyondPages => failure.into(),
    }
}

/// Checks that a repository without a job is connected to Jules. Its name may be mistyped. While Jules cannot say, it
/// counts as connected.
pub(super) async fn check_source(
    context: &ToolContext,
    repository: &RepositoryName,
) -> Result<(), ToolError> {
    match source_of(context, repository).await {
        Ok(Lookup::Unknown) => Err(not_connected("the list is empty", repository)),
        Ok(Lookup::Found(_) | Lookup::BeyondPages) | Err(_) => Ok(()),
    }
}

/// `outcome`: what that means for the call.
fn not_connected(outcome: &str, repository: &RepositoryName) -> ToolError {
    ToolError::input(format!(
        "{outcome}: {repository} is not connected to Jules with this key; a person must install the Jules \
         App on it at jules.google.com (`jules_list_sources` shows the connected repositories)"
    ))
}

/// Whether two texts are the same apart from white space.
fn is_same_text(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

fn marker_line(key: &str) -> String {
    format!("{MARKER} {key}")
}

/// What the monitor's file stores about a new job.
struct Watch {
    register: bool,
    require_plan_approval: bool,
    open_pull: bool,
    metadata: serde_json::Map<String, Value>,
}

fn job_metadata(
    parent: &Option<String>,
    acceptance: &[String],
    depends_on: &[String],
) -> serde_json::Map<String, Value> {
    let mut metadata = serde_json::Map::new();
    if let Some(parent) = parent {
        metadata.insert("parent".to_owned(), parent.as_str().into());
    }
    for (name, list) in [("acceptance", acceptance), ("depends_on", depends_on)] {
        if !list.is_empty() {
            metadata.insert(name.to_owned(), list.into());
        }
    }
    metadata
}

/// Registers the job with the monitor.
fn watch_job(context: &ToolContext, mut output: Output, watch: Watch) -> Output {
    if !watch.register {
        return output;
    }
    output.not_registered = match known_id(&output.job_id) {
        Ok(id) => {
            let mut job = Job::new(id);
            job.repo.clone_from(&output.job.repo);
            job.branch.clone_from(&output.job.branch);
            job.require_plan_approval = Some(watch.require_plan_approval);
            job.open_pull = Some(watch.open_pull);
            job.metadata = Value::Object(watch.metadata);
            context.queue.register_job(&context.changes, job)
        }
        Err(trouble) => Some(trouble.to_string()),
    };
    output.registered = output.not_registered.is_none();
    output
}

fn job_output(job: &AccountSession, created: bool, key: String) -> Output {
    Output {
        job_id: job.id.to_string(),
        created,
        idempotency_key: key,
        registered: false,
        not_registered: None,
        job: JobView::from_job(job),
    }
}

/// The settings among the constraints.
struct Settings {
    title: Option<String>,
    open_pull: bool,
    require_plan_approval: bool,
    /// The constraints that are added to the prompt.
    rest: Vec<String>,
}

impl Settings {
    fn read_settings(constraints: serde_json::Map<String, Value>) -> Result<Self, ToolError> {
        let mut settings = Self {
            title: None,
            open_pull: true,
            require_plan_approval: false,
            rest: Vec::new(),
        };
        for (name, value) in constraints {
            let wrong = |wanted: &str| {
                ToolError::input(format!(
                    "constraints.{name} is {value}; it must be {wanted}"
                ))
            };
            match name.as_str() {
                "title" => {
                    let title = value.as_str().ok_or_else(|| wrong("a text"))?;
                    settings.title = Some(title.trim().to_owned()).filter(|text| !text.is_empty());
                }
                "require_plan_approval" | "requirePlanApproval" => {
                    settings.require_plan_approval =
                        value.as_bool().ok_or_else(|| wrong("true or false"))?;
                }
                "automation_mode" | "automationMode" => {
                    settings.open_pull = match value.as_str() {
                        Some("AUTO_CREATE_PR") => true,
                        Some("NONE" | "AUTOMATION_MODE_UNSPECIFIED") => false,
                        _ => return Err(wrong("`AUTO_CREATE_PR` or `NONE`")),
                    };
                }
                _ => settings.rest.push(match value {
                    Value::String(text) => format!("{name}: {text}"),
                    other => format!("{name}: {other}"),
                }),
            }
        }
        Ok(settings)
    }
}

fn check_key(given: Option<&str>) -> Result<String, ToolError> {
    let Some(key) = given else {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            ToolError::with_cause(
                ErrorCause::Internal,
                format!("the operating system returned no random bytes: {error}"),
            )
        })?;
        return Ok(data_encoding::BASE32_NOPAD
            .encode(&bytes)
            .to_ascii_lowercase());
    };
    let is_sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if key.is_empty() || key.len() > MAX_KEY_CHARS || !key.chars().all(is_sound) {
        return Err(ToolError::input(format!(
            "`idempotency_key` must have 1 to {MAX_KEY_CHARS} letters, digits, `.`, `_` and `-`"
        )));
    }
    Ok(key.to_owned())
}

fn one_line(name: &str, text: &str) -> Result<(), ToolError> {
    if text.trim().is_empty() || text.contains(['\n', '\r']) {
        return Err(ToolError::input(format!(
            "`{name}` must be one line that is not empty"
        )));
    }
    Ok(())
}

/// Builds the prompt: the task, its conditions, and the line that identifies the job.
fn build_prompt(
    task: &str,
    rest: &[String],
    acceptance: &[String],
    key: &str,
) -> Result<String, ToolError> {
    if task.trim().is_empty() {
        return Err(ToolError::input("`prompt` is empty; describe the task"));
    }
    if acceptance.len() > MAX_LINKS {
        return Err(ToolError::input(format!(
            "`acceptance` has {} conditions; more than {MAX_LINKS} do not fit one pull request, so split the work",
            acceptance.len()
        )));
    }
    let mut prompt = task.trim().to_owned();
    let list = |lines: &[String]| -> String {
        lines
            .iter()
            .map(|line| format!("\n- {}", line.trim()))
            .collect()
    };
    if !rest.is_empty() {
        prompt.push_str(&format!("\n\nConstraints:{}", list(rest)));
    }
    if !acceptance.is_empty() {
        prompt.push_str(&format!("\n\nIt is done when:{}", list(acceptance)));
    }
    prompt.push_str(&format!("\n\n{MARKER} {key}"));
    if prompt.chars().count() > MAX_PROMPT_CHARS {
        return Err(ToolError::input(format!(
            "the prompt is longer than {MAX_PROMPT_CHARS} characters; put long texts into the repository and name \
             their files"
        )));
    }
    Ok(prompt)
}

/// Finds the job of this repository whose prompt ends in this line, also among archived jobs.
pub(super) async fn find_marked_job(
    context: &ToolContext,
    repository: &RepositoryName,
    line: &str,
) -> Result<Option<AccountSession>, ToolError> {
    for archived in [false, true] {
        let mut page = None;
        for _ in 0..MAX_PAGES {
            let read = context
                .jules()?
                .list_jobs(Some(repository), page.as_deref(), archived)
                .await?;
            let found = read.jobs.into_iter().find(|job| {
                let last = job
                    .prompt
                    .trim_end()
                    .lines()
                    .next_back()
                    .unwrap_or_default();
                job.repository.as_ref() == Some(repository)
                    && last.split_whitespace().eq(line.split_whitespace())
            });
            if found.is_some() {
                return Ok(found);
            }
            page = read.next;
            if page.is_none() {
                break;
            }
        }
    }
    Ok(None)
}

/// Checks that all dependencies are completed.
async fn are_settled(context: &ToolContext, depends_on: &[String]) -> Result<(), ToolError> {
    if depends_on.len() > MAX_LINKS {
        return Err(ToolError::input(format!(
            "`depends_on` names more than {MAX_LINKS} jobs"
        )));
    }
    let mut open = Vec::new();
    for id in depends_on {
        let job = context.read_job(&job_id(id)?).await?;
        let view = JobView::from_job(&job);
        if view.state != "COMPLETED" {
            open.push(format!("{} ({})", view.job_id, view.state));
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "nothing was created, because it depends on jobs that are not completed: {}; wait for their `completed` events \
         and merge their pull requests first",
        open.join(", ")
    )))
}

/// Reads the default branch from Jules.
async fn default_branch(
    context: &ToolContext,
    repository: &RepositoryName,
) -> Result<String, ToolError> {
    match source_of(context, repository).await? {
        Lookup::Found(source) => source.default_branch.ok_or_else(|| {
            ToolError::input(format!(
                "Jules does not show the default branch of {repository}; give `branch`"
            ))
        }),
        Lookup::Unknown => Err(not_connected("nothing was created", repository)),
        Lookup::BeyondPages => Err(ToolError::input(format!(
            "{repository} was not among the first sources of the account; give `branch`"
        ))),
    }
}

/// The result of searching the repositories that are connected to Jules.
enum Lookup {
    Found(JobSource),
    Unknown,
    /// It is not on the first pages, and there are more.
    BeyondPages,
}

async fn source_of(
    context: &ToolContext,
    repository: &RepositoryName,
) -> Result<Lookup, ToolError> {
    let mut page = None;
    for _ in 0..MAX_PAGES {
        let read = context
            .jules()?
            .list_sources(Some(repository), page.as_deref())
            .await?;
        let mut sources = read.sources.into_iter();
        if let Some(source) = sources.find(|source| source.repository == *repository) {
            return Ok(Lookup::Found(source));
        }
        page = read.next;
        if page.is_none() {
            return Ok(Lookup::Unknown);
        }
    }
    Ok(Lookup::BeyondPages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_ends_in_the_line_by_which_it_is_found() {
        let text = build_prompt(
            " Fix it. ",
            &["style: small".into()],
            &["tests pass".into()],
            "k1",
        )
        .unwrap();
        assert_eq!(
            text,
            "Fix it.\n\nConstraints:\n- style: small\n\nIt is done when:\n- tests pass\n\nphileas-job: k1"
        );
        assert!(build_prompt("  ", &[], &[], "k1").is_err());
    }

    #[test]
    fn settings_are_told_from_what_belongs_into_the_prompt() {
        let constraints = serde_json::json!({
            "title": "T", "requirePlanApproval": true, "automation_mode": "NONE", "language": "Rust", "files": ["a"],
        });
        let settings = Settings::read_settings(constraints.as_object().unwrap().clone()).unwrap();
        assert_eq!(settings.title.as_deref(), Some("T"));
        assert!(settings.require_plan_approval && !settings.open_pull);
        assert_eq!(settings.rest, ["language: Rust", r#"files: ["a"]"#]);
        for wrong in [
            serde_json::json!({"automation_mode": "MANUAL"}),
            serde_json::json!({"require_plan_approval": "yes"}),
        ] {
            assert!(
                Settings::read_settings(wrong.as_object().unwrap().clone()).is_err(),
                "{wrong}"
            );
        }
    }
}
