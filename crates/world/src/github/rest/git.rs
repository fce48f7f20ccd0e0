//! Routes for references, objects, commits and comparisons.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{Call, Refusal, Reply};
use crate::github::node_id;
use crate::github::object::{Entry, Mode, Object, Oid, Signature};
use crate::github::objects::PathChange;

/// Entries that one answer lists before it says that it is truncated (GitHub's documentation).
const MAX_TREE: usize = 100_000;
/// Files that a comparison lists at most (GitHub's documentation).
const MAX_COMPARED_FILES: usize = 300;

impl Call<'_> {
    /// 409 while the repository holds no commit, as GitHub answers.
    fn not_empty(&self) -> Result<(), Refusal> {
        if self.current_repository().refs.is_empty() {
            Err(Refusal::new(409, "Git Repository is empty."))
        } else {
            Ok(())
        }
    }

    fn oid_of_body(&self, name: &str) -> Result<Oid, Refusal> {
        let text = self.required_text(name)?;
        text.parse().map_err(|_| {
            Refusal::new(
                422,
                &format!(
                    "The {name} parameter must be exactly 40 characters and contain only [0-9a-f]."
                ),
            )
        })
    }
}

pub(super) fn get_ref(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let name = format!(
        "refs/{}",
        call.path_param("ref").trim_start_matches("refs/")
    );
    let oid = call
        .visible_repository()
        .refs
        .get(&name)
        .copied()
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.ref_json(call.repo_id(), &name, oid),
    ))
}

pub(super) fn matching_refs(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let prefix = format!("refs/{}", call.path_param("ref"));
    let found: Vec<(String, Oid)> = call
        .visible_repository()
        .refs
        .iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .map(|(name, oid)| (name.clone(), *oid))
        .collect();
    // GitHub's description knows no pages here.
    let list: Vec<Value> = found
        .iter()
        .map(|(name, oid)| call.model.ref_json(call.repo_id(), name, *oid))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn create_ref(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let name = call.required_text("ref")?;
    let oid = call.oid_of_body("sha")?;
    if !name.starts_with("refs/") || name.split('/').count() < 3 {
        return Err(Refusal::new(
            422,
            "Reference name must start with 'refs' and have at least two slashes.",
        ));
    }
    if !well_formed(&name) {
        return Err(Refusal::new(
            422,
            &format!("Reference name '{name}' is not valid"),
        ));
    }
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    call.model
        .enforce_rules(repo, &name, (None, Some(oid)), actor)?;
    call.model.create_ref(repo, &name, oid, actor, now)?;
    Ok(Reply::Json(201, call.model.ref_json(repo, &name, oid)))
}

/// Whether git accepts the name of a reference (`git help check-ref-format`).
pub(crate) fn well_formed(name: &str) -> bool {
    let bad = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    !name.contains(bad)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with(['/', '.'])
        && name
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"))
}

pub(super) fn update_ref(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let name = format!("refs/{}", call.path_param("ref"));
    let oid = call.oid_of_body("sha")?;
    let force = call.body["force"].as_bool().unwrap_or(false);
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let old = call.current_repository().refs.get(&name).copied();
    if old.is_some() {
        call.model
            .enforce_rules(repo, &name, (old, Some(oid)), actor)?;
    }
    call.model.update_ref(repo, &name, oid, force, actor, now)?;
    Ok(Reply::Json(200, call.model.ref_json(repo, &name, oid)))
}

pub(super) fn delete_ref(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = format!("refs/{}", call.path_param("ref"));
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    if name == format!("refs/heads/{}", call.current_repository().default_branch) {
        return Err(Refusal::new(422, "Cannot delete the default branch"));
    }
    let old = call.current_repository().refs.get(&name).copied();
    call.model.enforce_rules(repo, &name, (old, None), actor)?;
    call.model.delete_ref(repo, &name, actor, now)?;
    Ok(Reply::Empty(204))
}

pub(super) fn create_blob(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let content = call.required_text("content")?;
    let bytes = if call.body_text("encoding") == Some("base64") {
        from_base64(&content).ok_or_else(|| Refusal::new(422, "content is not valid Base64"))?
    } else {
        content.into_bytes()
    };
    let repo = call.repo_id();
    let oid = call.model.objects_mut(repo).put_blob(bytes);
    Ok(Reply::Json(
        201,
        json!({"sha": oid, "url": call.model.repo_url(repo, &format!("/git/blobs/{oid}"))}),
    ))
}

pub(super) fn get_blob(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let repo = call.repo_id();
    let oid: Oid = call
        .path_param("file_sha")
        .parse()
        .map_err(|_| Refusal::not_found())?;
    let content = call
        .repository_objects()
        .blob(oid)
        .ok_or_else(Refusal::not_found)?
        .clone();
    if call
        .headers
        .get("accept")
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("raw"))
    {
        return Ok(Reply::Raw(
            200,
            "application/vnd.github.raw; charset=utf-8",
            content,
        ));
    }
    Ok(Reply::Json(
        200,
        json!({
            "sha": oid, "node_id": node_id::encode_object("B", repo, oid), "size": content.len(),
            "url": call.model.repo_url(repo, &format!("/git/blobs/{oid}")), "content": wrap_base64(&content),
            "encoding": "base64",
        }),
    ))
}

