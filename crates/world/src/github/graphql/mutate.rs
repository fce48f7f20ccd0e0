//! Executes mutations.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::execute::{Args, Fault, Run};
use super::graph_object::{GraphObject, Val};
use super::resolve::unknown_node;
use crate::github::acts::{ActError, MergeMethod, Subject};
use crate::github::object::{Mode, Oid};
use crate::github::objects::PathChange;
use crate::github::rest::{MAX_BODY, RequiredAccess, from_base64, well_formed};
use crate::github::{NewPull, RepoId, Role, State, Verdict};
use crate::knobs::StaleText;

/// The permissions of everything that issues and pull requests share.
const THREADS: &str = "issues|pull_requests";

type Resolved = Result<Val, Fault>;

impl From<ActError> for Fault {
    fn from(error: ActError) -> Self {
        let kind = match error {
            ActError::NotFound => "NOT_FOUND",
            ActError::Forbidden(_) => "FORBIDDEN",
            _ => "UNPROCESSABLE",
        };
        Self::new(kind, error.to_string())
    }
}

/// A payload with one object.
fn mutation_payload(name: &'static str, input: &Value, fields: &[(&'static str, Val)]) -> Val {
    let mut all: BTreeMap<&'static str, Val> = fields.iter().cloned().collect();
    all.insert(
        "clientMutationId",
        Val::Json(input["clientMutationId"].clone()),
    );
    Val::Object(GraphObject::Made(name, all))
}

