//! Routes for issues, comments, labels, reactions and timelines, which pull requests share.

use serde_json::{Value, json};

use super::{Call, Refusal, Reply};
use crate::github::acts::{ActError, Subject};
use crate::github::repository::TimelineKind;
use crate::github::{Identity, Model, RepoId, Role, State};

/// Reactions that GitHub knows.
const REACTIONS: [&str; 8] = [
    "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes",
];
/// The longest text of an issue or comment (GitHub answers 422 beyond it).
pub(crate) const MAX_BODY: usize = 65_536;

/// Label names of a body: plain texts or objects with a name.
fn label_names(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?;
    Some(
        list.iter()
            .filter_map(|label| {
                label
                    .as_str()
                    .or_else(|| label["name"].as_str())
                    .map(str::to_owned)
            })
            .collect(),
    )
}

impl Call<'_> {
    /// Whether the caller may add labels. GitHub silently drops the labels of a caller who may not.
    pub(super) fn may_triage(&self) -> bool {
        match self.identity.as_ref().map(|identity| &identity.kind) {
            Some(kind) if kind.is_person() => {
                self.model.role(self.repo_id(), self.actor_account()) >= Role::Triage
            }
            Some(_) => true,
            None => false,
        }
    }

    fn body_fits(&self, text: &str) -> Result<(), Refusal> {
        if text.chars().count() > MAX_BODY {
            return Err(Refusal::validation_failed(
                "IssueComment",
                "body",
                "custom",
                Some("body is too long (maximum is 65536 characters)"),
            ));
        }
        Ok(())
    }

    fn issue_reply(&self, status: u16, number: u64) -> Result<Reply, Refusal> {
        let repository = self.current_repository();
        let thread = repository.thread(number).ok_or_else(Refusal::not_found)?;
        Ok(Reply::Json(
            status,
            self.model.issue_json(repository, thread),
        ))
    }
}

pub(super) fn list_issues(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let state = call.query_param("state").unwrap_or("open").to_owned();
    let labels: Vec<String> = call
        .query_param("labels")
        .map(|text| {
            text.split(',')
                .map(|name| name.trim().to_lowercase())
                .filter(|name| !name.is_empty())
                .collect()
        })
        .unwrap_or_default();
    let since = call.query_param("since").and_then(|text| text.parse().ok());
    let creator = call
        .query_param("creator")
        .and_then(|login| call.model.find_account(login));
    let by_creator = call.query_param("creator").is_some();
    let ascending = call.query_param("direction") == Some("asc");
    let by_update = call.query_param("sort") == Some("updated");
    let repository = call.visible_repository();
    let threads = repository
        .issues
        .values()
        .map(|issue| &issue.thread)
        .chain(repository.pulls.values().map(|pull| &pull.thread));
    let mut found: Vec<_> = threads
        .filter(|thread| match state.as_str() {
            "all" => true,
            "closed" => thread.state == State::Closed,
            _ => thread.state == State::Open,
        })
        .filter(|thread| labels.iter().all(|label| thread.labels.contains(label)))
        .filter(|thread| since.is_none_or(|since| thread.updated_at >= since))
        .filter(|thread| !by_creator || Some(thread.author) == creator)
        .map(|thread| {
            (
                if by_update {
                    thread.updated_at
                } else {
                    thread.created_at
                },
                thread.number,
            )
        })
        .collect();
    found.sort_unstable();
    if !ascending {
        found.reverse();
    }
    let found = call.page_of(found);
    let repository = call.visible_repository();
    let list: Vec<Value> = found
        .iter()
        .filter_map(|(_, number)| {
            repository
                .thread(*number)
                .map(|thread| call.model.issue_json(repository, thread))
        })
        .collect();
    Ok(Reply::Json(200, list.into()))
}

/// The refusal for a locked conversation.
const LOCKED: &str = "Unable to create comment because issue is locked.";

