//! Routes of the contents API, which changes one file a commit.

use serde_json::{Value, json};

use super::git::{from_base64, size_of, wrap_base64};
use super::{Call, Refusal, Reply};
use crate::github::object::{Mode, Oid, Signature};
use crate::github::render::path_segment;

/// Above this size the content is left out (GitHub's documentation: 1 MB).
const MAX_INLINE: usize = 1_000_000;

pub(super) fn get_contents(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    if call.current_repository().refs.is_empty() {
        return Err(Refusal::new(404, "This repository is empty."));
    }
    let name = call.query_param("ref").unwrap_or("HEAD").to_owned();
    let commit = call
        .commit_named(&name)
        .ok_or_else(|| Refusal::new(404, &format!("No commit found for the ref {name}")))?;
    let path = call.path_param("path").trim_matches('/').to_owned();
    let (mode, oid) = call
        .repository_objects()
        .at_path(commit, &path)
        .ok_or_else(Refusal::not_found)?;
    if mode == Mode::Directory {
        let entries = call
            .repository_objects()
            .tree(oid)
            .cloned()
            .ok_or_else(Refusal::not_found)?;
        let list: Vec<Value> = entries
            .iter()
            .map(|entry| {
                let below = if path.is_empty() {
                    entry.name.clone()
                } else {
                    format!("{path}/{}", entry.name)
                };
                file_json(call, &below, entry.mode, entry.oid, &name, false)
            })
            .collect();
        return Ok(Reply::Json(200, list.into()));
    }
    let accept = call
        .headers
        .get("accept")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if accept.contains("raw") {
        let content = call
            .repository_objects()
            .blob(oid)
            .cloned()
            .unwrap_or_default();
        return Ok(Reply::Raw(
            200,
            "application/vnd.github.raw; charset=utf-8",
            content,
        ));
    }
    Ok(Reply::Json(
        200,
        file_json(call, &path, mode, oid, &name, true),
    ))
}

pub(super) fn get_readme(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let head = call.commit_named("HEAD").ok_or_else(Refusal::not_found)?;
    let (mode, oid) = call
        .repository_objects()
        .at_path(head, "README.md")
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        file_json(call, "README.md", mode, oid, "HEAD", true),
    ))
}

fn file_json(
    call: &Call<'_>,
    path: &str,
    mode: Mode,
    oid: Oid,
    at: &str,
    with_content: bool,
) -> Value {
    let repo = call.repo_id();
    let model = &*call.model;
    let encoded = path
        .split('/')
        .map(path_segment)
        .collect::<Vec<_>>()
        .join("/");
    let at = if at == "HEAD" {
        &call.visible_repository().default_branch
    } else {
        at
    };
    let url = model.repo_url(
        repo,
        &format!("/contents/{encoded}?ref={}", path_segment(at)),
    );
    let (kind, git_kind) = match mode {
        Mode::Directory => ("dir", "tree"),
        Mode::Link => ("symlink", "blob"),
        Mode::Submodule => ("submodule", "tree"),
        _ => ("file", "blob"),
    };
    let git_url = model.repo_url(repo, &format!("/git/{git_kind}s/{oid}"));
    let html = model.web_url(repo, &format!("/{git_kind}/{at}/{encoded}"));
    let raw = format!(
        "https://raw.githubusercontent.com/{}/{at}/{encoded}",
        model.full_name(repo)
    );
    let object = call.repository_objects().get(oid);
    let mut out = json!({
        "name": path.rsplit('/').next().unwrap_or(path), "path": path, "sha": oid, "size": size_of(object), "url": url,
        "html_url": html, "git_url": git_url, "download_url": (kind == "file").then_some(raw), "type": kind,
        "_links": {"self": url, "git": git_url, "html": html},
    });
    if with_content {
        let content = call
            .repository_objects()
            .blob(oid)
            .map_or(&b""[..], |content| content);
        let inline = content.len() <= MAX_INLINE;
        out["content"] = if inline {
            wrap_base64(content)
        } else {
            String::new()
        }
        .into();
        out["encoding"] = if inline { "base64" } else { "none" }.into();
    }
    out
}

