//! Routes for checks, statuses, workflows and releases.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Call, Refusal, Reply};
use crate::github::Oid;
use crate::github::render::checks::{joint_conclusion, latest_runs, latest_statuses};
use crate::github::repository::CheckRun;

fn commit_of(call: &Call<'_>) -> Result<Oid, Refusal> {
    let name = call.path_param("ref").to_owned();
    call.commit_named(&name)
        .ok_or_else(|| Refusal::new(422, &format!("No commit found for SHA: {name}")))
}

pub(super) fn check_runs_of(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let commit = commit_of(call)?;
    let all = call.query_param("filter") == Some("all");
    let name = call.query_param("check_name").map(str::to_owned);
    let repository = call.visible_repository();
    let runs: Vec<CheckRun> = if all {
        repository
            .checks
            .iter()
            .filter(|run| run.commit == commit)
            .cloned()
            .collect()
    } else {
        latest_runs(repository, commit)
            .into_iter()
            .cloned()
            .collect()
    };
    let runs: Vec<CheckRun> = runs
        .into_iter()
        .filter(|run| name.as_ref().is_none_or(|name| run.name == *name))
        .collect();
    let total = runs.len();
    let page = call.page_of(runs);
    let repository = call.visible_repository();
    let list: Vec<Value> = page
        .iter()
        .map(|run| call.model.check_run_json(repository, run))
        .collect();
    Ok(Reply::Json(
        200,
        json!({"total_count": total, "check_runs": list}),
    ))
}

pub(super) fn check_suites_of(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let commit = commit_of(call)?;
    let mut suites: Vec<CheckRun> = Vec::new();
    for run in call
        .visible_repository()
        .checks
        .iter()
        .filter(|run| run.commit == commit)
    {
        if !suites.iter().any(|other| other.suite == run.suite) {
            suites.push(run.clone());
        }
    }
    let total = suites.len();
    let page = call.page_of(suites);
    let repository = call.visible_repository();
    let list: Vec<Value> = page
        .iter()
        .map(|run| call.model.check_suite_json(repository, run))
        .collect();
    Ok(Reply::Json(
        200,
        json!({"total_count": total, "check_suites": list}),
    ))
}

pub(super) fn check_suite(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("check_suite_id")?;
    let repository = call.visible_repository();
    let run = repository
        .checks
        .iter()
        .find(|run| run.suite == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.check_suite_json(repository, run),
    ))
}

pub(super) fn check_run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("check_run_id")?;
    let repository = call.visible_repository();
    let run = repository
        .checks
        .iter()
        .find(|run| run.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, call.model.check_run_json(repository, run)))
}

pub(super) fn create_check_run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    if !call.is_bot() {
        return Err(Refusal::new(403, "You must authenticate via a GitHub App."));
    }
    let name = call.required_text("name")?;
    let commit: Oid = call
        .required_text("head_sha")?
        .parse()
        .map_err(|_| Refusal::new(422, "No commit found for SHA"))?;
    if call.repository_objects().commit(commit).is_none() {
        return Err(Refusal::new(
            422,
            &format!("No commit found for SHA: {commit}"),
        ));
    }
    let conclusion = call.body_text("conclusion").map(str::to_owned);
    let (repo, now, login) = (
        call.repo_id(),
        call.now,
        call.model.login(call.actor_account()).to_owned(),
    );
    call.model
        .set_checks(repo, commit, &name, conclusion.as_deref(), &login, now);
    let repository = call.current_repository();
    let run = repository
        .checks
        .iter()
        .rev()
        .find(|run| run.commit == commit && run.name == name);
    let run = run.ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(201, call.model.check_run_json(repository, run)))
}

pub(super) fn update_check_run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("check_run_id")?;
    let run = call
        .current_repository()
        .checks
        .iter()
        .find(|run| run.id == id)
        .ok_or_else(Refusal::not_found)?
        .clone();
    let conclusion = call.body_text("conclusion").map(str::to_owned);
    if conclusion.is_some() {
        let (repo, now, login) = (
            call.repo_id(),
            call.now,
            call.model.login(call.actor_account()).to_owned(),
        );
        call.model.set_checks(
            repo,
            run.commit,
            &run.name,
            conclusion.as_deref(),
            &login,
            now,
        );
    }
    let repository = call.current_repository();
    let run = repository
        .checks
        .iter()
        .find(|run| run.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, call.model.check_run_json(repository, run)))
}

