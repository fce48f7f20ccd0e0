//! Performs the acts of a person on GitHub and in Jules' web app.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::act::{Act, Deed, FilePush};
use super::apps;
use super::mistake::Mistake;
use crate::github::{CheckOutput, Model, Oid, RepoId, State};
use crate::jules::WebAct;
use crate::world::World;

/// Performs the act, and records its immediate consequences in the books.
pub(super) fn perform(world: &mut World, act: Act) -> Result<Value, Mistake> {
    let result = dispatch(world, act);
    let now = world.now();
    world.advance_to(now);
    result
}

fn dispatch(world: &mut World, act: Act) -> Result<Value, Mistake> {
    let Act { by, repo, deed } = act;
    match deed {
        Deed::ReplyToSession { session, message } => {
            in_web_app(world, &session, WebAct::Say(&message))
        }
        Deed::ApprovePlan { session } => in_web_app(world, &session, WebAct::ApprovePlan),
        Deed::ArchiveSession { session } => in_web_app(world, &session, WebAct::Archive),
        Deed::DeleteSession { session } => in_web_app(world, &session, WebAct::Delete),
        deed => {
            let now = world.now();
            let place = Place::find_repository(world.github(), repo.as_deref(), by)?;
            on_github(world.github_mut(), &place, deed, now)
        }
    }
}

fn in_web_app(world: &mut World, id: &str, act: WebAct<'_>) -> Result<Value, Mistake> {
    if world.jules().session(id).is_none() {
        return Err(Mistake::missing(format!(
            "session: there is no session {id:?}"
        )));
    }
    let (now, knobs) = (world.now(), world.knobs().clone());
    if world.jules_mut().in_web_app(id, act, now, &knobs) {
        Ok(json!({}))
    } else {
        Err(Mistake::impossible(format!(
            "session {id} does not take this in its present state"
        )))
    }
}

/// The repository and the person of an act on GitHub.
struct Place {
    repo: RepoId,
    by: String,
}

impl Place {
    fn find_repository(
        github: &Model,
        repo: Option<&str>,
        by: Option<String>,
    ) -> Result<Self, Mistake> {
        let repo = match repo {
            Some(repo) => repo.to_owned(),
            None => only_repository(github)?,
        };
        let id = repo
            .split_once('/')
            .and_then(|(owner, name)| github.repository_by_name(owner, name));
        let found = id.and_then(|id| github.repository(id));
        let Some(found) = found else {
            return Err(Mistake::missing(format!(
                "repo: there is no repository {repo:?}"
            )));
        };
        Ok(Self {
            repo: found.id,
            by: by.unwrap_or_else(|| github.login(found.owner).to_owned()),
        })
    }

    fn thread(&self, github: &Model, number: u64) -> Result<(), Mistake> {
        let repository = github.repository(self.repo);
        match repository.and_then(|repository| repository.thread(number)) {
            Some(_) => Ok(()),
            None => Err(Mistake::missing(format!(
                "number: there is no issue or pull request {number}"
            ))),
        }
    }

    fn open_pull(&self, github: &Model, number: u64) -> Result<(), Mistake> {
        match github.pull(self.repo, number) {
            None => Err(Mistake::missing(format!(
                "number: there is no pull request {number}"
            ))),
            Some(pull) if pull.state != State::Open => Err(Mistake::impossible(format!(
                "pull request {number} is closed"
            ))),
            Some(_) => Ok(()),
        }
    }
}

fn only_repository(github: &Model) -> Result<String, Mistake> {
    let mut all = github.repositories();
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(github.full_name(only.id)),
        _ => Err(Mistake::malformed(
            "repo: the world has not exactly one repository; give \"owner/name\"",
        )),
    }
}

fn on_github(
    github: &mut Model,
    place: &Place,
    deed: Deed,
    now: Timestamp,
) -> Result<Value, Mistake> {
    let (repo, by) = (place.repo, place.by.as_str());
    match deed {
        Deed::MergePull { number } => {
            place.open_pull(github, number)?;
            let commit = github
                .merge_pull(repo, number, by, now)
                .map_err(|error| Mistake::impossible(error.to_string()))?;
            return Ok(json!({"commit": commit}));
        }
        Deed::Close { number } => {
            place.thread(github, number)?;
            if github.pull(repo, number).is_some() {
                github.close_pull(repo, number, by, now);
            } else {
                github.close_issue(repo, number, by, now);
            }
        }
        Deed::Reopen { number } => {
            place.thread(github, number)?;
            github.reopen(repo, number, by, now);
        }
        Deed::ReviewPull {
            number,
            verdict,
            body,
        } => {
            place.open_pull(github, number)?;
            github.review_pull(repo, number, verdict, &body, by, now);
        }
        Deed::Comment { number, body } => {
            place.thread(github, number)?;
            return Ok(json!({"comment": github.comment(repo, number, &body, by, now)}));
        }
        Deed::OpenIssue {
            title,
            body,
            labels,
        } => {
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let number = github.open_issue(repo, &title, &body, &labels, by, now);
            return Ok(json!({"number": number}));
        }
        Deed::Label { number, label } => {
            place.thread(github, number)?;
            github.add_label(repo, number, &label, by, now);
        }
        Deed::Unlabel { number, label } => {
            place.thread(github, number)?;
            github.remove_label(repo, number, &label, by, now);
        }
        Deed::PushFiles(push) => {
            return Ok(json!({"commit": push_files(github, place, &push, now)?}));
        }
        Deed::DeleteBranch { branch } => {
            if github.branch_head(repo, &branch).is_none() {
                return Err(Mistake::missing(format!(
                    "branch: there is no branch {branch:?}"
                )));
            }
            github.delete_branch(repo, &branch, by, now);
        }
        Deed::Edit {
            number,
            title,
            body,
        } => {
            place.thread(github, number)?;
            if let Some(title) = title {
                github.rename(repo, number, &title, by, now);
            }
            if let Some(body) = body {
                github.edit_body(repo, number, &body, by, now);
            }
        }
        Deed::EditComment { comment, body } => {
            let repository = github.repository(repo);
            if !repository.is_some_and(|found| found.comments.contains_key(&comment)) {
                return Err(Mistake::missing(format!(
                    "comment: there is no comment {comment}"
                )));
            }
            github.edit_comment(repo, comment, &body, by, now);
        }
        deed => return on_repository(github, place, deed, now),
    }
    Ok(json!({}))
}

