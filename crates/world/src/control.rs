//! The world's own routes on the GitHub face, under `/__world/`: for tests in other processes and for the sandbox.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::faults::FaultPlan;
use crate::github::{RepoId, Role, Verdict};
use crate::world::World;

/// What these routes begin with.
pub(crate) const PREFIX: &str = "/__world/";

/// Answers a request of the control interface.
pub(crate) fn handle(world: &mut World, request: &Request<Bytes>) -> Response<Bytes> {
    let route = request
        .uri()
        .path()
        .strip_prefix(PREFIX)
        .unwrap_or_default();
    let body: Value = if request.body().is_empty() {
        Value::Null
    } else {
        match serde_json::from_slice(request.body()) {
            Ok(body) => body,
            Err(error) => return reply(400, &json!({"error": format!("body: {error}")})),
        }
    };
    let answer = match (request.method(), route) {
        (&Method::GET, "books") => {
            Ok(serde_json::to_value(world.complete_books()).expect("books can be written as JSON"))
        }
        (&Method::GET, "clock") => Ok(clock(world)),
        (&Method::POST, "advance") => advance(world, &body),
        (&Method::POST, "faults") => faults(world, body),
        (&Method::POST, "knobs") => world
            .knobs_mut()
            .set(&body)
            .map(|()| serde_json::to_value(world.knobs()).expect("knobs can be written as JSON")),
        (&Method::POST, "scenario") => scenario(world, body),
        (&Method::POST, "deliveries") => Ok(deliveries(world)),
        (&Method::POST, "delivered") => delivered(world, &body),
        (&Method::POST, "reset-requests") => {
            world.books_mut().reset_requests();
            Ok(json!({}))
        }
        _ => {
            return reply(
                404,
                &json!({"error": format!("no control route {} {route}", request.method())}),
            );
        }
    };
    match answer {
        Ok(body) => reply(200, &body),
        Err(error) => reply(400, &json!({"error": error})),
    }
}

fn reply(status: u16, body: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}

fn clock(world: &World) -> Value {
    json!({"now": world.now(), "next_due": world.next_due()})
}

/// `{"to": instant}` or `{"by": seconds}`.
fn advance(world: &mut World, body: &Value) -> Result<Value, String> {
    let to = match (body["to"].as_str(), body["by"].as_i64()) {
        (Some(text), None) => text
            .parse::<Timestamp>()
            .map_err(|error| format!("to: {error}"))?,
        (None, Some(seconds)) => world
            .now()
            .checked_add(SignedDuration::from_secs(seconds))
            .map_err(|error| format!("by: {error}"))?,
        _ => return Err("give either to (an instant) or by (seconds)".to_owned()),
    };
    world.advance_to(to);
    Ok(clock(world))
}

fn faults(world: &mut World, body: Value) -> Result<Value, String> {
    let plan: FaultPlan =
        serde_json::from_value(body).map_err(|error| format!("faults: {error}"))?;
    let rules = plan.rules.len();
    world.faults_mut().replace(plan);
    Ok(json!({"rules": rules}))
}

/// Deliveries whose time has come, for a caller who posts them.
fn deliveries(world: &mut World) -> Value {
    let due = world.take_due_deliveries();
    due.into_iter()
        .map(|delivery| {
            let headers: serde_json::Map<String, Value> = delivery
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().into()))
                .collect();
            json!({
                "id": delivery.id, "guid": delivery.guid, "event": delivery.event, "action": delivery.action,
                "url": delivery.url, "headers": headers, "body": String::from_utf8_lossy(&delivery.body), "due": delivery.due,
            })
        })
        .collect()
}