pub(super) fn create_status(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let commit: Oid = call
        .path_param("sha")
        .parse()
        .map_err(|_| Refusal::not_found())?;
    if call.repository_objects().commit(commit).is_none() {
        return Err(Refusal::new(
            422,
            &format!("No commit found for SHA: {commit}"),
        ));
    }
    let state = call.required_text("state")?;
    if !["error", "failure", "pending", "success"].contains(&state.as_str()) {
        return Err(Refusal::validation_failed(
            "Status",
            "state",
            "custom",
            Some("state is not included in the list"),
        ));
    }
    let context = call.body_text("context").unwrap_or("default").to_owned();
    let description = call.body_text("description").map(str::to_owned);
    let target = call.body_text("target_url").map(str::to_owned);
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let id = call.model.set_status(
        repo,
        commit,
        &state,
        &context,
        description.as_deref(),
        target.as_deref(),
        actor,
        now,
    )?;
    let status = call
        .current_repository()
        .statuses
        .iter()
        .find(|status| status.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(201, call.model.status_json(repo, status)))
}

pub(super) fn combined_status(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let commit = commit_of(call)?;
    let repo = call.repo_id();
    let repository = call.visible_repository();
    let statuses = latest_statuses(repository, commit);
    let state = if statuses
        .iter()
        .any(|status| matches!(status.state.as_str(), "failure" | "error"))
    {
        "failure"
    } else if statuses.is_empty() || statuses.iter().any(|status| status.state == "pending") {
        "pending"
    } else {
        "success"
    };
    let list: Vec<Value> = statuses
        .iter()
        .map(|status| call.model.status_json(repo, status))
        .collect();
    Ok(Reply::Json(
        200,
        json!({
            "state": state, "statuses": list, "sha": commit, "total_count": list.len(),
            "repository": call.model.repository_json(repository),
            "commit_url": call.model.repo_url(repo, &format!("/commits/{commit}")),
            "url": call.model.repo_url(repo, &format!("/commits/{commit}/status")),
        }),
    ))
}

pub(super) fn statuses_of(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let commit = commit_of(call)?;
    let mut all: Vec<_> = call
        .visible_repository()
        .statuses
        .iter()
        .filter(|status| status.commit == commit)
        .cloned()
        .collect();
    all.reverse();
    let page = call.page_of(all);
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|status| call.model.status_json(call.repo_id(), status))
            .collect(),
    ))
}

// ---- workflows ---------------------------------------------------------------------------------------------------

pub(super) fn list_workflows(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let all = call.visible_repository().workflows.clone();
    let total = all.len();
    let page = call.page_of(all);
    let list: Vec<Value> = page
        .iter()
        .map(|workflow| call.model.workflow_json(call.repo_id(), workflow))
        .collect();
    Ok(Reply::Json(
        200,
        json!({"total_count": total, "workflows": list}),
    ))
}

/// A workflow by its number or the name of its file.
fn workflow_id(call: &Call<'_>) -> Result<u64, Refusal> {
    let key = call.path_param("workflow_id");
    let file = format!(".github/workflows/{key}");
    let found = call
        .current_repository()
        .workflows
        .iter()
        .find(|workflow| workflow.id.to_string() == key || workflow.path == file);
    found
        .map(|workflow| workflow.id)
        .ok_or_else(Refusal::not_found)
}

pub(super) fn get_workflow(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = workflow_id(call)?;
    let workflow = call
        .visible_repository()
        .workflows
        .iter()
        .find(|workflow| workflow.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.workflow_json(call.repo_id(), workflow),
    ))
}

fn set_workflow(call: &mut Call<'_>, state: &str) -> Result<Reply, Refusal> {
    let (id, repo, actor, now) = (
        workflow_id(call)?,
        call.repo_id(),
        call.actor_account(),
        call.now,
    );
    let repository = call
        .model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?;
    if let Some(workflow) = repository
        .workflows
        .iter_mut()
        .find(|workflow| workflow.id == id)
    {
        workflow.state = state.to_owned();
    }
    call.model.note_write(
        repo,
        actor,
        "workflow.state",
        json!({"id": id, "state": state}),
        now,
    );
    Ok(Reply::Empty(204))
}

pub(super) fn enable_workflow(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    set_workflow(call, "active")
}

pub(super) fn disable_workflow(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    set_workflow(call, "disabled_manually")
}

pub(super) fn list_runs(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let workflow = if call.path_param("workflow_id").is_empty() {
        None
    } else {
        Some(workflow_id(call)?)
    };
    let wanted = |call: &Call<'_>, name: &str| call.query_param(name).map(str::to_owned);
    let (branch, event, status, sha) = (
        wanted(call, "branch"),
        wanted(call, "event"),
        wanted(call, "status"),
        wanted(call, "head_sha"),
    );
    let mut all: Vec<_> = call
        .visible_repository()
        .runs
        .iter()
        .filter(|run| workflow.is_none_or(|id| run.workflow == id))
        .filter(|run| branch.as_ref().is_none_or(|branch| run.branch == *branch))
        .filter(|run| event.as_ref().is_none_or(|event| run.event == *event))
        .filter(|run| {
            sha.as_ref()
                .is_none_or(|sha| run.commit.to_string() == *sha)
        })
        .filter(|run| {
            status.as_ref().is_none_or(|status| {
                run.status == *status || run.conclusion.as_ref() == Some(status)
            })
        })
        .cloned()
        .collect();
    all.reverse();
    let total = all.len();
    let page = call.page_of(all);
    let repository = call.visible_repository();
    let list: Vec<Value> = page
        .iter()
        .map(|run| call.model.run_json(repository, run))
        .collect();
    Ok(Reply::Json(
        200,
        json!({"total_count": total, "workflow_runs": list}),
    ))
}