/// The bytes of a Base64 text, which may be broken into lines.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    // Looking for white space costs more than decoding, and most texts have none.
    let decoded = BASE64.decode(text.as_bytes()).ok();
    decoded.or_else(|| {
        BASE64
            .decode(text.split_whitespace().collect::<String>().as_bytes())
            .ok()
    })
}

/// Base64 in lines of 60 characters, as GitHub writes it.
pub(super) fn wrap_base64(content: &[u8]) -> String {
    let text = BASE64.encode(content);
    let mut out = String::with_capacity(text.len() + text.len() / 60 + 1);
    for line in text.as_bytes().chunks(60) {
        out.push_str(std::str::from_utf8(line).expect("base64 is ASCII"));
        out.push('\n');
    }
    out
}

pub(super) fn create_tree(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let repo = call.repo_id();
    let base = match call.body_text("base_tree") {
        Some(text) => {
            let oid: Oid = text
                .parse()
                .map_err(|_| Refusal::new(422, "base_tree is not a valid tree"))?;
            Some(
                call.repository_objects()
                    .tree_of(oid)
                    .ok_or_else(|| Refusal::new(404, "Not Found"))?,
            )
        }
        None => None,
    };
    let Some(entries) = call.body["tree"].as_array().cloned() else {
        return Err(Refusal::new(
            422,
            "Invalid request.\n\n\"tree\" wasn't supplied.",
        ));
    };
    let mut changes: BTreeMap<String, PathChange> = BTreeMap::new();
    for entry in &entries {
        let path = entry["path"].as_str().unwrap_or_default();
        let bad = |text: &str| Refusal::new(422, text);
        if path.is_empty()
            || path.starts_with('/')
            || path
                .split('/')
                .any(|part| matches!(part, "" | "." | ".." | ".git"))
        {
            return Err(bad("tree.path contains a malformed path component"));
        }
        let mode = Mode::parse(entry["mode"].as_str().unwrap_or("100644"))
            .ok_or_else(|| bad("Must supply a valid tree.mode"))?;
        let change = match (&entry["sha"], &entry["content"]) {
            (Value::String(sha), _) => {
                let oid: Oid = sha.parse().map_err(|_| bad("tree.sha is not valid"))?;
                let known = mode == Mode::Submodule || call.repository_objects().get(oid).is_some();
                if !known {
                    return Err(bad(&format!(
                        "tree.sha {oid} is not a valid {}",
                        mode.object_kind()
                    )));
                }
                Some((mode, oid))
            }
            (Value::Null, Value::String(text)) => {
                Some((mode, call.model.objects_mut(repo).put_blob(text.clone())))
            }
            (Value::Null, _) if entry.get("sha").is_some() => None,
            _ => return Err(bad("Must supply either tree.sha or tree.content")),
        };
        if change.is_none()
            && base.is_none_or(|base| call.repository_objects().at_path(base, path).is_none())
        {
            return Err(bad("GitRPC::BadObjectState"));
        }
        changes.insert(path.to_owned(), change);
    }
    let tree = call.model.objects_mut(repo).changed_tree(base, &changes);
    Ok(Reply::Json(201, tree_json(call, tree, false)))
}

