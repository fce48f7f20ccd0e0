//! The tools `jules_get_job` and `jules_list_jobs`.

use std::sync::Arc;

use phileas_domain::engine::{ActivityKind, SessionState};
use phileas_domain::jobs::AccountSession;
use phileas_domain::model::RepositoryName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::cursor;
use super::super::text_limit::TextLimit;
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::ToolError;
use super::super::view::{JobView, plan_text, plan_waits};
use super::arguments::check_limit;
use super::create::check_source;

/// How many bytes of a job's prompt are shown.
const PROMPT_BYTES: usize = 600;
/// How many bytes of a question, a plan or a reason are shown.
const WORDS_BYTES: usize = 3_000;
/// How many jobs a page has by default, as in the first design.
const DEFAULT_LIMIT: u32 = 50;
/// The most jobs of a page.
const MAX_LIMIT: u32 = 100;
/// How many pages of the account's jobs, of 100 or fewer, one call reads.
const MAX_PAGES: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneJob {
    /// The job's id.
    job_id: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct JobOutput {
    /// The job.
    #[serde(flatten)]
    view: JobView,
    /// The prompt, or its beginning.
    prompt: TextLimit,
    /// Jules' question, if it waits for an answer.
    question: Option<TextLimit>,
    /// The plan, if it waits for approval.
    plan: Option<TextLimit>,
    /// Why it failed.
    reason: Option<TextLimit>,
    /// Whether it has changes; `jules_get_diff` shows them.
    has_changes: bool,
}

pub(super) fn get_job() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_get_job",
        title: "Show a Jules job",
        text: "Returns the state of a job, the question or the plan that it waits with, and its pull requests. Do not \
            poll: `jules_wait_for_event` waits at no cost.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::new(card, get)
}

