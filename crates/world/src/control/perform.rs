//! Performs the acts of a person on GitHub and in Jules' web app.

use std::collections::BTreeMap;

use bytes::Bytes;
use data_encoding::BASE64;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::act::{Act, ActKind, FilePush};
use super::apps;
use super::error::ControlError;
use crate::github::{CheckOutput, Model, Oid, RepoId, State};
use crate::jules::WebAct;
use crate::world::World;

/// Performs the act, and records its immediate consequences in the books.
pub(super) fn perform_and_settle(world: &mut World, act: Act) -> Result<Value, ControlError> {
    let result = dispatch_act(world, act);
    let now = world.now();
    world.advance_to(now);
    result
}

fn dispatch_act(world: &mut World, act: Act) -> Result<Value, ControlError> {
    let Act { by, repo, kind } = act;
    match kind {
        ActKind::ReplyToSession { session, message } => {
            in_web_app(world, &session, WebAct::Say(&message))
        }
        ActKind::ApprovePlan { session } => in_web_app(world, &session, WebAct::ApprovePlan),
        ActKind::ArchiveSession { session } => in_web_app(world, &session, WebAct::Archive),
        ActKind::DeleteSession { session } => in_web_app(world, &session, WebAct::Delete),
        kind => {
            let now = world.now();
            let target = ActTarget::find_target(world.github(), repo.as_deref(), by)?;
            on_github(world.github_mut(), &target, kind, now)
        }
    }
}

fn in_web_app(world: &mut World, id: &str, act: WebAct<'_>) -> Result<Value, ControlError> {
    if world.jules().session(id).is_none() {
        return Err(ControlError::missing(format!(
            "session: there is no session {id:?}"
        )));
    }
    let (now, knobs) = (world.now(), world.knobs().clone());
    if world.jules_mut().in_web_app(id, act, now, &knobs) {
        Ok(json!({}))
    } else {
        Err(ControlError::impossible(format!(
            "session {id} does not take this in its present state"
        )))
    }
}

/// The repository and the person of an act on GitHub.
struct ActTarget {
    repo: RepoId,
    by: String,
}

impl ActTarget {
    fn find_target(
        github: &Model,
        repo: Option<&str>,
        by: Option<String>,
    ) -> Result<Self, ControlError> {
        let repo = match repo {
            Some(repo) => repo.to_owned(),
            None => only_repository(github)?,
        };
        let id = repo
            .split_once('/')
            .and_then(|(owner, name)| github.repository_by_name(owner, name));
        let found = id.and_then(|id| github.repository(id));
        let Some(found) = found else {
            return Err(ControlError::missing(format!(
                "repo: there is no repository {repo:?}"
            )));
        };
        Ok(Self {
            repo: found.id,
            by: by.unwrap_or_else(|| github.login(found.owner).to_owned()),
        })
    }

    fn check_thread(&self, github: &Model, number: u64) -> Result<(), ControlError> {
        let repository = github.repository(self.repo);
        match repository.and_then(|repository| repository.thread(number)) {
            Some(_) => Ok(()),
            None => Err(ControlError::missing(format!(
                "number: there is no issue or pull request {number}"
            ))),
        }
    }

    fn check_open_pull(&self, github: &Model, number: u64) -> Result<(), ControlError> {
        match github.pull(self.repo, number) {
            None => Err(ControlError::missing(format!(
                "number: there is no pull request {number}"
            ))),
            Some(pull) if pull.state != State::Open => Err(ControlError::impossible(format!(
                "pull request {number} is closed"
            ))),
            Some(_) => Ok(()),
        }
    }
}

fn only_repository(github: &Model) -> Result<String, ControlError> {
    let mut all = github.repositories();
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(github.full_name(only.id)),
        _ => Err(ControlError::malformed(
            "repo: the world has not exactly one repository; give \"owner/name\"",
        )),
    }
}

