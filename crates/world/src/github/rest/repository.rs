//! Routes for a repository's settings: branches, people, labels, variables, hooks.

use serde_json::{Value, json};

use super::apps::delivery_json;
use super::{Call, Refusal, Reply};
use crate::github::Role;
use crate::github::hook::{Hook, Source, Target};
use crate::github::object::Oid;
use crate::github::render::format_timestamp;
use crate::github::repository::{Label, Push};

pub(super) fn get_repository(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let mut body = call.model.repository_json(call.visible_repository());
    body["network_count"] = 0.into();
    body["subscribers_count"] = 0.into();
    let role = match call.identity.as_ref().map(|identity| &identity.kind) {
        Some(kind) if kind.is_person() => call.model.role(call.repo_id(), call.actor_account()),
        Some(_) => Role::Write,
        None => Role::Read,
    };
    body["permissions"] = json!({
        "admin": role >= Role::Admin, "maintain": role >= Role::Maintain, "push": role >= Role::Write,
        "triage": role >= Role::Triage, "pull": role >= Role::Read,
    });
    Ok(Reply::Json(200, body))
}

pub(super) fn update_repository(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (repo, now) = (call.repo_id(), call.now);
    let login = call.model.login(call.actor_account()).to_owned();
    let body = call.body.clone();
    if let Some(branch) = body["default_branch"].as_str()
        && call.current_repository().branch(branch).is_none()
    {
        return Err(Refusal::validation_failed(
            "Repository",
            "default_branch",
            "invalid",
            None,
        ));
    }
    if let Some(repository) = call.model.repository_mut(repo) {
        if let Some(branch) = body["default_branch"].as_str() {
            repository.default_branch = branch.to_owned();
        }
        if let Some(text) = body["description"].as_str() {
            repository.description = Some(text.to_owned());
        }
        if let Some(private) = body["private"].as_bool() {
            repository.private = private;
        }
        if let Some(archived) = body["archived"].as_bool() {
            repository.archived = archived;
        }
        repository.updated_at = now;
    }
    if let Some(name) = body["name"].as_str() {
        call.model.rename_repository(repo, name, &login, now);
    }
    get_repository(call)
}