async fn get(context: Arc<ToolContext>, input: OneJob) -> Result<JobOutput, ToolError> {
    let job = context.read_job(&input.job_id).await?;
    // Activities are read only if the state alone does not say enough.
    let tells = matches!(
        job.state,
        SessionState::AwaitingPlanApproval
            | SessionState::AwaitingUserFeedback
            | SessionState::Failed
            | SessionState::Completed
    );
    let happenings = if tells {
        context.read_activities(&job).await?
    } else {
        Vec::new()
    };
    let newest = |pick: fn(&ActivityKind) -> Option<String>| {
        let text = happenings.iter().rev().find_map(|one| pick(&one.kind));
        text.map(|text| TextLimit::new(&text, WORDS_BYTES))
    };
    let asks = job.state == SessionState::AwaitingUserFeedback;
    let plan = plan_waits(&job, &happenings) == Some(true);
    Ok(JobOutput {
        question: newest(|what| match what {
            ActivityKind::AgentMessaged(text) => Some(text.clone()),
            _ => None,
        })
        .filter(|_| asks),
        plan: newest(|what| match what {
            ActivityKind::PlanGenerated { steps, .. } => Some(plan_text(steps)),
            _ => None,
        })
        .filter(|_| plan),
        reason: newest(|what| match what {
            ActivityKind::Failed(reason) => Some(reason.clone()),
            _ => None,
        }),
        has_changes: job.changes.is_some() || happenings.iter().any(|one| one.changes.is_some()),
        prompt: TextLimit::new(&job.prompt, PROMPT_BYTES),
        view: JobView::from_job(&job),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListInput {
    /// Only jobs on this repository, `owner/name`. Default: all that this server may see.
    repo: Option<String>,
    /// The most jobs to return, 1 to 100. Default: 50.
    limit: Option<u32>,
    /// Only jobs in this state: `QUEUED`, `PLANNING`, `AWAITING_PLAN_APPROVAL`, `AWAITING_USER_FEEDBACK`,
    /// `IN_PROGRESS`, `PAUSED`, `COMPLETED` or `FAILED`.
    state: Option<String>,
    /// Whether to list archived jobs instead of the others.
    #[serde(default)]
    archived: bool,
    /// `next_cursor` of the previous answer.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ListOutput {
    /// The jobs, newest first.
    jobs: Vec<JobView>,
    /// The `cursor` for older jobs. Missing: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether older jobs of the account were not read.
    truncated: bool,
}

pub(super) fn list_jobs() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_list_jobs",
        title: "List Jules jobs",
        text: "Lists jobs, newest first, of one repository or of all that this server may see.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::new(card, run_list_jobs)
}

/// Where an answer begins: on this page of Jules' list, behind this job.
#[derive(Default, Serialize, Deserialize)]
struct Start {
    page: Option<String>,
    before: Option<ListPosition>,
}

/// Newest first; equal times are ordered by id, so that every job has one position.
type ListPosition = (String, String);

fn list_position(job: &AccountSession) -> ListPosition {
    let at = job
        .created_at
        .map(|at| format!("{:020}", at.as_nanosecond()));
    (at.unwrap_or_default(), job.id.to_string())
}

async fn run_list_jobs(
    context: Arc<ToolContext>,
    input: ListInput,
) -> Result<ListOutput, ToolError> {
    let repository: Option<RepositoryName> = match &input.repo {
        Some(repo) => Some(context.policy.parse_repository(repo)?),
        None => None,
    };
    let limit = check_limit(input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let of = format!(
        "jobs {} {} {}",
        repository
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        input.state.as_deref().unwrap_or_default(),
        input.archived
    );
    let start: Start = cursor::open_cursor(&of, input.cursor.as_deref())?.unwrap_or_default();
    let Wanted {
        mut jobs,
        truncated,
        unread,
    } = read_wanted(&context, &input, repository.as_ref(), &start, limit).await?;
    if jobs.is_empty() {
        check_empty_list(&context, &input, repository.as_ref(), truncated).await?;
    }
    jobs.sort_by_key(|job| std::cmp::Reverse(list_position(job)));
    let next = if jobs.len() > limit {
        jobs.truncate(limit);
        let before = jobs.last().map(list_position);
        let page = start.page;
        Some(Start { page, before })
    } else {
        unread.map(|page| Start {
            page: Some(page),
            before: None,
        })
    };
    Ok(ListOutput {
        jobs: jobs.iter().map(JobView::from_job).collect(),
        next_cursor: next.map(|next| cursor::seal_cursor(&of, &next)),
        truncated,
    })
}

/// The jobs that were read and that the caller wants.
struct Wanted {
    jobs: Vec<AccountSession>,
    /// Whether older ones may be wanted, too.
    truncated: bool,
    /// The page that was not read.
    unread: Option<String>,
}

/// Reads pages until there are more than `limit` wanted jobs, or [`MAX_PAGES`] pages are read.
async fn read_wanted(
    context: &ToolContext,
    input: &ListInput,
    repository: Option<&RepositoryName>,
    start: &Start,
    limit: usize,
) -> Result<Wanted, ToolError> {
    let is_wanted = |job: &AccountSession, here: &ListPosition| {
        let is_of_repository = match repository {
            Some(name) => job.repository.as_ref() == Some(name),
            None => context.policy.is_visible(job.repository.as_ref()),
        };
        let state = input.state.as_deref();
        is_of_repository
            && start.before.as_ref().is_none_or(|before| here < before)
            && state.is_none_or(|state| JobView::from_job(job).state.eq_ignore_ascii_case(state))
    };
    let mut wanted = Wanted {
        jobs: Vec::new(),
        truncated: true,
        unread: start.page.clone(),
    };
    let mut last: Option<ListPosition> = None;
    let mut in_order = true;
    for _ in 0..MAX_PAGES {
        let jules = context.jules()?;
        let page = wanted.unread.as_deref();
        let read = jules.list_jobs(repository, page, input.archived).await?;
        in_order &= read.is_of_one_list;
        for job in read.jobs {
            let here = list_position(&job);
            in_order &= last.as_ref().is_none_or(|last| *last >= here);
            if is_wanted(&job, &here) && wanted.jobs.iter().all(|known| known.id != job.id) {
                wanted.jobs.push(job);
            }
            last = Some(here);
        }
        wanted.unread = read.next;
        // Jules lists the newest first but does not promise it. The rest is older only if that was true so far.
        if wanted.unread.is_none() || (in_order && wanted.jobs.len() > limit) {
            wanted.truncated = false;
            break;
        }
    }
    Ok(wanted)
}

/// Checks whether a list is empty because of a mistyped name.
async fn check_empty_list(
    context: &ToolContext,
    input: &ListInput,
    repository: Option<&RepositoryName>,
    truncated: bool,
) -> Result<(), ToolError> {
    if let Some(state) = &input.state {
        return check_state(state);
    }
    match repository {
        // Otherwise the repository may have jobs that are not in the list.
        Some(name) if input.cursor.is_none() && !truncated => check_source(context, name).await,
        _ => Ok(()),
    }
}

/// Checks the name of a state that no job has. A job may be in a state that phileas does not know.
fn check_state(text: &str) -> Result<(), ToolError> {
    let known = SessionState::KNOWN;
    let names: Vec<&str> = known.iter().map(SessionState::as_str).collect();
    if names.iter().any(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(());
    }
    Err(ToolError::input(format!(
        "`state` is `{}`, which is not a known state; the known ones are {}",
        text.escape_debug(),
        names.join(", ")
    )))
}