pub(super) fn get_tree(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let name = call.path_param("tree_sha").to_owned();
    let direct = name
        .parse::<Oid>()
        .ok()
        .and_then(|oid| call.repository_objects().tree_of(oid));
    let tree = direct
        .or_else(|| {
            call.commit_named(&name)
                .and_then(|oid| call.repository_objects().tree_of(oid))
        })
        .ok_or_else(Refusal::not_found)?;
    let recursive = call.query_param("recursive").is_some();
    Ok(Reply::Json(200, tree_json(call, tree, recursive)))
}

fn tree_json(call: &Call<'_>, tree: Oid, recursive: bool) -> Value {
    let repo = call.repo_id();
    let objects = call.repository_objects();
    let entries: Vec<(String, Mode, Oid)> = if recursive {
        objects.entries_below(tree)
    } else {
        let direct = |entry: &Entry| (entry.name.clone(), entry.mode, entry.oid);
        objects
            .tree(tree)
            .map(|entries| entries.iter().map(direct).collect())
            .unwrap_or_default()
    };
    let list: Vec<Value> = entries
        .iter()
        .take(MAX_TREE)
        .map(|(path, mode, oid)| {
            let mut out =
                json!({"path": path, "mode": mode.six_digits(), "type": mode.object_kind(), "sha": oid});
            if let Some(content) = objects.blob(*oid) {
                out["size"] = content.len().into();
            }
            if *mode != Mode::Submodule {
                out["url"] = call
                    .model
                    .repo_url(repo, &format!("/git/{}s/{oid}", mode.object_kind()))
                    .into();
            }
            out
        })
        .collect();
    json!({
        "sha": tree, "url": call.model.repo_url(repo, &format!("/git/trees/{tree}")), "tree": list,
        "truncated": entries.len() > MAX_TREE,
    })
}

pub(super) fn create_commit(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let message = call.required_text("message")?;
    let tree = call.oid_of_body("tree")?;
    if call.repository_objects().tree(tree).is_none() {
        return Err(Refusal::new(422, "Tree SHA does not exist"));
    }
    let mut parents = Vec::new();
    for parent in call.body["parents"].as_array().into_iter().flatten() {
        let oid: Option<Oid> = parent.as_str().and_then(|text| text.parse().ok());
        match oid.filter(|oid| call.repository_objects().commit(*oid).is_some()) {
            Some(oid) => parents.push(oid),
            None => {
                return Err(Refusal::new(
                    422,
                    "Parent SHA does not exist or is not a commit object",
                ));
            }
        }
    }
    let own = call.model.account_signature(call.actor_account(), call.now);
    let person = |value: &Value| -> Option<Signature> {
        let when = value["date"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or(call.now);
        Some(Signature::new(
            value["name"].as_str()?,
            value["email"].as_str()?,
            when,
        ))
    };
    let author = person(&call.body["author"]);
    let committer = person(&call.body["committer"]).or_else(|| author.clone());
    // A bot's commit without author and committer of its own is signed by GitHub.
    let signed = author.is_none() && committer.is_none() && call.is_bot();
    let author = author.unwrap_or_else(|| own.clone());
    let committer = committer.unwrap_or(own);
    let repo = call.repo_id();
    let oid = call
        .model
        .commit_tree(repo, tree, parents, &author, &committer, &message);
    if signed {
        call.model.verified.insert(oid);
    }
    let (actor, now) = (call.actor_account(), call.now);
    call.model.note_write(
        repo,
        actor,
        "commit.created",
        json!({"oid": oid, "message": message}),
        now,
    );
    let body = call
        .model
        .git_commit_json(repo, oid)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(201, body))
}

impl Call<'_> {
    /// Whether the caller acts as an App or as the token of a job.
    pub(super) fn is_bot(&self) -> bool {
        self.identity
            .as_ref()
            .is_some_and(|identity| !identity.kind.is_person())
    }
}

pub(super) fn get_commit(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let oid: Oid = call
        .path_param("commit_sha")
        .parse()
        .map_err(|_| Refusal::not_found())?;
    let body = call
        .model
        .git_commit_json(call.repo_id(), oid)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, body))
}