/// Pushes, newest first: <https://docs.github.com/en/rest/repos/repos#list-repository-activities>.
pub(super) fn list_activity(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let wanted = call
        .query_param("ref")
        .map(|name| match name.strip_prefix("refs/") {
            Some(_) => name.to_owned(),
            None => format!("refs/heads/{name}"),
        });
    let is_wanted = |push: &&Push| wanted.as_ref().is_none_or(|name| push.name == *name);
    let pushes = call.visible_repository().pushes.iter().rev();
    let pushes: Vec<Push> = pushes.filter(is_wanted).cloned().collect();
    let page = call.page_of(pushes);
    let list: Vec<Value> = page
        .iter()
        .enumerate()
        .map(|(index, push)| {
            let kind = match (push.before == Oid::ZERO, push.forced) {
                (true, _) => "branch_creation",
                (false, true) => "force_push",
                (false, false) => "push",
            };
            json!({
                "id": index + 1, "node_id": format!("PSH_{index}"), "before": push.before, "after": push.after,
                "ref": push.name, "timestamp": format_timestamp(push.at), "activity_type": kind,
                "actor": call.model.simple_user(push.actor),
            })
        })
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn list_branches(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let all: Vec<_> = call
        .visible_repository()
        .branches()
        .map(|(name, oid)| (name.to_owned(), oid))
        .collect();
    let page = call.page_of(all);
    let list: Vec<Value> = page
        .iter()
        .map(|(name, oid)| {
            let url = call
                .model
                .repo_url(call.repo_id(), &format!("/commits/{oid}"));
            json!({"name": name, "commit": {"sha": oid, "url": url}, "protected": false})
        })
        .collect();
    Ok(Reply::Json(200, list.into()))
}

/// The rules of a branch, which need not exist.
pub(super) fn branch_rules(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let rules = call
        .visible_repository()
        .rules_for(call.path_param("branch"));
    let rules: Vec<Value> = rules.into_iter().cloned().collect();
    let full = call.model.full_name(call.repo_id());
    let page = call.page_of(rules);
    let list: Vec<Value> = page
        .into_iter()
        .map(|mut rule| {
            rule["ruleset_source_type"] = "Repository".into();
            rule["ruleset_source"] = full.as_str().into();
            rule["ruleset_id"] = 1.into();
            if rule["type"] == "pull_request" && rule["parameters"].is_null() {
                rule["parameters"] = json!({
                    "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
                    "require_last_push_approval": false, "required_approving_review_count": 1,
                    "required_review_thread_resolution": false,
                });
            }
            rule
        })
        .collect();
    Ok(Reply::Json(200, list.into()))
}

/// The older protection of a branch, which only administrators see.
pub(super) fn branch_protection(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = call.path_param("branch").to_owned();
    let url = call
        .model
        .repo_url(call.repo_id(), &format!("/branches/{name}/protection"));
    let repository = call.current_repository();
    if repository.branch(&name).is_none() {
        return Err(Refusal::new(404, "Branch not found"));
    }
    let set = repository
        .protections
        .get(&name)
        .ok_or_else(|| Refusal::new(404, "Branch not protected"))?;
    let mut body = json!({
        "url": url, "enforce_admins": {"url": format!("{url}/enforce_admins"), "enabled": false},
        "required_linear_history": {"enabled": false}, "allow_force_pushes": {"enabled": false},
        "allow_deletions": {"enabled": false}, "lock_branch": {"enabled": false},
    });
    for (key, value) in set.as_object().into_iter().flatten() {
        body[key.as_str()] = value.clone();
    }
    Ok(Reply::Json(200, body))
}

/// <https://docs.github.com/en/rest/branches/branches#rename-a-branch>
pub(super) fn rename_branch(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (from, to) = (
        call.path_param("branch").to_owned(),
        call.required_text("new_name")?,
    );
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.model.rename_branch(repo, (&from, &to), actor, now)?;
    let oid = call
        .current_repository()
        .branch(&to)
        .ok_or_else(Refusal::not_found)?;
    let url = call.model.repo_url(repo, &format!("/commits/{oid}"));
    Ok(Reply::Json(
        201,
        json!({"name": to, "commit": {"sha": oid, "url": url}, "protected": false}),
    ))
}

pub(super) fn get_branch(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = call.path_param("branch").to_owned();
    let oid = call
        .visible_repository()
        .branch(&name)
        .ok_or_else(|| Refusal::new(404, "Branch not found"))?;
    let repo = call.repo_id();
    let url = call.model.repo_url(repo, &format!("/branches/{name}"));
    let protected = call.visible_repository().protections.contains_key(&name);
    Ok(Reply::Json(
        200,
        json!({
            "name": name, "commit": call.model.commit_json(repo, oid, false),
            "_links": {"self": url, "html": call.model.web_url(repo, &format!("/tree/{name}"))}, "protected": protected,
            "protection": {"enabled": protected, "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []}},
            "protection_url": format!("{url}/protection"),
        }),
    ))
}

fn permissions_of(role: Role) -> Value {
    json!({
        "pull": role >= Role::Read, "triage": role >= Role::Triage, "push": role >= Role::Write,
        "maintain": role >= Role::Maintain, "admin": role >= Role::Admin,
    })
}

fn collaborator_json(call: &Call<'_>, account: u64, role: Role) -> Value {
    let mut user = call.model.simple_user(account);
    user["permissions"] = permissions_of(role);
    user["role_name"] = role.role_name().into();
    user
}

pub(super) fn list_collaborators(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let repository = call.visible_repository();
    let mut all = vec![(repository.owner, Role::Admin)];
    all.extend(
        repository
            .collaborators
            .iter()
            .map(|(account, role)| (*account, *role)),
    );
    let page = call.page_of(all);
    Ok(Reply::Json(
        200,
        page.into_iter()
            .map(|(account, role)| collaborator_json(call, account, role))
            .collect(),
    ))
}

/// The current role, never a lagging one, because clients authorize people by it.
pub(super) fn get_permission(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let login = call.path_param("username");
    let account = call
        .model
        .find_account(login)
        .ok_or_else(|| Refusal::new(404, &format!("{login} is not a user")))?;
    let role = call.model.role(call.repo_id(), account);
    Ok(Reply::Json(
        200,
        json!({
            "permission": role.legacy_name(), "role_name": role.role_name(), "user": collaborator_json(call, account, role),
        }),
    ))
}

pub(super) fn is_collaborator(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let account = call
        .model
        .find_account(call.path_param("username"))
        .ok_or_else(Refusal::not_found)?;
    let repository = call.current_repository();
    if repository.owner == account || repository.collaborators.contains_key(&account) {
        Ok(Reply::Empty(204))
    } else {
        Err(Refusal::not_found())
    }
}

// ---- labels ------------------------------------------------------------------------------------------------------

pub(super) fn list_labels(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let names: Vec<String> = call.visible_repository().labels.keys().cloned().collect();
    let page = call.page_of(names);
    let repository = call.visible_repository();
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|name| call.model.label_json(repository, name))
            .collect(),
    ))
}