impl Model {
    /// Refuses a caller who may not take part in a locked conversation. Only people with write
    /// access may; Apps and jobs may not.
    pub(crate) fn not_locked(
        &self,
        repo: RepoId,
        number: u64,
        identity: Option<&Identity>,
    ) -> Result<(), ActError> {
        let thread = self
            .repository(repo)
            .and_then(|repository| repository.thread(number));
        let may = identity.is_some_and(|identity| {
            identity.kind.is_person() && self.role(repo, identity.account) >= Role::Write
        });
        match thread {
            Some(thread) if thread.locked && !may => Err(ActError::Forbidden(LOCKED.to_owned())),
            _ => Ok(()),
        }
    }
}

pub(super) fn create_issue(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    if !call.current_repository().has_issues {
        let text = "Issues has been disabled in this repository.";
        return Err(Refusal::new(410, text));
    }
    let title = match &call.body["title"] {
        Value::String(text) if !text.trim().is_empty() => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => {
            return Err(Refusal::validation_failed(
                "Issue",
                "title",
                "missing_field",
                None,
            ));
        }
    };
    let body = call.body_text("body").map(str::to_owned);
    call.body_fits(body.as_deref().unwrap_or_default())?;
    let labels = if call.may_triage() {
        label_names(&call.body["labels"]).unwrap_or_default()
    } else {
        Vec::new()
    };
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let number = call
        .model
        .open_issue_by(repo, &title, body.as_deref(), &labels, actor, now)?;
    call.issue_reply(201, number)
}

pub(super) fn get_issue(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let repository = call.visible_repository();
    let thread = repository.thread(number).ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, call.model.issue_json(repository, thread)))
}

pub(super) fn update_issue(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let author = call
        .current_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?
        .author;
    if author != actor && !call.may_triage() {
        return Err(Refusal::new(403, "Must have triage access to repository"));
    }
    let title = call.body_text("title").map(str::to_owned);
    let body = call.body_text("body").map(str::to_owned);
    call.body_fits(body.as_deref().unwrap_or_default())?;
    call.model.edit_thread(
        repo,
        number,
        title.as_deref(),
        body.as_deref(),
        None,
        actor,
        now,
    )?;
    if let Some(names) = label_names(&call.body["labels"])
        && call.may_triage()
    {
        replace_labels(call, number, &names)?;
    }
    let reason = call.body_text("state_reason").map(str::to_owned);
    match call.body_text("state") {
        Some("closed") => {
            call.model
                .set_state(repo, number, State::Closed, reason.as_deref(), actor, now)?
        }
        Some("open") => call
            .model
            .set_state(repo, number, State::Open, None, actor, now)?,
        Some(_) => {
            return Err(Refusal::validation_failed(
                "Issue", "state", "invalid", None,
            ));
        }
        None => {}
    }
    call.issue_reply(200, number)
}

fn replace_labels(call: &mut Call<'_>, number: u64, names: &[String]) -> Result<(), Refusal> {
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let old = call
        .current_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?
        .labels
        .clone();
    for label in old
        .iter()
        .filter(|label| !names.iter().any(|name| name.to_lowercase() == **label))
    {
        call.model.take_label(repo, number, label, actor, now)?;
    }
    for name in names {
        call.model.put_label(repo, number, name, actor, now)?;
    }
    Ok(())
}

