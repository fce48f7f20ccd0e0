//! `jules_merge_pr`.

use std::sync::Arc;

use phileas_domain::engine::{
    Checks, MergeFacts, MergeMethod, MergeStands, PullState, ReviewDemand,
};
use phileas_domain::jobs::RetireReason;
use phileas_domain::model::{PullNumber, RepositoryName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::confirm::{Word, confirmed};
use super::super::desk::Desk;
use super::super::offer::{Call, Card, Effect, Offer, Reply};
use super::super::trouble::Trouble;
use crate::runtime::ports::hire::Job;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The job's id.
    job_id: String,
    /// How.
    #[serde(default)]
    payload: Payload,
    /// The person whom you work for wants it. Needed, with `expected_head_sha`, where the client can ask nobody.
    #[serde(default)]
    confirm: bool,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, default)]
struct Payload {
    /// The commit that you have reviewed, 40 digits. Nothing is merged when another one is the newest.
    expected_head_sha: Option<String>,
    /// `squash`, `merge` or `rebase`. Left out: what the repository allows, in this order.
    merge_method: Option<Method>,
    /// Which pull request, where the job has several.
    pull_number: Option<u64>,
    /// Merge also where the newest commit has no checks at all. Failed or running ones are never passed over.
    allow_no_checks: bool,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Method {
    Squash,
    Merge,
    Rebase,
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
    /// Whether it was merged by this call; otherwise it was before.
    merged_now: bool,
    /// Whether the job is archived now, so that it cannot push again.
    archived_job: bool,
}

pub(super) fn merge_pr() -> Offer {
    let card = Card {
        name: "jules_merge_pr",
        title: "Merge the pull request of a Jules job",
        text: "Merges a job's pull request if its checks are green on its newest commit and nothing else stands in the way, \
               and archives the job. Review it first. Asks a person first, or needs `confirm: true` together with \
               `payload.expected_head_sha`.",
        effect: Effect::Decides,
    };
    Offer::asking(card, merge)
}

async fn merge(desk: Arc<Desk>, input: Input, call: Call) -> Result<Reply<Output>, Trouble> {
    let job = desk.job(&input.job_id).await?;
    let (repository, number) = pull_of(&job, input.payload.pull_number)?;
    if !desk.policy.allows(&repository) {
        return Err(desk
            .policy
            .refusal(&format!("{repository} is not among the repositories")));
    }
    let pull = PullNumber(number);
    let facts = desk.house.merge_facts(&repository, pull).await?;
    let facts = facts.ok_or_else(|| {
        Trouble::new(format!(
            "GitHub shows no pull request {repository}#{number}"
        ))
    })?;
    let head = facts.head.to_string();
    let mut output = Output {
        job_id: job.id.clone(),
        repo: repository.to_string(),
        pull_number: number,
        head_sha: head.clone(),
        merged_now: false,
        archived_job: job.archived,
    };
    if facts.state == PullState::Merged {
        return Ok(Reply::Done(output));
    }
    let expected = input.payload.expected_head_sha.as_deref().map(str::trim);
    if let Some(expected) = expected
        && !expected.eq_ignore_ascii_case(&head)
    {
        return Err(Trouble::new(format!(
            "nothing was merged: the newest commit of {repository}#{number} is {head}, not {expected}; review what came \
             since, and call again with that commit"
        )));
    }
    if let Some(obstacle) = obstacle(&facts, input.payload.allow_no_checks) {
        return Err(Trouble::new(format!(
            "nothing was merged: {repository}#{number} {obstacle}"
        )));
    }
    let method = method(&facts, input.payload.merge_method)?;
    if input.confirm && expected.is_none() {
        return Err(Trouble::new(format!(
            "nothing was merged: say by `payload.expected_head_sha` which commit you have reviewed; the newest one of \
             {repository}#{number} is {head}"
        )));
    }
    let question = format!(
        "Merge {repository}#{number} ({}) at commit {head} into {} by {}?",
        job.title,
        facts.base,
        method.as_str()
    );
    let pinned = format!("{repository}#{number}@{head}");
    if let Word::Ask(ask) = confirmed(&desk, &call, input.confirm, &question, &pinned).await? {
        return Ok(Reply::Ask(ask));
    }
    desk.house
        .merge(&repository, pull, &facts.head, method)
        .await?;
    // A completed job can still push. Where archiving fails, it is merged all the same.
    output.archived_job = job.archived || desk.jules.archive(&job.id).await.is_ok();
    output.merged_now = true;
    desk.queue
        .retire(&desk.changes, &job.id, RetireReason::Merged);
    desk.changes.job(&job.id);
    Ok(Reply::Done(output))
}

/// The pull request that is meant. Where it lives, the job's own repository says, never an address alone.
fn pull_of(job: &Job, wanted: Option<u64>) -> Result<(RepositoryName, u64), Trouble> {
    let named: Vec<&(RepositoryName, u64)> = job
        .pulls
        .iter()
        .filter_map(|pull| pull.named.as_ref())
        .filter(|(repository, number)| {
            job.repository.as_ref().is_none_or(|own| own == repository)
                && wanted.is_none_or(|wanted| wanted == *number)
        })
        .collect();
    match named.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Trouble::new(match wanted {
            Some(number) => format!("job {} has no pull request #{number}", job.id),
            None => format!("job {} has no pull request", job.id),
        })),
        several => Err(Trouble::new(format!(
            "job {} has several pull requests; say which by `payload.pull_number`: {}",
            job.id,
            several
                .iter()
                .map(|(_, number)| number.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        ))),
    }
}

/// What stands in the way of merging, if anything does.
fn obstacle(facts: &MergeFacts, allow_no_checks: bool) -> Option<&'static str> {
    if facts.state != PullState::Open {
        return Some("is closed");
    }
    if facts.draft {
        return Some("is a draft");
    }
    if !facts.same_repository {
        return Some("comes from a fork");
    }
    if facts.labels.contains("hold") {
        return Some("bears the label `phileas:hold`");
    }
    match facts.checks {
        Checks::Green => {}
        Checks::None if allow_no_checks => {}
        Checks::None => {
            return Some(
                "has no checks that can be seen on its newest commit; if that is meant to be so, set \
                 `payload.allow_no_checks`",
            );
        }
        Checks::Pending => return Some("has checks that are not over; wait for them"),
        Checks::Red => return Some("has a failed check on its newest commit"),
    }
    match facts.demand {
        ReviewDemand::Met => {}
        ReviewDemand::Missing => return Some("needs more reviews by the rules of its base"),
        ReviewDemand::ChangesAsked => return Some("has a review that asks for changes"),
    }
    match facts.stands {
        MergeStands::Yes => None,
        MergeStands::Unknown => Some("is still being looked at by GitHub; try again in a minute"),
        MergeStands::Behind => Some("is behind its base, and the rules demand that it is not"),
        MergeStands::Conflicting => Some("conflicts with its base"),
        MergeStands::Blocked => Some("is blocked by the rules of its base"),
    }
}

fn method(facts: &MergeFacts, wanted: Option<Method>) -> Result<MergeMethod, Trouble> {
    let allowed = facts.method.ok_or_else(|| {
        Trouble::new("nothing was merged: this repository allows no way of merging")
    })?;
    // GitHub itself refuses a way that the repository does not allow.
    Ok(match wanted {
        None => allowed,
        Some(Method::Squash) => MergeMethod::Squash,
        Some(Method::Merge) => MergeMethod::Merge,
        Some(Method::Rebase) => MergeMethod::Rebase,
    })
}