/// `{"id": n, "status": code or null}`.
fn delivered(world: &mut World, body: &Value) -> Result<Value, String> {
    let id = body["id"].as_u64().ok_or("id: a number is needed")?;
    world.delivery_done(
        id,
        body["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok()),
    );
    Ok(json!({}))
}

/// One thing that somebody does, from outside of the program under test.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Act {
    OpenIssue {
        title: String,
        #[serde(default)]
        body: String,
        #[serde(default)]
        labels: Vec<String>,
        by: String,
    },
    EditIssue {
        number: u64,
        #[serde(default)]
        title: Option<String>,
        #[serde(default)]
        body: Option<String>,
        by: String,
    },
    CloseIssue {
        number: u64,
        by: String,
    },
    Reopen {
        number: u64,
        by: String,
    },
    AddLabel {
        number: u64,
        label: String,
        by: String,
    },
    RemoveLabel {
        number: u64,
        label: String,
        by: String,
    },
    Comment {
        number: u64,
        body: String,
        by: String,
    },
    EditComment {
        id: u64,
        body: String,
        by: String,
    },
    ReviewPull {
        number: u64,
        verdict: Verdict,
        #[serde(default)]
        body: String,
        by: String,
    },
    MergePull {
        number: u64,
        by: String,
    },
    ClosePull {
        number: u64,
        by: String,
    },
    SetDraft {
        number: u64,
        draft: bool,
        by: String,
    },
    Checks {
        number: u64,
        name: String,
        #[serde(default)]
        conclusion: Option<String>,
        by: String,
    },
    /// Files to write (a text) or delete (null) in one commit on a branch.
    Commit {
        branch: String,
        files: std::collections::BTreeMap<String, Option<String>>,
        message: String,
        by: String,
    },
    Role {
        login: String,
        role: Role,
    },
    Variable {
        name: String,
        value: String,
    },
    Rename {
        name: String,
        by: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// `owner/name`; the only repository when absent.
    #[serde(default)]
    repository: Option<String>,
    acts: Vec<Act>,
}

fn scenario(world: &mut World, body: Value) -> Result<Value, String> {
    let scenario: Scenario =
        serde_json::from_value(body).map_err(|error| format!("scenario: {error}"))?;
    let repo = match &scenario.repository {
        Some(name) => {
            let (owner, short) = name
                .split_once('/')
                .ok_or("repository: owner/name is needed")?;
            world
                .github()
                .repository_by_name(owner, short)
                .ok_or(format!("repository: {name} does not exist"))?
        }
        None => world
            .github()
            .repositories()
            .next()
            .map(|repository| repository.id)
            .ok_or("there is no repository")?,
    };
    let done: Result<Vec<Value>, String> = scenario
        .acts
        .into_iter()
        .map(|act| play(world, repo, act))
        .collect();
    Ok(json!({"done": done?}))
}

fn play(world: &mut World, repo: RepoId, act: Act) -> Result<Value, String> {
    let now = world.now();
    let github = world.github_mut();
    Ok(match act {
        Act::OpenIssue {
            title,
            body,
            labels,
            by,
        } => {
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            json!({"number": github.open_issue(repo, &title, &body, &labels, &by, now)})
        }
        Act::EditIssue {
            number,
            title,
            body,
            by,
        } => {
            if let Some(title) = title {
                github.rename(repo, number, &title, &by, now);
            }
            if let Some(body) = body {
                github.edit_body(repo, number, &body, &by, now);
            }
            json!({})
        }
        Act::CloseIssue { number, by } | Act::ClosePull { number, by } => {
            github.close_pull(repo, number, &by, now);
            json!({})
        }
        Act::Reopen { number, by } => {
            github.reopen(repo, number, &by, now);
            json!({})
        }
        Act::AddLabel { number, label, by } => {
            github.add_label(repo, number, &label, &by, now);
            json!({})
        }
        Act::RemoveLabel { number, label, by } => {
            github.remove_label(repo, number, &label, &by, now);
            json!({})
        }
        Act::Comment { number, body, by } => {
            json!({"id": github.comment(repo, number, &body, &by, now)})
        }
        Act::EditComment { id, body, by } => {
            github.edit_comment(repo, id, &body, &by, now);
            json!({})
        }
        Act::ReviewPull {
            number,
            verdict,
            body,
            by,
        } => {
            github.review_pull(repo, number, verdict, &body, &by, now);
            json!({})
        }
        Act::MergePull { number, by } => {
            let commit = github
                .merge_pull(repo, number, &by, now)
                .map_err(|error| format!("merge-pull {number}: {error}"))?;
            json!({"commit": commit})
        }
        Act::SetDraft { number, draft, by } => {
            github.set_draft(repo, number, draft, &by, now);
            json!({})
        }
        Act::Checks {
            number,
            name,
            conclusion,
            by,
        } => {
            let pull = github
                .pull(repo, number)
                .ok_or(format!("checks: no pull request {number}"))?;
            let head = pull.head.oid;
            github.set_checks(repo, head, &name, conclusion.as_deref(), &by, now);
            json!({})
        }
        Act::Commit {
            branch,
            files,
            message,
            by,
        } => {
            let files: Vec<(String, Option<Bytes>)> = files
                .into_iter()
                .map(|(path, text)| (path, text.map(Bytes::from)))
                .collect();
            let head = github.branch_head(repo, &branch);
            let commit = github.commit_files(repo, head, &files, &by, &message, now);
            github.move_branch(repo, &branch, commit, &by, now);
            json!({"commit": commit})
        }
        Act::Role { login, role } => {
            github.set_role(repo, &login, role);
            json!({})
        }
        Act::Variable { name, value } => {
            github.set_variable(repo, &name, &value, now);
            json!({})
        }
        Act::Rename { name, by } => {
            github.rename_repository(repo, &name, &by, now);
            json!({})
        }
    })
}