pub(super) fn list_issue_labels(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let names = call
        .visible_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?
        .labels
        .clone();
    let names = call.page_of(names);
    let repository = call.visible_repository();
    let list: Vec<Value> = names
        .iter()
        .map(|name| call.model.label_json(repository, name))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

fn labels_reply(call: &Call<'_>, number: u64) -> Result<Reply, Refusal> {
    let repository = call.current_repository();
    let thread = repository.thread(number).ok_or_else(Refusal::not_found)?;
    let list: Vec<Value> = thread
        .labels
        .iter()
        .map(|name| call.model.label_json(repository, name))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn add_labels(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let names = label_names(&call.body["labels"])
        .or_else(|| label_names(&call.body))
        .unwrap_or_default();
    for name in names {
        call.model.put_label(repo, number, &name, actor, now)?;
    }
    labels_reply(call, number)
}

pub(super) fn set_labels(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let names = label_names(&call.body["labels"])
        .or_else(|| label_names(&call.body))
        .unwrap_or_default();
    replace_labels(call, number, &names)?;
    labels_reply(call, number)
}

pub(super) fn remove_labels(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    replace_labels(call, number, &[])?;
    Ok(Reply::Empty(204))
}

pub(super) fn remove_label(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let name = call.path_param("name").to_owned();
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.current_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?;
    call.model
        .take_label(repo, number, &name, actor, now)
        .map_err(|_| Refusal::new(404, "Label does not exist"))?;
    labels_reply(call, number)
}

pub(super) fn assign_people(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let logins: Vec<String> = call.body["assignees"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|login| login.as_str().map(str::to_owned))
        .collect();
    let accounts: Vec<u64> = logins
        .iter()
        .filter_map(|login| call.model.find_account(login))
        .collect();
    let (repo, now) = (call.repo_id(), call.now);
    let repository = call
        .model
        .repository_mut(repo)
        .ok_or_else(Refusal::not_found)?;
    let thread = repository
        .thread_mut(number)
        .ok_or_else(Refusal::not_found)?;
    for account in accounts {
        if !thread.assignees.contains(&account) {
            thread.assignees.push(account);
        }
    }
    thread.updated_at = now;
    call.issue_reply(201, number)
}

pub(super) fn list_issue_comments(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let ids = call
        .visible_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?
        .comments
        .clone();
    list_comments(call, ids)
}

pub(super) fn repository_comments(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let ids = call.visible_repository().comments.keys().copied().collect();
    list_comments(call, ids)
}

fn list_comments(call: &mut Call<'_>, ids: Vec<u64>) -> Result<Reply, Refusal> {
    let since = call.query_param("since").and_then(|text| text.parse().ok());
    let by_update = call.query_param("sort") == Some("updated") || call.knobs.comments_by_update;
    let descending =
        call.query_param("direction") == Some("desc") && call.query_param("sort").is_some();
    let repository = call.visible_repository();
    let mut found: Vec<_> = ids
        .into_iter()
        .filter_map(|id| repository.comments.get(&id))
        .filter(|comment| since.is_none_or(|since| comment.updated_at >= since))
        .map(|comment| {
            (
                if by_update {
                    comment.updated_at
                } else {
                    comment.created_at
                },
                comment.id,
            )
        })
        .collect();
    found.sort_unstable();
    let moved = by_update && !found.is_sorted_by_key(|(_, id)| *id);
    call.knobs
        .count_use("comments-by-update", call.knobs.comments_by_update && moved);
    if descending {
        found.reverse();
    }
    let found = call.page_of(found);
    let repository = call.visible_repository();
    let list: Vec<Value> = found
        .iter()
        .filter_map(|(_, id)| {
            repository
                .comments
                .get(id)
                .map(|comment| call.model.comment_json(repository, comment))
        })
        .collect();
    Ok(Reply::Json(200, list.into()))
}

fn comment_reply(call: &Call<'_>, status: u16, id: u64) -> Result<Reply, Refusal> {
    let repository = call.current_repository();
    let comment = repository
        .comments
        .get(&id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        status,
        call.model.comment_json(repository, comment),
    ))
}

pub(super) fn create_comment(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let body = call.required_text("body")?;
    if body.trim().is_empty() {
        return Err(Refusal::validation_failed(
            "IssueComment",
            "body",
            "custom",
            Some("Body cannot be blank"),
        ));
    }
    call.body_fits(&body)?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.model
        .not_locked(repo, number, call.identity.as_ref())?;
    let id = call.model.comment_by(repo, number, &body, actor, now)?;
    comment_reply(call, 201, id)
}

pub(super) fn get_comment(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("comment_id")?;
    let repository = call.visible_repository();
    let comment = repository
        .comments
        .get(&id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.comment_json(repository, comment),
    ))
}