fn on_github(
    github: &mut Model,
    target: &ActTarget,
    kind: ActKind,
    now: Timestamp,
) -> Result<Value, ControlError> {
    let (repo, by) = (target.repo, target.by.as_str());
    match kind {
        ActKind::MergePull { number } => {
            target.check_open_pull(github, number)?;
            let commit = github
                .merge_pull(repo, number, by, now)
                .map_err(|error| ControlError::impossible(error.to_string()))?;
            return Ok(json!({"commit": commit}));
        }
        ActKind::Close { number } => {
            target.check_thread(github, number)?;
            if github.pull(repo, number).is_some() {
                github.close_pull(repo, number, by, now);
            } else {
                github.close_issue(repo, number, by, now);
            }
        }
        ActKind::Reopen { number } => {
            target.check_thread(github, number)?;
            github.reopen(repo, number, by, now);
        }
        ActKind::ReviewPull {
            number,
            verdict,
            body,
        } => {
            target.check_open_pull(github, number)?;
            github.review_pull(repo, number, verdict, &body, by, now);
        }
        ActKind::Comment { number, body } => {
            target.check_thread(github, number)?;
            return Ok(json!({"comment": github.comment(repo, number, &body, by, now)}));
        }
        ActKind::OpenIssue {
            title,
            body,
            labels,
        } => {
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let number = github.open_issue(repo, &title, &body, &labels, by, now);
            return Ok(json!({"number": number}));
        }
        ActKind::Label { number, label } => {
            target.check_thread(github, number)?;
            github.add_label(repo, number, &label, by, now);
        }
        ActKind::Unlabel { number, label } => {
            target.check_thread(github, number)?;
            github.remove_label(repo, number, &label, by, now);
        }
        ActKind::PushFiles(push) => {
            return Ok(json!({"commit": push_files(github, target, &push, now)?}));
        }
        ActKind::DeleteBranch { branch } => {
            if github.branch_head(repo, &branch).is_none() {
                return Err(ControlError::missing(format!(
                    "branch: there is no branch {branch:?}"
                )));
            }
            github.delete_branch(repo, &branch, by, now);
        }
        ActKind::Edit {
            number,
            title,
            body,
        } => {
            target.check_thread(github, number)?;
            if let Some(title) = title {
                github.rename(repo, number, &title, by, now);
            }
            if let Some(body) = body {
                github.edit_body(repo, number, &body, by, now);
            }
        }
        ActKind::EditComment { comment, body } => {
            let repository = github.repository(repo);
            if !repository.is_some_and(|found| found.comments.contains_key(&comment)) {
                return Err(ControlError::missing(format!(
                    "comment: there is no comment {comment}"
                )));
            }
            github.edit_comment(repo, comment, &body, by, now);
        }
        kind => return on_repository(github, target, kind, now),
    }
    Ok(json!({}))
}

/// Performs an act on drafts, checks, settings, workflows, releases or Apps.
fn on_repository(
    github: &mut Model,
    target: &ActTarget,
    kind: ActKind,
    now: Timestamp,
) -> Result<Value, ControlError> {
    let (repo, by) = (target.repo, target.by.as_str());
    match kind {
        ActKind::SetDraft { number, draft } => {
            target.check_open_pull(github, number)?;
            github.set_draft(repo, number, draft, by, now);
        }
        ActKind::SetCheck {
            number,
            name,
            conclusion,
        } => {
            let head = head_of(github, repo, number)?;
            github.set_checks(repo, head, &name, conclusion.as_deref(), by, now);
        }
        ActKind::FailJob { number, name, log } => {
            let head = head_of(github, repo, number)?;
            let output = CheckOutput {
                log: Some(log),
                ..CheckOutput::default()
            };
            github.fail_job(repo, head, &name, output, now);
        }
        ActKind::SetRole { login, role } => github.set_role(repo, &login, role),
        ActKind::SetVariable { name, value } => github.set_variable(repo, &name, &value, now),
        ActKind::PublishRelease { tag, assets } => {
            return publish_release(github, target, &tag, &assets, now);
        }
        ActKind::ProtectBranch {
            branch,
            rules,
            classic,
        } => {
            let rule = |rule: Value| match rule {
                Value::String(kind) => json!({"type": kind}),
                rule => rule,
            };
            github.set_ruleset(repo, &branch, rules.into_iter().map(rule).collect());
            if let Some(set) = classic {
                github.protect_branch(repo, &branch, &set);
            }
        }
        ActKind::RunWorkflow { path, conclusion } => {
            return run_workflow(github, target, &path, &conclusion, now);
        }
        ActKind::SetWorkflow { path, state } => github
            .set_workflow_state(repo, &path, &state)
            .then_some(())
            .ok_or_else(|| ControlError::missing(format!("path: there is no workflow {path:?}")))?,
        ActKind::Lock { number, locked } => github
            .set_locked(repo, number, locked)
            .then_some(())
            .ok_or_else(|| {
            ControlError::missing(format!("number: there is no thread {number}"))
        })?,
        ActKind::SetIssues { on } => github.set_has_issues(repo, on),
        ActKind::SetPullPolicy { collaborators_only } => {
            github.set_pulls_by_collaborators(repo, collaborators_only);
        }
        ActKind::SetPrivate { private } => github.set_private(repo, private),
        ActKind::Rename { name } => github.rename_repository(repo, &name, by, now),
        ActKind::InstallApp { app } => return apps::install_app(github, repo, app, now),
        ActKind::StockAppKey { pem, public_key } => apps::stock_key(github, pem, &public_key)?,
        // The callers have performed every other act.
        _ => {}
    }
    Ok(json!({}))
}