/// Performs an act on drafts, checks, settings, workflows, releases or Apps.
fn on_repository(
    github: &mut Model,
    place: &Place,
    deed: Deed,
    now: Timestamp,
) -> Result<Value, Mistake> {
    let (repo, by) = (place.repo, place.by.as_str());
    match deed {
        Deed::SetDraft { number, draft } => {
            place.open_pull(github, number)?;
            github.set_draft(repo, number, draft, by, now);
        }
        Deed::SetCheck {
            number,
            name,
            conclusion,
        } => {
            let head = head_of(github, repo, number)?;
            github.set_checks(repo, head, &name, conclusion.as_deref(), by, now);
        }
        Deed::FailJob { number, name, log } => {
            let head = head_of(github, repo, number)?;
            let output = CheckOutput {
                log: Some(log),
                ..CheckOutput::default()
            };
            github.fail_job(repo, head, &name, output, now);
        }
        Deed::SetRole { login, role } => github.set_role(repo, &login, role),
        Deed::SetVariable { name, value } => github.set_variable(repo, &name, &value, now),
        Deed::PublishRelease { tag, assets } => {
            return publish(github, place, &tag, &assets, now);
        }
        Deed::ProtectBranch {
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
        Deed::RunWorkflow { path, conclusion } => {
            return run_workflow(github, place, &path, &conclusion, now);
        }
        Deed::SetWorkflow { path, state } => {
            if !github.set_workflow_state(repo, &path, &state) {
                return Err(Mistake::missing(format!(
                    "path: there is no workflow {path:?}"
                )));
            }
        }
        Deed::Lock { number, locked } => {
            if !github.set_locked(repo, number, locked) {
                return Err(Mistake::missing(format!(
                    "number: there is no thread {number}"
                )));
            }
        }
        Deed::SetIssues { on } => github.set_has_issues(repo, on),
        Deed::SetPullPolicy { collaborators_only } => {
            github.set_pulls_by_collaborators(repo, collaborators_only);
        }
        Deed::SetPrivate { private } => github.set_private(repo, private),
        Deed::Rename { name } => github.rename_repository(repo, &name, by, now),
        Deed::InstallApp { app } => return apps::install(github, repo, app, now),
        Deed::StockAppKey { pem, public_key } => apps::stock_key(github, pem, &public_key)?,
        // The callers have performed every other act.
        _ => {}
    }
    Ok(json!({}))
}

fn head_of(github: &Model, repo: RepoId, number: u64) -> Result<Oid, Mistake> {
    let pull = github.pull(repo, number);
    pull.map(|pull| pull.head.oid)
        .ok_or_else(|| Mistake::missing(format!("number: there is no pull request {number}")))
}

fn run_workflow(
    github: &mut Model,
    place: &Place,
    path: &str,
    conclusion: &str,
    now: Timestamp,
) -> Result<Value, Mistake> {
    let refused = |error: crate::github::ActError| Mistake::impossible(error.to_string());
    let branch = github
        .repository(place.repo)
        .map(|repository| repository.default_branch.clone())
        .unwrap_or_default();
    let run = github
        .start_run(place.repo, path, "schedule", &branch, &place.by, now)
        .map_err(refused)?;
    github
        .finish_run(place.repo, run, conclusion, "", now)
        .map_err(refused)?;
    Ok(json!({"run": run}))
}

fn publish(
    github: &mut Model,
    place: &Place,
    tag: &str,
    assets: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<Value, Mistake> {
    let mut files: Vec<(&str, Bytes)> = Vec::new();
    for (name, text) in assets {
        let content = STANDARD
            .decode(text)
            .map_err(|error| Mistake::malformed(format!("assets: {name}: not base64: {error}")))?;
        files.push((name, content.into()));
    }
    let release = github
        .publish_release(place.repo, tag, &files, &place.by, now)
        .map_err(|error| Mistake::impossible(error.to_string()))?;
    Ok(json!({"release": release}))
}

fn push_files(
    github: &mut Model,
    place: &Place,
    push: &FilePush,
    now: Timestamp,
) -> Result<Oid, Mistake> {
    if push.files.is_empty() && push.deletes.is_empty() {
        return Err(Mistake::malformed("files: name at least one file"));
    }
    let repo = place.repo;
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
        return Err(Mistake::impossible(format!(
            "cannot lock ref '{name}': '{blocking}' exists"
        )));
    }
    let commit = github.commit_files(repo, parent, &files, &place.by, &push.message, now);
    github.move_branch(repo, &push.branch, commit, &place.by, now);
    Ok(commit)
}