/// Checks that the caller may change a comment: its author may, and people who may push.
fn own_comment(call: &Call<'_>, id: u64) -> Result<(), Refusal> {
    let author = call
        .current_repository()
        .comments
        .get(&id)
        .ok_or_else(Refusal::not_found)?
        .author;
    let (repo, actor) = (call.repo_id(), call.actor_account());
    let person = call
        .identity
        .as_ref()
        .is_some_and(|identity| identity.kind.is_person());
    if author == actor || !person || call.model.role(repo, actor) >= Role::Write {
        Ok(())
    } else {
        Err(Refusal::new(403, "Must have push access to repository"))
    }
}

pub(super) fn update_comment(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("comment_id")?;
    own_comment(call, id)?;
    let body = call.required_text("body")?;
    call.body_fits(&body)?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.model.edit_comment_by(repo, id, &body, actor, now)?;
    comment_reply(call, 200, id)
}

pub(super) fn delete_comment(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("comment_id")?;
    own_comment(call, id)?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.model.delete_comment_by(repo, id, actor, now)?;
    Ok(Reply::Empty(204))
}

fn react_to(call: &mut Call<'_>, subject: Subject) -> Result<Reply, Refusal> {
    let content = call.required_text("content")?;
    if !REACTIONS.contains(&content.as_str()) {
        return Err(Refusal::validation_failed(
            "Reaction", "content", "invalid", None,
        ));
    }
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let reaction = call
        .model
        .add_reaction(repo, subject, &content, actor, now)?;
    let status = if reaction.at == now { 201 } else { 200 };
    Ok(Reply::Json(
        status,
        call.model.reaction_json(repo, &reaction),
    ))
}

pub(super) fn react_to_issue(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    react_to(call, Subject::Thread(number))
}

pub(super) fn react_to_comment(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("comment_id")?;
    react_to(call, Subject::Comment(id))
}

pub(super) fn list_issue_reactions(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let all = call
        .visible_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?
        .reactions
        .clone();
    let page = call.page_of(all);
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|reaction| call.model.reaction_json(call.repo_id(), reaction))
            .collect(),
    ))
}

pub(super) fn comment_reactions(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = call.number_param("comment_id")?;
    let all = call
        .visible_repository()
        .comments
        .get(&id)
        .ok_or_else(Refusal::not_found)?
        .reactions
        .clone();
    let page = call.page_of(all);
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|reaction| call.model.reaction_json(call.repo_id(), reaction))
            .collect(),
    ))
}

pub(super) fn list_timeline(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let events = call
        .visible_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?
        .timeline
        .clone();
    let events = call.page_of(events);
    let repository = call.visible_repository();
    let thread = repository.thread(number).ok_or_else(Refusal::not_found)?;
    let list: Vec<Value> = events
        .iter()
        .filter_map(|event| call.model.timeline_json(repository, thread, event))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn list_events(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.number_param("issue_number")?;
    let mut events = call
        .visible_repository()
        .thread(number)
        .ok_or_else(Refusal::not_found)?
        .timeline
        .clone();
    events.retain(|event| {
        !matches!(
            event.what,
            TimelineKind::Commented(_) | TimelineKind::Committed(_) | TimelineKind::Reviewed(_)
        )
    });
    let events = call.page_of(events);
    let repository = call.visible_repository();
    let thread = repository.thread(number).ok_or_else(Refusal::not_found)?;
    let list: Vec<Value> = events
        .iter()
        .filter_map(|event| call.model.timeline_json(repository, thread, event))
        .collect();
    Ok(Reply::Json(200, json!(list)))
}