fn label_reply(call: &Call<'_>, status: u16, name: &str) -> Result<Reply, Refusal> {
    match call.model.label_json(call.current_repository(), name) {
        Value::Null => Err(Refusal::not_found()),
        label => Ok(Reply::Json(status, label)),
    }
}

pub(super) fn get_label(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    match call
        .model
        .label_json(call.visible_repository(), call.path_param("name"))
    {
        Value::Null => Err(Refusal::not_found()),
        label => Ok(Reply::Json(200, label)),
    }
}

fn color_of(call: &Call<'_>) -> Result<Option<String>, Refusal> {
    let Some(color) = call.body_text("color") else {
        return Ok(None);
    };
    if color.len() == 6 && color.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(Some(color.to_lowercase()))
    } else {
        Err(Refusal::validation_failed(
            "Label", "color", "invalid", None,
        ))
    }
}

pub(super) fn create_label(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = call.required_text("name")?;
    let color = color_of(call)?.unwrap_or_else(|| "ededed".to_owned());
    if name.is_empty() || name.chars().count() > 50 {
        return Err(Refusal::validation_failed("Label", "name", "invalid", None));
    }
    let description = call.body_text("description").map(str::to_owned);
    if description
        .as_ref()
        .is_some_and(|text| text.chars().count() > 100)
    {
        return Err(Refusal::validation_failed(
            "Label",
            "description",
            "invalid",
            Some("description is too long (maximum is 100 characters)"),
        ));
    }
    if call
        .current_repository()
        .labels
        .contains_key(&name.to_lowercase())
    {
        return Err(Refusal::validation_failed(
            "Label",
            "name",
            "already_exists",
            None,
        ));
    }
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.model
        .create_label(repo, &name, &color, description.as_deref(), now);
    call.model
        .note_write(repo, actor, "label.created", json!({"name": name}), now);
    call.model.emit_event(
        repo,
        "label",
        Some("created"),
        actor,
        now,
        |model| json!({"label": model.current_label_json(repo, &name)}),
    );
    label_reply(call, 201, &name)
}

pub(super) fn update_label(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let old = call.path_param("name").to_lowercase();
    let color = color_of(call)?;
    let new = call.body_text("new_name").map(str::to_owned);
    let description = call.body_text("description").map(str::to_owned);
    let repo = call.repo_id();
    let taken = new.as_ref().is_some_and(|new| {
        new.to_lowercase() != old
            && call
                .current_repository()
                .labels
                .contains_key(&new.to_lowercase())
    });
    if taken {
        return Err(Refusal::validation_failed(
            "Label",
            "name",
            "already_exists",
            None,
        ));
    }
    let repository = call
        .model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?;
    let mut label: Label = repository
        .labels
        .remove(&old)
        .ok_or_else(Refusal::not_found)?;
    label.color = color.unwrap_or(label.color);
    label.description = description.or(label.description);
    label.name = new.unwrap_or(label.name);
    let key = label.name.to_lowercase();
    let name = label.name.clone();
    repository.labels.insert(key.clone(), label);
    if key != old {
        let numbers: Vec<u64> = repository
            .issues
            .keys()
            .chain(repository.pulls.keys())
            .copied()
            .collect();
        for number in numbers {
            if repository
                .thread(number)
                .is_some_and(|thread| thread.labels.contains(&old))
                && let Some(thread) = repository.thread_mut(number)
            {
                thread
                    .labels
                    .iter_mut()
                    .filter(|label| **label == old)
                    .for_each(|label| label.clone_from(&key));
            }
        }
    }
    label_reply(call, 200, &name)
}