pub(super) fn put_file(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let path = call.path_param("path").trim_matches('/').to_owned();
    let message = call.required_text("message")?;
    let content = from_base64(&call.required_text("content")?)
        .ok_or_else(|| Refusal::new(422, "content is not valid Base64"))?;
    let old = check_sha(call, &path)?;
    let repo = call.repo_id();
    let blob = call.model.objects_mut(repo).put_blob(content);
    let mode = old.map_or(Mode::File, |(mode, _)| mode);
    let commit = write_file(call, &path, Some((mode, blob)), &message)?;
    let branch = branch_of(call);
    let body = json!({
        "content": file_json(call, &path, mode, blob, &branch, false), "commit": call.model.git_commit_json(repo, commit),
    });
    Ok(Reply::Json(if old.is_some() { 200 } else { 201 }, body))
}

pub(super) fn delete_file(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let path = call.path_param("path").trim_matches('/').to_owned();
    for name in ["message", "sha"] {
        // The parameters of a deletion may also be in the query.
        if call.body_text(name).is_none()
            && let Some(value) = call.query_param(name).map(str::to_owned)
        {
            call.body[name] = value.into();
        }
    }
    let message = call.required_text("message")?;
    if check_sha(call, &path)?.is_none() {
        return Err(Refusal::not_found());
    }
    let commit = write_file(call, &path, None, &message)?;
    Ok(Reply::Json(
        200,
        json!({"content": null, "commit": call.model.git_commit_json(call.repo_id(), commit)}),
    ))
}

fn branch_of(call: &Call<'_>) -> String {
    call.body_text("branch").map_or_else(
        || call.current_repository().default_branch.clone(),
        str::to_owned,
    )
}

/// The current file, if the given `sha` is that of the file.
fn check_sha(call: &Call<'_>, path: &str) -> Result<Option<(Mode, Oid)>, Refusal> {
    let branch = branch_of(call);
    let head = call.current_repository().branch(&branch);
    if head.is_none() && !call.current_repository().refs.is_empty() {
        return Err(Refusal::new(404, &format!("Branch {branch} not found")));
    }
    let old = head.and_then(|head| call.repository_objects().at_path(head, path));
    match (old, call.body_text("sha")) {
        (Some((_, oid)), Some(given)) if given == oid.to_string() => Ok(old),
        (Some((_, oid)), Some(given)) => Err(Refusal::new(
            409,
            &format!("{path} does not match {given}: is at {oid} but expected {given}"),
        )),
        (Some(_), None) => Err(Refusal::new(
            422,
            "Invalid request.\n\n\"sha\" wasn't supplied.",
        )),
        (None, Some(given)) => Err(Refusal::new(409, &format!("{path} does not match {given}"))),
        (None, None) => Ok(None),
    }
}

fn write_file(
    call: &mut Call<'_>,
    path: &str,
    change: Option<(Mode, Oid)>,
    message: &str,
) -> Result<Oid, Refusal> {
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let branch = branch_of(call);
    let head = call.current_repository().branch(&branch);
    let objects = call.model.objects_mut(repo);
    let base = head.and_then(|head| objects.tree_of(head));
    let tree = objects.changed_tree(base, &[(path.to_owned(), change)].into());
    let own = call.model.account_signature(actor, now);
    let person = |value: &Value| {
        Some(Signature::new(
            value["name"].as_str()?,
            value["email"].as_str()?,
            now,
        ))
    };
    let author = person(&call.body["author"]).unwrap_or_else(|| own.clone());
    let committer = person(&call.body["committer"]).unwrap_or(own);
    let commit = call.model.commit_tree(
        repo,
        tree,
        head.into_iter().collect(),
        &author,
        &committer,
        message,
    );
    if call.is_bot() {
        call.model.verified.insert(commit);
    }
    let name = format!("refs/heads/{branch}");
    call.model
        .enforce_rules(repo, &name, (head, Some(commit)), actor)?;
    match head {
        Some(_) => call
            .model
            .update_ref(repo, &name, commit, false, actor, now)?,
        None => call.model.create_ref(repo, &name, commit, actor, now)?,
    }
    Ok(commit)
}