fn head_of(github: &Model, repo: RepoId, number: u64) -> Result<Oid, ControlError> {
    let pull = github.pull(repo, number);
    pull.map(|pull| pull.head.oid)
        .ok_or_else(|| ControlError::missing(format!("number: there is no pull request {number}")))
}

fn run_workflow(
    github: &mut Model,
    target: &ActTarget,
    path: &str,
    conclusion: &str,
    now: Timestamp,
) -> Result<Value, ControlError> {
    let refused = |error: crate::github::ActError| ControlError::impossible(error.to_string());
    let branch = github
        .repository(target.repo)
        .map(|repository| repository.default_branch.clone())
        .unwrap_or_default();
    let run = github
        .start_run(target.repo, path, "schedule", &branch, &target.by, now)
        .map_err(refused)?;
    github
        .finish_run(target.repo, run, conclusion, "", now)
        .map_err(refused)?;
    Ok(json!({"run": run}))
}

fn publish_release(
    github: &mut Model,
    target: &ActTarget,
    tag: &str,
    assets: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<Value, ControlError> {
    let mut files: Vec<(&str, Bytes)> = Vec::new();
    for (name, text) in assets {
        let content = BASE64.decode(text.as_bytes()).map_err(|error| {
            ControlError::malformed(format!("assets: {name}: not base64: {error}"))
        })?;
        files.push((name, content.into()));
    }
    let release = github
        .publish_release(target.repo, tag, &files, &target.by, now)
        .map_err(|error| ControlError::impossible(error.to_string()))?;
    Ok(json!({"release": release}))
}

fn push_files(
    github: &mut Model,
    target: &ActTarget,
    push: &FilePush,
    now: Timestamp,
) -> Result<Oid, ControlError> {
    if push.files.is_empty() && push.deletes.is_empty() {
        return Err(ControlError::malformed("files: name at least one file"));
    }
    let repo = target.repo;
    let default = github
        .repository(repo)
        .map(|repository| repository.default_branch.clone())
        .unwrap_or_default();
    let parent = github
        .branch_head(repo, &push.branch)
        .or_else(|| github.branch_head(repo, &default));
    let files: Vec<(String, Option<Bytes>)> = push
        .files
        .iter()
        .map(|(path, text)| (path.clone(), text.clone().map(Bytes::from)))
        .chain(push.deletes.iter().map(|path| (path.clone(), None)))
        .collect();
    let name = format!("refs/heads/{}", push.branch);
    let blocking = github
        .repository(repo)
        .and_then(|repository| repository.blocking_ref(&name));
    if let Some(blocking) = blocking {
        return Err(ControlError::impossible(format!(
            "cannot lock ref '{name}': '{blocking}' exists"
        )));
    }
    let commit = github.commit_files(repo, parent, &files, &target.by, &push.message, now);
    github.move_branch(repo, &push.branch, commit, &target.by, now);
    Ok(commit)
}