pub(super) fn get_run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("run_id")?;
    let repository = call.visible_repository();
    let run = repository
        .runs
        .iter()
        .find(|run| run.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, call.model.run_json(repository, run)))
}

pub(super) fn list_jobs(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("run_id")?;
    let repository = call.visible_repository();
    let run = repository
        .runs
        .iter()
        .find(|run| run.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        json!({"total_count": 1, "jobs": [call.model.job_json(repository, run)]}),
    ))
}

pub(super) fn get_job(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("job_id")?;
    let repository = call.visible_repository();
    let run = repository
        .runs
        .iter()
        .find(|run| run.id + 2 == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, call.model.job_json(repository, run)))
}

pub(super) fn get_job_logs(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("job_id")?;
    let job = call
        .visible_repository()
        .checks
        .iter()
        .find(|run| run.id == id);
    if job.is_some_and(|job| job.output.log.is_some()) {
        let address = call.model.log_address(call.repo_id(), id, call.now);
        return Ok(Reply::Found(address));
    }
    let run = call
        .visible_repository()
        .runs
        .iter()
        .find(|run| run.id + 2 == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Raw(
        200,
        "text/plain; charset=utf-8",
        Bytes::from(run.log.clone()),
    ))
}

// ---- releases ----------------------------------------------------------------------------------------------------

pub(super) fn list_releases(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let mut all = call.visible_repository().releases.clone();
    all.reverse();
    let page = call.page_of(all);
    let repository = call.visible_repository();
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|release| call.model.release_json(repository, release))
            .collect(),
    ))
}

pub(super) fn latest_release(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let repository = call.visible_repository();
    let latest = repository
        .releases
        .iter()
        .rev()
        .find(|release| !release.draft && !release.prerelease);
    let latest = latest.ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.release_json(repository, latest),
    ))
}

pub(super) fn release_by_tag(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let repository = call.visible_repository();
    let tag = call.path_param("tag");
    let release = repository
        .releases
        .iter()
        .find(|release| release.tag == tag && !release.draft);
    let release = release.ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.release_json(repository, release),
    ))
}

pub(super) fn get_release(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("release_id")?;
    let repository = call.visible_repository();
    let release = repository
        .releases
        .iter()
        .find(|release| release.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.release_json(repository, release),
    ))
}

pub(super) fn list_assets(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("release_id")?;
    let release = call
        .visible_repository()
        .releases
        .iter()
        .find(|release| release.id == id)
        .ok_or_else(Refusal::not_found)?
        .clone();
    let page = call.page_of(release.assets.clone());
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|asset| call.model.asset_json(call.repo_id(), &release, asset))
            .collect(),
    ))
}

pub(super) fn get_asset(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("asset_id")?;
    let repository = call.visible_repository();
    let found = repository
        .releases
        .iter()
        .find_map(|release| Some((release, release.assets.iter().find(|a| a.0 == id)?)));
    let (release, asset) = found.ok_or_else(Refusal::not_found)?;
    let accept = call
        .headers
        .get("accept")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if accept.contains("octet-stream") {
        let address = call.model.storage_address(call.repo_id(), id, call.now);
        return Ok(Reply::Found(address));
    }
    Ok(Reply::Json(
        200,
        call.model.asset_json(call.repo_id(), release, asset),
    ))
}

/// The joint conclusion of a commit's checks, for GraphQL's roll-up.
pub(crate) fn checks_rollup(
    repository: &crate::github::Repository,
    commit: Oid,
) -> Option<&'static str> {
    let runs = latest_runs(repository, commit);
    let statuses = latest_statuses(repository, commit);
    if runs.is_empty() && statuses.is_empty() {
        return None;
    }
    let bad = statuses
        .iter()
        .any(|status| matches!(status.state.as_str(), "failure" | "error"));
    let open = statuses.iter().any(|status| status.state == "pending");
    Some(match joint_conclusion(&runs) {
        _ if bad => "FAILURE",
        Some("failure") => "FAILURE",
        None => "PENDING",
        Some(_) if open => "PENDING",
        Some(_) => "SUCCESS",
    })
}