pub(super) fn list_commits(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let name = call.query_param("sha").unwrap_or("HEAD").to_owned();
    let head = call.commit_named(&name).ok_or_else(Refusal::not_found)?;
    let path = call.query_param("path").map(str::to_owned);
    let objects = call.repository_objects();
    let touches = |oid: Oid| {
        let Some(path) = &path else { return true };
        let parent = objects
            .commit(oid)
            .and_then(|commit| commit.parents.first().copied());
        let here = objects.at_path(oid, path);
        here != parent.and_then(|parent| objects.at_path(parent, path))
    };
    let since = call.query_param("since").and_then(|text| text.parse().ok());
    let until = call.query_param("until").and_then(|text| text.parse().ok());
    let in_time = |oid: Oid| {
        let when = objects.commit(oid).map(|commit| commit.committer.when);
        since.is_none_or(|since| when >= Some(since))
            && until.is_none_or(|until| when <= Some(until))
    };
    let found: Vec<Oid> = objects
        .commit_history(head)
        .into_iter()
        .filter(|oid| touches(*oid) && in_time(*oid))
        .collect();
    let found = call.page_of(found);
    let list: Vec<Value> = found
        .into_iter()
        .filter_map(|oid| call.model.commit_json(call.repo_id(), oid, false))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn get_repository_commit(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let name = call.path_param("ref").to_owned();
    let oid = call
        .commit_named(&name)
        .ok_or_else(|| Refusal::new(422, &format!("No commit found for SHA: {name}")))?;
    if call
        .headers
        .get("accept")
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("sha"))
    {
        return Ok(Reply::Raw(
            200,
            "application/vnd.github.sha; charset=utf-8",
            oid.to_string().into(),
        ));
    }
    let body = call
        .model
        .commit_json(call.repo_id(), oid, true)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, body))
}

pub(super) fn compare_commits(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    call.not_empty()?;
    let spec = call.path_param("basehead").to_owned();
    let (base, head) = spec.split_once("...").ok_or_else(Refusal::not_found)?;
    let local = |name: &str| {
        name.rsplit_once(':')
            .map_or(name, |(_, name)| name)
            .to_owned()
    };
    let base = call
        .commit_named(&local(base))
        .ok_or_else(Refusal::not_found)?;
    let head = call
        .commit_named(&local(head))
        .ok_or_else(Refusal::not_found)?;
    let repo = call.repo_id();
    let objects = call.repository_objects();
    let common = objects.merge_base(base, head).ok_or_else(|| {
        Refusal::new(
            404,
            &format!("No common ancestor between {base} and {head}."),
        )
    })?;
    let mut ahead = objects.missing_from(Some(base), head);
    ahead.reverse();
    let behind = objects.missing_from(Some(head), base).len();
    let status = match (ahead.len(), behind) {
        (0, 0) => "identical",
        (_, 0) => "ahead",
        (0, _) => "behind",
        _ => "diverged",
    };
    let differences = objects.diff_trees(Some(common), Some(head));
    let total = ahead.len();
    let commits = call.page_of(ahead);
    let model = &*call.model;
    let files: Vec<Value> = differences
        .iter()
        .take(MAX_COMPARED_FILES)
        .map(|d| model.file_json(repo, head, d))
        .collect();
    let url = model.repo_url(repo, &format!("/compare/{spec}"));
    let web = model.web_url(repo, &format!("/compare/{spec}"));
    Ok(Reply::Json(
        200,
        json!({
            "url": url, "html_url": web, "permalink_url": web, "diff_url": format!("{web}.diff"),
            "patch_url": format!("{web}.patch"), "base_commit": model.commit_json(repo, base, false),
            "merge_base_commit": model.commit_json(repo, common, false), "status": status, "ahead_by": total,
            "behind_by": behind, "total_commits": total,
            "commits": commits.into_iter().filter_map(|oid| model.commit_json(repo, oid, false)).collect::<Vec<_>>(),
            "files": files,
        }),
    ))
}

/// The kind of an object, for contents.
pub(super) fn size_of(object: Option<&Object>) -> usize {
    match object {
        Some(Object::Blob(content)) => content.len(),
        _ => 0,
    }
}