pub(super) fn delete_label(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let key = call.path_param("name").to_lowercase();
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    if !call.current_repository().labels.contains_key(&key) {
        return Err(Refusal::not_found());
    }
    call.model.emit_event(
        repo,
        "label",
        Some("deleted"),
        actor,
        now,
        |model| json!({"label": model.current_label_json(repo, &key)}),
    );
    let repository = call
        .model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?;
    repository.labels.remove(&key);
    let numbers: Vec<u64> = repository
        .issues
        .keys()
        .chain(repository.pulls.keys())
        .copied()
        .collect();
    for number in numbers {
        if repository
            .thread(number)
            .is_some_and(|thread| thread.labels.contains(&key))
            && let Some(thread) = repository.thread_mut(number)
        {
            thread.labels.retain(|label| *label != key);
        }
    }
    call.model
        .note_write(repo, actor, "label.deleted", json!({"name": key}), now);
    Ok(Reply::Empty(204))
}

// ---- variables of Actions ----------------------------------------------------------------------------------------

fn variable_json(call: &Call<'_>, name: &str) -> Result<Value, Refusal> {
    let variable = call
        .current_repository()
        .variables
        .get(name)
        .ok_or_else(Refusal::not_found)?;
    Ok(json!({
        "name": name, "value": variable.value, "created_at": format_timestamp(variable.created_at),
        "updated_at": format_timestamp(variable.updated_at),
    }))
}

pub(super) fn list_variables(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let names: Vec<String> = call
        .current_repository()
        .variables
        .keys()
        .cloned()
        .collect();
    let total = names.len();
    let page = call.page_of(names);
    let list = page
        .iter()
        .map(|name| variable_json(call, name))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Reply::Json(
        200,
        json!({"total_count": total, "variables": list}),
    ))
}

pub(super) fn get_variable(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = call.path_param("name").to_uppercase();
    Ok(Reply::Json(200, variable_json(call, &name)?))
}

pub(super) fn create_variable(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (name, value) = (
        call.required_text("name")?.to_uppercase(),
        call.required_text("value")?,
    );
    let valid = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.starts_with("GITHUB_");
    if !valid {
        return Err(Refusal::new(
            422,
            "Variable names can only contain alphanumeric characters ([a-z], [A-Z], [0-9]) or underscores (_).",
        ));
    }
    if call.current_repository().variables.contains_key(&name) {
        return Err(Refusal::new(
            409,
            "Already exists - Variable already exists",
        ));
    }
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.model.set_variable(repo, &name, &value, now);
    call.model.note_write(
        repo,
        actor,
        "variable.created",
        json!({"name": name, "value": value}),
        now,
    );
    Ok(Reply::Json(201, json!({})))
}

pub(super) fn update_variable(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = call.path_param("name").to_uppercase();
    variable_json(call, &name)?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    if let Some(value) = call.body_text("value").map(str::to_owned) {
        call.model.set_variable(repo, &name, &value, now);
        call.model.note_write(
            repo,
            actor,
            "variable.updated",
            json!({"name": name, "value": value}),
            now,
        );
    }
    Ok(Reply::Empty(204))
}

pub(super) fn delete_variable(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = call.path_param("name").to_uppercase();
    let repo = call.repo_id();
    let repository = call
        .model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?;
    repository
        .variables
        .remove(&name)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Empty(204))
}

// ---- hooks -------------------------------------------------------------------------------------------------------

fn hook_json(call: &Call<'_>, id: u64) -> Result<Value, Refusal> {
    let repo = call.repo_id();
    let hook = call
        .current_repository()
        .hooks
        .get(&id)
        .ok_or_else(Refusal::not_found)?;
    let url = call.model.repo_url(repo, &format!("/hooks/{id}"));
    let mut config = json!({"url": hook.target.url, "content_type": hook.target.content_type, "insecure_ssl": "0"});
    if hook.target.secret.is_some() {
        config["secret"] = "********".into();
    }
    Ok(json!({
        "type": "Repository", "id": id, "name": "web", "active": hook.active, "events": hook.events, "config": config,
        "updated_at": format_timestamp(hook.updated_at), "created_at": format_timestamp(hook.created_at), "url": url,
        "test_url": format!("{url}/test"), "ping_url": format!("{url}/pings"),
        "deliveries_url": format!("{url}/deliveries"),
        "last_response": {"code": null, "status": "unused", "message": null},
    }))
}

pub(super) fn list_hooks(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let ids: Vec<u64> = call.current_repository().hooks.keys().copied().collect();
    let page = call.page_of(ids);
    Ok(Reply::Json(
        200,
        page.into_iter()
            .map(|id| hook_json(call, id))
            .collect::<Result<Vec<_>, _>>()?
            .into(),
    ))
}

