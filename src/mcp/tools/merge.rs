//! The tool `jules_merge_pr`.

use std::sync::Arc;

use phileas_domain::engine::{MergeFacts, MergeMethod, PullState, RunRequest, check_manual_merge};
use phileas_domain::jobs::{AccountSession, PullLink, RetireReason};
use phileas_domain::model::{PullNumber, RepositoryName};
use phileas_domain::prompt::clean_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::confirm::{Confirmation, asks_a_person, confirm_action};
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCall, ToolCard, ToolDefinition, ToolEffect, ToolReply};
use super::super::tool_error::ToolError;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The job's id.
    job_id: String,
    /// How to merge.
    #[serde(default)]
    payload: Payload,
    /// Whether the user that you work for wants it. Required, with `expected_head_sha`, if the
    /// client cannot ask; otherwise ignored.
    #[serde(default)]
    confirm: bool,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, default)]
struct Payload {
    /// The commit that you have reviewed, 40 digits. Nothing is merged if another one is the
    /// newest.
    expected_head_sha: Option<String>,
    /// `squash`, `merge` or `rebase`. Default: the first of these that the repository allows.
    merge_method: Option<Method>,
    /// The pull request, if the job has several.
    pull_number: Option<u64>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Method {
    Squash,
    Merge,
    Rebase,
}

impl Method {
    fn merge_method(self) -> MergeMethod {
        match self {
            Self::Squash => MergeMethod::Squash,
            Self::Merge => MergeMethod::Merge,
            Self::Rebase => MergeMethod::Rebase,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The job's id.
    job_id: String,
    /// The repository.
    repo: String,
    /// The pull request.
    pull_number: u64,
    /// The commit that was merged.
    head_sha: String,
    /// Whether this call merged it; otherwise it was merged before.
    merged_now: bool,
    /// Whether the job is archived, so that it cannot push again.
    archived_job: bool,
}

pub(super) fn merge_pr() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_merge_pr",
        title: "Merge the pull request of a Jules job",
        text: "Merges a job's pull request and archives the job, if the plan of the repository says `merge = \
            \"green\"`, its checks are green on its newest commit, and it changes no protected path. Review it first. \
            Asks a person first, whose refusal is final; if the client cannot ask, it needs `confirm: true` together \
            with `payload.expected_head_sha`.",
        effect: ToolEffect::Decides,
    };
    ToolDefinition::with_reply(card, merge_pull)
}

/// Checks that the plan, the pauses and the present checks allow the merge, as for a label.
async fn check_gate(
    context: &ToolContext,
    repository: &RepositoryName,
    pull: PullNumber,
    facts: &MergeFacts,
) -> Result<MergeMethod, ToolError> {
    let (_, snapshot) = context
        .phileas
        .explain_repository(repository, RunRequest::Due)
        .await?;
    check_manual_merge(&snapshot, pull, facts).map_err(|refusal| {
        let later = if refusal.waits {
            "; try again later"
        } else {
            ""
        };
        ToolError::new(format!(
            "nothing was merged: {repository}#{pull} {} ({}){later}",
            refusal.text,
            refusal.reason.code()
        ))
    })
}

async fn merge_pull(
    context: Arc<ToolContext>,
    input: Input,
    call: ToolCall,
) -> Result<ToolReply<Output>, ToolError> {
    let job = context.read_job(&input.job_id).await?;
    let PullLink {
        repository, number, ..
    } = pull_of(&job, input.payload.pull_number)?;
    if !context.policy.is_allowed(&repository) {
        return Err(context
            .policy
            .refusal_error(&format!("{repository} is not among the repositories")));
    }
    let (pull, number) = (number, number.0);
    let facts = context.phileas.merge_facts(&repository, pull).await?;
    let facts = facts.ok_or_else(|| {
        ToolError::input(format!(
            "GitHub shows no pull request {repository}#{number}"
        ))
    })?;
    let head = facts.head.to_string();
    let mut output = Output {
        job_id: job.id.to_string(),
        repo: repository.to_string(),
        pull_number: number,
        head_sha: head.clone(),
        merged_now: false,
        archived_job: job.archived,
    };
    if facts.state == PullState::Merged {
        return Ok(ToolReply::Done(output));
    }
    let expected = input.payload.expected_head_sha.as_deref().map(str::trim);
    if let Some(expected) = expected
        && !expected.eq_ignore_ascii_case(&head)
    {
        return Err(ToolError::new(format!(
            "nothing was merged: the newest commit of {repository}#{number} is {head}, not {expected}; review the new \
             commits, and call again with that commit"
        )));
    }
    let allowed = check_gate(&context, &repository, pull, &facts).await?;
    // GitHub refuses a method that the repository does not allow.
    let method = input
        .payload
        .merge_method
        .map_or(allowed, Method::merge_method);
    if input.confirm && !asks_a_person(&call) && expected.is_none() {
        return Err(ToolError::input(format!(
            "nothing was merged: name the commit that you have reviewed in `payload.expected_head_sha`; the newest one \
             of {repository}#{number} is {head}"
        )));
    }
    let question = format!(
        "Merge {repository}#{number} ({}) at commit {head} into {} by {}? {}",
        clean_line(&job.title),
        facts.base,
        method.as_str(),
        files_text(&facts)
    );
    let pinned = format!("{repository}#{number}@{head}").to_ascii_lowercase();
    if let Confirmation::AskPerson(ask) =
        confirm_action(&context, &call, input.confirm, &question, &pinned).await?
    {
        return Ok(ToolReply::AskPerson(ask));
    }
    check_again(&context, &repository, pull, &facts).await?;
    let jules = context.jules()?;
    context
        .phileas
        .merge_pull(&repository, pull, &facts.head, method)
        .await?;
    // A completed job can still push. A failure to archive does not undo the merge.
    output.archived_job = job.archived || jules.archive_job(job.id.as_str()).await.is_ok();
    output.merged_now = true;
    context
        .queue
        .retire_job(&context.changes, job.id.as_str(), RetireReason::Merged);
    context.changes.notify_job(job.id.as_str());
    Ok(ToolReply::Done(output))
}

/// Checks everything again after the confirmation. The person may have taken minutes; meanwhile a
/// hold, a pause or another base branch may have been set.
async fn check_again(
    context: &ToolContext,
    repository: &RepositoryName,
    pull: PullNumber,
    shown: &MergeFacts,
) -> Result<(), ToolError> {
    let now = context.phileas.merge_facts(repository, pull).await?;
    let is_as_shown = |now: &MergeFacts| {
        now.head == shown.head && now.base == shown.base && files_text(now) == files_text(shown)
    };
    let now = now.filter(is_as_shown).ok_or_else(|| {
        ToolError::new(format!(
            "nothing was merged: {repository}#{} has changed since the question; call again",
            pull.0
        ))
    })?;
    check_gate(context, repository, pull, &now).await?;
    Ok(())
}

/// Finds the requested pull request. Only the job's own repository decides where it is, never an
/// address.
fn pull_of(job: &AccountSession, wanted: Option<u64>) -> Result<PullLink, ToolError> {
    let links: Vec<&PullLink> = job
        .pulls
        .iter()
        .filter_map(|pull| pull.link.as_ref())
        .filter(|link| {
            let own = job.repository.as_ref();
            own.is_none_or(|own| *own == link.repository)
                && wanted.is_none_or(|wanted| wanted == link.number.0)
        })
        .collect();
    match links.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(ToolError::input(match wanted {
            Some(number) => format!(
                "job {} has no pull request #{number}; `jules_get_job` shows its pull requests",
                job.id
            ),
            None => format!("job {} has no pull request", job.id),
        })),
        several => Err(ToolError::input(format!(
            "job {} has several pull requests; choose one by `payload.pull_number`: {}",
            job.id,
            several
                .iter()
                .map(|link| link.number.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        ))),
    }
}

/// Lists every changed file, so that the person confirms the facts and not an agent's summary.
fn files_text(facts: &MergeFacts) -> String {
    let files = facts.files.as_deref().unwrap_or_default();
    let names: Vec<String> = files.iter().map(|file| clean_line(file)).collect();
    match names.len() {
        0 => "It changes no file.".to_owned(),
        1 => format!("It changes 1 file: {}", names[0]),
        count => format!("It changes {count} files: {}", names.join(", ")),
    }
}