impl Run<'_> {
    pub(super) fn resolve_mutation(&mut self, field: &str, args: &Args) -> Resolved {
        let input = args.get("input").clone();
        match field {
            "createCommitOnBranch" => self.create_commit(&input),
            "createRef" => self.create_ref(&input),
            "updateRef" | "deleteRef" => self.change_ref(field, &input),
            "createPullRequest" => self.create_pull(&input),
            "createIssue" => self.create_issue(&input),
            "addComment" => self.add_comment(&input),
            "updateIssueComment" | "deleteIssueComment" => self.change_comment(field, &input),
            "addReaction" => self.add_reaction(&input),
            "addLabelsToLabelable" | "removeLabelsFromLabelable" => {
                self.change_labels(field, &input)
            }
            "addPullRequestReview" => self.add_review(&input),
            "mergePullRequest" => self.merge_pull(&input),
            _ => self.change_thread(field, &input),
        }
    }

    fn input_object(&self, input: &Value, name: &str) -> Result<GraphObject, Fault> {
        let id = input[name].as_str().unwrap_or_default();
        self.find_node(id).ok_or_else(|| unknown_node(id))
    }

    /// The issue or pull request that an id names.
    fn thread_of(&self, input: &Value, name: &str) -> Result<(RepoId, u64, bool), Fault> {
        match self.input_object(input, name)? {
            GraphObject::Issue(repo, number) => Ok((repo, number, false)),
            GraphObject::Pull(repo, number) => Ok((repo, number, true)),
            _ => Err(unknown_node(input[name].as_str().unwrap_or_default())),
        }
    }

    fn repository_of(&self, input: &Value, name: &str) -> Result<RepoId, Fault> {
        match self.input_object(input, name)? {
            GraphObject::Repository(repo) => Ok(repo),
            _ => Err(unknown_node(input[name].as_str().unwrap_or_default())),
        }
    }

    fn actor_account(&self) -> u64 {
        self.identity.account
    }

    /// The repository and the full reference that a commit goes to.
    fn commit_branch(&self, branch: &Value) -> Result<(RepoId, String), Fault> {
        match branch["id"].as_str() {
            Some(id) => match self.find_node(id) {
                Some(GraphObject::Ref(repo, name)) => Ok((repo, name)),
                _ => Err(unknown_node(id)),
            },
            None => {
                let full = branch["repositoryNameWithOwner"]
                    .as_str()
                    .unwrap_or_default();
                let short = branch["branchName"].as_str().unwrap_or_default();
                let missing = || {
                    Fault::new(
                        "NOT_FOUND",
                        format!("Could not resolve to a Repository with the name '{full}'."),
                    )
                };
                let (owner, name) = full.split_once('/').ok_or_else(missing)?;
                let repo = self
                    .model
                    .repository_by_name(owner, name)
                    .or_else(|| self.model.repository_by_former_name(owner, name))
                    .ok_or_else(missing)?;
                self.model
                    .check_access(Some(self.identity), repo, RequiredAccess::Read("metadata"))
                    .map_err(|_| missing())?;
                Ok((
                    repo,
                    format!("refs/heads/{}", short.trim_start_matches("refs/heads/")),
                ))
            }
        }
    }

    /// The changed paths of a commit, whose contents are stored as blobs.
    fn file_changes(
        &mut self,
        repo: RepoId,
        head: Oid,
        files: &Value,
    ) -> Result<BTreeMap<String, PathChange>, Fault> {
        let mut changes: BTreeMap<String, PathChange> = BTreeMap::new();
        let bad = |text: String| Fault::new("UNPROCESSABLE", text);
        for file in files["additions"].as_array().into_iter().flatten() {
            let path = file["path"].as_str().unwrap_or_default();
            check_path(path)?;
            let contents = file["contents"].as_str().unwrap_or_default();
            let content = from_base64(contents)
                .ok_or_else(|| bad(format!("The contents of {path} are not valid Base64")))?;
            // Modes and links cannot be given: every file becomes a plain one.
            let blob = self.model.objects_mut(repo).put_blob(content);
            if changes
                .insert(path.to_owned(), Some((Mode::File, blob)))
                .is_some()
            {
                return Err(bad(format!("The path {path} is given more than once")));
            }
        }
        for file in files["deletions"].as_array().into_iter().flatten() {
            let path = file["path"].as_str().unwrap_or_default();
            check_path(path)?;
            let objects = self.model.objects_mut(repo);
            if objects.at_path(head, path).is_none() {
                return Err(bad(format!(
                    "A path was requested for deletion which does not exist as of commit oid `{head}`: {path}"
                )));
            }
            if changes.insert(path.to_owned(), None).is_some() {
                return Err(bad(format!("The path {path} is given more than once")));
            }
        }
        Ok(changes)
    }

    fn create_commit(&mut self, input: &Value) -> Resolved {
        let (repo, name) = self.commit_branch(&input["branch"])?;
        self.check_permission(repo, RequiredAccess::Write("contents"))?;
        let repository = self.visible_repository(repo)?;
        let short = name.trim_start_matches("refs/heads/").to_owned();
        let Some(head) = repository.refs.get(&name).copied() else {
            return Err(Fault::new(
                "NOT_FOUND",
                format!("No ref named \"{short}\" exists in this repository."),
            ));
        };
        let expected = input["expectedHeadOid"].as_str().unwrap_or_default();
        if expected != head.to_string() {
            return Err(self.stale_branch(&short, expected, head));
        }
        let changes = self.file_changes(repo, head, &input["fileChanges"])?;
        let headline = input["message"]["headline"].as_str().unwrap_or_default();
        let message = match input["message"]["body"].as_str() {
            Some(body) if !body.is_empty() => format!("{headline}\n\n{body}"),
            _ => headline.to_owned(),
        };
        let objects = self.model.objects_mut(repo);
        let base = objects.tree_of(head);
        let tree = objects.changed_tree(base, &changes);
        let (actor, now) = (self.actor_account(), self.now);
        let author = self.model.account_signature(actor, now);
        let committer = crate::github::object::Signature::new("GitHub", "noreply@github.com", now);
        let commit = self
            .model
            .commit_tree(repo, tree, vec![head], &author, &committer, &message);
        self.model.verified.insert(commit);
        self.model
            .enforce_rules(repo, &name, (Some(head), Some(commit)), actor)?;
        self.model
            .update_ref(repo, &name, commit, false, actor, now)?;
        let files: Vec<&String> = changes.keys().collect();
        let detail =
            json!({"oid": commit, "parent": head, "ref": name, "message": message, "files": files});
        self.model.note_write(repo, actor, "commit", detail, now);
        Ok(mutation_payload(
            "CreateCommitOnBranchPayload",
            input,
            &[
                ("commit", Val::Object(GraphObject::Object(repo, commit))),
                ("ref", Val::Object(GraphObject::Ref(repo, name))),
            ],
        ))
    }

    fn stale_branch(&mut self, branch: &str, expected: &str, head: Oid) -> Fault {
        let text = self.knobs.stale_text;
        self.knobs
            .count_use("stale-text", text != StaleText::ExpectedBranch);
        let message = match text {
            StaleText::ExpectedBranch => {
                format!(
                    "Expected branch to point to \"{expected}\" but it did not. Pull and try again."
                )
            }
            StaleText::IsAtButExpected => {
                format!("refs/heads/{branch} is at {head} but expected {expected}")
            }
        };
        let untyped = self.model.chance.happens(self.knobs.stale_type_missing);
        self.knobs.count_use("stale-type-missing", untyped);
        Fault {
            kind: (!untyped).then_some("STALE_DATA"),
            message,
        }
    }

    fn create_ref(&mut self, input: &Value) -> Resolved {
        let repo = self.repository_of(input, "repositoryId")?;
        self.check_permission(repo, RequiredAccess::Write("contents"))?;
        let name = input["name"].as_str().unwrap_or_default().to_owned();
        let oid: Oid = input["oid"]
            .as_str()
            .unwrap_or_default()
            .parse()
            .map_err(|_| Fault::new("UNPROCESSABLE", "oid is not valid"))?;
        if !name.starts_with("refs/") || !well_formed(&name) {
            return Err(Fault::new(
                "UNPROCESSABLE",
                format!("Reference name '{name}' is not valid"),
            ));
        }
        let (actor, now) = (self.actor_account(), self.now);
        let exists = |_| {
            let short = name.trim_start_matches("refs/heads/");
            Fault::new(
                "UNPROCESSABLE",
                format!("A ref named \"{short}\" already exists in the repository."),
            )
        };
        self.model
            .enforce_rules(repo, &name, (None, Some(oid)), actor)?;
        match self.model.create_ref(repo, &name, oid, actor, now) {
            Err(ActError::ReferenceExists) => return Err(exists(())),
            other => other?,
        }
        Ok(mutation_payload(
            "CreateRefPayload",
            input,
            &[("ref", Val::Object(GraphObject::Ref(repo, name.clone())))],
        ))
    }

    fn change_ref(&mut self, field: &str, input: &Value) -> Resolved {
        let GraphObject::Ref(repo, name) = self.input_object(input, "refId")? else {
            return Err(unknown_node(input["refId"].as_str().unwrap_or_default()));
        };
        self.check_permission(repo, RequiredAccess::Write("contents"))?;
        let (actor, now) = (self.actor_account(), self.now);
        let old = self.visible_repository(repo)?.refs.get(&name).copied();
        if field == "deleteRef" {
            self.model.enforce_rules(repo, &name, (old, None), actor)?;
            self.model.delete_ref(repo, &name, actor, now)?;
            return Ok(mutation_payload("DeleteRefPayload", input, &[]));
        }
        let oid: Oid = input["oid"]
            .as_str()
            .unwrap_or_default()
            .parse()
            .map_err(|_| Fault::new("UNPROCESSABLE", "oid is not valid"))?;
        self.model
            .enforce_rules(repo, &name, (old, Some(oid)), actor)?;
        self.model.update_ref(
            repo,
            &name,
            oid,
            input["force"].as_bool().unwrap_or(false),
            actor,
            now,
        )?;
        Ok(mutation_payload(
            "UpdateRefPayload",
            input,
            &[("ref", Val::Object(GraphObject::Ref(repo, name)))],
        ))
    }

    fn create_pull(&mut self, input: &Value) -> Resolved {
        let repo = self.repository_of(input, "repositoryId")?;
        self.check_permission(repo, RequiredAccess::Write("pull_requests"))?;
        let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let new = NewPull {
            title: text("title"),
            body: text("body"),
            head: text("headRefName")
                .trim_start_matches("refs/heads/")
                .to_owned(),
            base: text("baseRefName")
                .trim_start_matches("refs/heads/")
                .to_owned(),
            draft: input["draft"].as_bool().unwrap_or(false),
            author: String::new(),
        };
        let (actor, now) = (self.actor_account(), self.now);
        let number = self.model.open_pull_by(repo, &new, actor, now)?;
        Ok(mutation_payload(
            "CreatePullRequestPayload",
            input,
            &[("pullRequest", Val::Object(GraphObject::Pull(repo, number)))],
        ))
    }

    fn create_issue(&mut self, input: &Value) -> Resolved {
        let repo = self.repository_of(input, "repositoryId")?;
        self.check_permission(repo, RequiredAccess::Participate("issues"))?;
        let title = input["title"].as_str().unwrap_or_default();
        if title.trim().is_empty() {
            return Err(Fault::new("UNPROCESSABLE", "Title can't be blank"));
        }
        if !self.visible_repository(repo)?.has_issues {
            let text = "Issues has been disabled in this repository.";
            return Err(Fault::new("UNPROCESSABLE", text));
        }
        check_body_length(input["body"].as_str().unwrap_or_default())?;
        let mut labels = Vec::new();
        for id in input["labelIds"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            match self.find_node(id) {
                Some(GraphObject::Label(_, name)) => labels.push(name),
                _ => return Err(unknown_node(id)),
            }
        }
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let (actor, now) = (self.actor_account(), self.now);
        let number =
            self.model
                .open_issue_by(repo, title, input["body"].as_str(), &labels, actor, now)?;
        Ok(mutation_payload(
            "CreateIssuePayload",
            input,
            &[("issue", Val::Object(GraphObject::Issue(repo, number)))],
        ))
    }

    fn add_comment(&mut self, input: &Value) -> Resolved {
        let (repo, number, is_pull) = self.thread_of(input, "subjectId")?;
        self.check_permission(repo, RequiredAccess::Participate(THREADS))?;
        let body = input["body"].as_str().unwrap_or_default();
        if body.trim().is_empty() {
            return Err(Fault::new("UNPROCESSABLE", "Body cannot be blank"));
        }
        check_body_length(body)?;
        let (actor, now) = (self.actor_account(), self.now);
        self.model.not_locked(repo, number, Some(self.identity))?;
        let id = self.model.comment_by(repo, number, body, actor, now)?;
        let edge = [
            ("node", Val::Object(GraphObject::Comment(repo, id))),
            ("cursor", Val::from("")),
        ];
        let subject = if is_pull {
            GraphObject::Pull(repo, number)
        } else {
            GraphObject::Issue(repo, number)
        };
        Ok(mutation_payload(
            "AddCommentPayload",
            input,
            &[
                (
                    "commentEdge",
                    Val::Object(GraphObject::Made("IssueCommentEdge", edge.into())),
                ),
                ("subject", Val::Object(subject)),
            ],
        ))
    }

    fn change_comment(&mut self, field: &str, input: &Value) -> Resolved {
        let GraphObject::Comment(repo, id) = self.input_object(input, "id")? else {
            return Err(unknown_node(input["id"].as_str().unwrap_or_default()));
        };
        self.check_permission(repo, RequiredAccess::Participate(THREADS))?;
        let (actor, now) = (self.actor_account(), self.now);
        let author = self
            .visible_repository(repo)?
            .comments
            .get(&id)
            .map(|comment| comment.author);
        let person = self.identity.kind.is_person();
        if author != Some(actor) && person && self.model.role(repo, actor) < Role::Write {
            return Err(Fault::new(
                "FORBIDDEN",
                "Viewer does not have permission to update this comment",
            ));
        }
        if field == "deleteIssueComment" {
            self.model.delete_comment_by(repo, id, actor, now)?;
            return Ok(mutation_payload("DeleteIssueCommentPayload", input, &[]));
        }
        let body = input["body"].as_str().unwrap_or_default();
        check_body_length(body)?;
        self.model.edit_comment_by(repo, id, body, actor, now)?;
        Ok(mutation_payload(
            "UpdateIssueCommentPayload",
            input,
            &[("issueComment", Val::Object(GraphObject::Comment(repo, id)))],
        ))
    }

    fn add_reaction(&mut self, input: &Value) -> Resolved {
        let thing = self.input_object(input, "subjectId")?;
        let (repo, subject) = match thing {
            GraphObject::Issue(repo, number) | GraphObject::Pull(repo, number) => {
                (repo, Subject::Thread(number))
            }
            GraphObject::Comment(repo, id) => (repo, Subject::Comment(id)),
            _ => {
                return Err(unknown_node(
                    input["subjectId"].as_str().unwrap_or_default(),
                ));
            }
        };
        self.check_permission(repo, RequiredAccess::Participate(THREADS))?;
        let content = match input["content"].as_str().unwrap_or_default() {
            "THUMBS_UP" => "+1".to_owned(),
            "THUMBS_DOWN" => "-1".to_owned(),
            other => other.to_lowercase(),
        };
        let (actor, now) = (self.actor_account(), self.now);
        let reaction = self
            .model
            .add_reaction(repo, subject, &content, actor, now)?;
        Ok(mutation_payload(
            "AddReactionPayload",
            input,
            &[
                (
                    "reaction",
                    Val::Object(GraphObject::Reaction(repo, reaction)),
                ),
                ("subject", Val::Object(thing)),
            ],
        ))
    }

    fn change_labels(&mut self, field: &str, input: &Value) -> Resolved {
        let (repo, number, is_pull) = self.thread_of(input, "labelableId")?;
        self.check_permission(repo, RequiredAccess::Triage(THREADS))?;
        let (actor, now) = (self.actor_account(), self.now);
        for id in input["labelIds"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            let Some(GraphObject::Label(_, name)) = self.find_node(id) else {
                return Err(unknown_node(id));
            };
            if field == "addLabelsToLabelable" {
                self.model.put_label(repo, number, &name, actor, now)?;
            } else {
                // Removing a label that is gone is no error.
                let _ = self.model.take_label(repo, number, &name, actor, now);
            }
        }
        let name = if field == "addLabelsToLabelable" {
            "AddLabelsToLabelablePayload"
        } else {
            "RemoveLabelsFromLabelablePayload"
        };
        let thing = if is_pull {
            GraphObject::Pull(repo, number)
        } else {
            GraphObject::Issue(repo, number)
        };
        Ok(mutation_payload(
            name,
            input,
            &[("labelable", Val::Object(thing))],
        ))
    }

    fn add_review(&mut self, input: &Value) -> Resolved {
        let (repo, number, _) = self.thread_of(input, "pullRequestId")?;
        self.check_permission(repo, RequiredAccess::Participate("pull_requests"))?;
        let verdict = match input["event"].as_str() {
            Some("APPROVE") => Verdict::Approve,
            Some("REQUEST_CHANGES") => Verdict::RequestChanges,
            _ => Verdict::Comment,
        };
        let commit = input["commitOID"]
            .as_str()
            .and_then(|text| text.parse().ok());
        let body = input["body"].as_str().unwrap_or_default();
        let (actor, now) = (self.actor_account(), self.now);
        let id = self
            .model
            .review_pull_by(repo, number, verdict, body, commit, actor, now)?;
        let review = self
            .model
            .pull(repo, number)
            .and_then(|pull| pull.reviews.iter().find(|r| r.id == id))
            .cloned();
        Ok(mutation_payload(
            "AddPullRequestReviewPayload",
            input,
            &[(
                "pullRequestReview",
                Val::optional_object(
                    review.map(|review| GraphObject::Review(repo, number, review)),
                ),
            )],
        ))
    }

    fn merge_pull(&mut self, input: &Value) -> Resolved {
        let (repo, number, _) = self.thread_of(input, "pullRequestId")?;
        self.check_permission(repo, RequiredAccess::Write("contents"))?;
        let pinned = input["expectedHeadOid"]
            .as_str()
            .and_then(|text| text.parse().ok());
        let method = match input["mergeMethod"].as_str() {
            Some("SQUASH") => MergeMethod::Squash,
            Some("REBASE") => MergeMethod::Rebase,
            _ => MergeMethod::Merge,
        };
        let message = input["commitHeadline"].as_str().map(|title| {
            (
                title.to_owned(),
                input["commitBody"].as_str().unwrap_or_default().to_owned(),
            )
        });
        let (actor, now) = (self.actor_account(), self.now);
        self.model
            .merge_pull_by(repo, number, pinned, method, message, actor, now)?;
        Ok(mutation_payload(
            "MergePullRequestPayload",
            input,
            &[
                ("pullRequest", Val::Object(GraphObject::Pull(repo, number))),
                ("actor", Val::Object(GraphObject::Account(actor))),
            ],
        ))
    }

    /// Changes title, text, base and state of an issue or pull request.
    fn update_thread(&mut self, repo: RepoId, number: u64, input: &Value) -> Result<(), Fault> {
        let (actor, now) = (self.actor_account(), self.now);
        let text = |name: &str| input[name].as_str();
        check_body_length(text("body").unwrap_or_default())?;
        self.model.edit_thread(
            repo,
            number,
            text("title"),
            text("body"),
            text("baseRefName"),
            actor,
            now,
        )?;
        match text("state") {
            Some("CLOSED") => {
                self.model
                    .set_state(repo, number, State::Closed, None, actor, now)?
            }
            Some("OPEN") => self
                .model
                .set_state(repo, number, State::Open, None, actor, now)?,
            _ => {}
        }
        Ok(())
    }

    fn change_thread(&mut self, field: &str, input: &Value) -> Resolved {
        let key = match field {
            "closeIssue" | "reopenIssue" => "issueId",
            "updateIssue" => "id",
            _ => "pullRequestId",
        };
        let (repo, number, is_pull) = self.thread_of(input, key)?;
        let (actor, now) = (self.actor_account(), self.now);
        let own = self
            .visible_repository(repo)?
            .thread(number)
            .is_some_and(|thread| thread.author == actor);
        let permission = if is_pull { "pull_requests" } else { "issues" };
        self.check_permission(
            repo,
            if own {
                RequiredAccess::Participate(permission)
            } else {
                RequiredAccess::Triage(permission)
            },
        )?;
        let text = |name: &str| input[name].as_str();
        let name = match field {
            "markPullRequestReadyForReview" => {
                self.model.set_draft_by(repo, number, false, actor, now)?;
                "MarkPullRequestReadyForReviewPayload"
            }
            "convertPullRequestToDraft" => {
                self.model.set_draft_by(repo, number, true, actor, now)?;
                "ConvertPullRequestToDraftPayload"
            }
            "closeIssue" | "closePullRequest" => {
                let reason = text("stateReason").map(str::to_lowercase);
                self.model
                    .set_state(repo, number, State::Closed, reason.as_deref(), actor, now)?;
                if is_pull {
                    "ClosePullRequestPayload"
                } else {
                    "CloseIssuePayload"
                }
            }
            "reopenIssue" | "reopenPullRequest" => {
                self.model
                    .set_state(repo, number, State::Open, None, actor, now)?;
                if is_pull {
                    "ReopenPullRequestPayload"
                } else {
                    "ReopenIssuePayload"
                }
            }
            "updateIssue" | "updatePullRequest" => {
                self.update_thread(repo, number, input)?;
                if is_pull {
                    "UpdatePullRequestPayload"
                } else {
                    "UpdateIssuePayload"
                }
            }
            "enablePullRequestAutoMerge" | "disablePullRequestAutoMerge" => {
                self.check_permission(repo, RequiredAccess::Write("contents"))?;
                let on = field == "enablePullRequestAutoMerge";
                let pull = self
                    .model
                    .pull_mut(repo, number)
                    .ok_or(ActError::NotFound)?;
                pull.auto_merge = on.then(|| text("mergeMethod").unwrap_or("MERGE").to_owned());
                if on {
                    "EnablePullRequestAutoMergePayload"
                } else {
                    "DisablePullRequestAutoMergePayload"
                }
            }
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve Mutation.{other}"),
                ));
            }
        };
        let (key, thing) = if is_pull {
            ("pullRequest", GraphObject::Pull(repo, number))
        } else {
            ("issue", GraphObject::Issue(repo, number))
        };
        Ok(mutation_payload(
            name,
            input,
            &[
                (key, Val::Object(thing)),
                ("actor", Val::Object(GraphObject::Account(actor))),
            ],
        ))
    }
}

fn check_body_length(body: &str) -> Result<(), Fault> {
    if body.chars().count() > MAX_BODY {
        return Err(Fault::new(
            "UNPROCESSABLE",
            "Body is too long (maximum is 65536 characters)",
        ));
    }
    Ok(())
}

/// Refuses paths that no tree can hold.
fn check_path(path: &str) -> Result<(), Fault> {
    let bad = path.is_empty()
        || path.contains('\0')
        || path
            .split('/')
            .any(|part| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git"));
    if bad {
        return Err(Fault::new(
            "UNPROCESSABLE",
            format!("The path {path:?} is not valid"),
        ));
    }
    Ok(())
}