pub(super) fn get_hook(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("hook_id")?;
    Ok(Reply::Json(200, hook_json(call, id)?))
}

fn string_list(value: &Value) -> Option<Vec<String>> {
    Some(
        value
            .as_array()?
            .iter()
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect(),
    )
}

pub(super) fn create_hook(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let config = call.body["config"].clone();
    let Some(url) = config["url"].as_str() else {
        return Err(Refusal::validation_failed(
            "Hook",
            "url",
            "missing_field",
            None,
        ));
    };
    let events = string_list(&call.body["events"]).unwrap_or_else(|| vec!["push".to_owned()]);
    if call
        .current_repository()
        .hooks
        .values()
        .any(|hook| hook.target.url == url && hook.events == events)
    {
        return Err(Refusal::validation_failed(
            "Hook",
            "url",
            "custom",
            Some("Hook already exists on this repository"),
        ));
    }
    let id = call.model.next_id() % 1_000_000_007;
    let hook = Hook {
        id,
        target: Target {
            url: url.to_owned(),
            secret: config["secret"].as_str().map(str::to_owned),
            content_type: config["content_type"].as_str().unwrap_or("form").to_owned(),
        },
        events,
        active: call.body["active"].as_bool().unwrap_or(true),
        created_at: call.now,
        updated_at: call.now,
    };
    let repo = call.repo_id();
    call.model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?
        .hooks
        .insert(id, hook);
    send_ping(call, id)?;
    Ok(Reply::Json(201, hook_json(call, id)?))
}

fn send_ping(call: &mut Call<'_>, id: u64) -> Result<(), Refusal> {
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let hook = hook_json(call, id)?;
    let target = call
        .current_repository()
        .hooks
        .get(&id)
        .ok_or_else(Refusal::not_found)?
        .target
        .clone();
    let payload = json!({
        "zen": "Keep it logically awesome.", "hook_id": id, "hook": hook,
        "repository": call.model.webhook_repository(repo), "sender": call.model.simple_user(actor),
    });
    call.model.queue_delivery(
        Source::Repository(repo, id),
        target,
        "ping",
        None,
        &payload,
        Some(repo),
        None,
        now,
    );
    Ok(())
}

pub(super) fn ping_hook(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("hook_id")?;
    send_ping(call, id)?;
    Ok(Reply::Empty(204))
}

pub(super) fn update_hook(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("hook_id")?;
    let (repo, now) = (call.repo_id(), call.now);
    let body = call.body.clone();
    let repository = call
        .model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?;
    let hook = repository
        .hooks
        .get_mut(&id)
        .ok_or_else(Refusal::not_found)?;
    if let Some(events) = string_list(&body["events"]) {
        hook.events = events;
    }
    if let Some(active) = body["active"].as_bool() {
        hook.active = active;
    }
    if let Some(url) = body["config"]["url"].as_str() {
        hook.target.url = url.to_owned();
    }
    if let Some(secret) = body["config"]["secret"].as_str() {
        hook.target.secret = Some(secret.to_owned());
    }
    hook.updated_at = now;
    Ok(Reply::Json(200, hook_json(call, id)?))
}

pub(super) fn delete_hook(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (id, repo) = (call.number_param("hook_id")?, call.repo_id());
    let repository = call
        .model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?;
    repository
        .hooks
        .remove(&id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Empty(204))
}

pub(super) fn hook_deliveries(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("hook_id")?;
    hook_json(call, id)?;
    super::apps::list_deliveries(call, Source::Repository(call.repo_id(), id))
}

fn own_delivery(call: &Call<'_>) -> Result<u64, Refusal> {
    let (hook, id) = (
        call.number_param("hook_id")?,
        call.number_param("delivery_id")?,
    );
    let delivery = call
        .model
        .deliveries
        .get(&id)
        .ok_or_else(Refusal::not_found)?;
    if delivery.source == Source::Repository(call.repo_id(), hook) {
        Ok(id)
    } else {
        Err(Refusal::not_found())
    }
}

pub(super) fn hook_delivery(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = own_delivery(call)?;
    let delivery = call
        .model
        .deliveries
        .get(&id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, delivery_json(delivery)))
}

pub(super) fn redeliver_hook_delivery(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = own_delivery(call)?;
    let now = call.now;
    call.model
        .repeat_delivery(id, now)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(202, json!({})))
}
