//! Builds the event-specific parts of webhook payloads.

use serde_json::{Value, json};

use super::super::object::{Oid, Signature};
use super::super::{Model, RepoId};
use super::format_timestamp;

/// Commits that one push payload lists at most (GitHub's documentation: 2,048).
const MAX_PUSH_COMMITS: usize = 2_048;

impl Model {
    /// `issue` of an issues event.
    pub(crate) fn issue_payload(&self, repo: RepoId, number: u64) -> Value {
        let Some(repository) = self.repository(repo) else {
            return json!({});
        };
        match repository.thread(number) {
            Some(thread) => {
                let mut issue = self.issue_json(repository, thread);
                // Webhooks omit who closed an issue; the event's sender says it.
                if let Value::Object(issue) = &mut issue {
                    issue.remove("closed_by");
                }
                json!({"issue": issue})
            }
            None => json!({}),
        }
    }

    /// `number` and `pull_request` of a pull_request event.
    pub(crate) fn pull_payload(&self, repo: RepoId, number: u64) -> Value {
        let Some(repository) = self.repository(repo) else {
            return json!({});
        };
        match repository.pulls.get(&number) {
            Some(pull) => {
                json!({"number": number, "pull_request": self.pull_json(repository, pull, true, None)})
            }
            None => json!({}),
        }
    }

    /// `issue` and `comment` of an issue_comment event.
    pub(crate) fn comment_payload(&self, repo: RepoId, id: u64) -> Value {
        let Some(repository) = self.repository(repo) else {
            return json!({});
        };
        let Some(comment) = repository.comments.get(&id) else {
            return json!({});
        };
        let mut out = self.issue_payload(repo, comment.number);
        out["comment"] = self.comment_json(repository, comment);
        out
    }

    /// `pull_request` and `review` of a pull_request_review event.
    pub(crate) fn review_payload(&self, repo: RepoId, number: u64, id: u64) -> Value {
        let Some(repository) = self.repository(repo) else {
            return json!({});
        };
        let Some(pull) = repository.pulls.get(&number) else {
            return json!({});
        };
        let review = pull.reviews.iter().find(|review| review.id == id);
        let mut review = review.map_or(Value::Null, |review| {
            self.review_json(repository, pull, review)
        });
        if let Some(state) = review["state"].as_str().map(str::to_lowercase) {
            // Webhooks write the state in small letters, REST in capitals.
            review["state"] = state.into();
        }
        json!({"pull_request": self.pull_json(repository, pull, false, None), "review": review})
    }

    /// `workflow` and `workflow_run` of a workflow_run event.
    pub(crate) fn run_payload(&self, repo: RepoId, id: u64) -> Value {
        let Some(repository) = self.repository(repo) else {
            return json!({});
        };
        let Some(run) = repository.runs.iter().find(|run| run.id == id) else {
            return json!({});
        };
        let workflow = repository
            .workflows
            .iter()
            .find(|workflow| workflow.id == run.workflow);
        json!({
            "workflow": workflow.map(|workflow| self.workflow_json(repo, workflow)),
            "workflow_run": self.run_json(repository, run),
        })
    }

    /// All of a push event but repository and sender.
    pub(crate) fn push_payload(
        &self,
        repo: RepoId,
        name: &str,
        before: Oid,
        after: Oid,
        forced: bool,
        actor: u64,
    ) -> Value {
        let created = before == Oid::ZERO;
        let mut commits: Vec<Value> = Vec::new();
        if let Some(objects) = self.objects(repo) {
            let mut new = objects.missing_from((!created).then_some(before), after);
            if created {
                // A new branch lists what no other branch has.
                let known: Vec<Oid> = self.repository(repo).map_or_else(Vec::new, |repository| {
                    repository
                        .refs
                        .iter()
                        .filter(|(other, _)| *other != name)
                        .map(|(_, oid)| *oid)
                        .collect()
                });
                new.retain(|oid| !known.iter().any(|head| objects.is_ancestor(*oid, *head)));
            }
            new.truncate(MAX_PUSH_COMMITS);
            commits = new
                .into_iter()
                .rev()
                .map(|oid| self.pushed_commit(repo, oid))
                .collect();
        }
        let login = self.login(actor);
        let email = self.accounts.get(&actor).map(super::super::Account::email);
        let head = (after != Oid::ZERO).then(|| self.pushed_commit(repo, after));
        json!({
            "ref": name, "before": before, "after": after, "created": created, "deleted": after == Oid::ZERO,
            "forced": forced, "base_ref": null,
            "compare": self.web_url(repo, &format!("/compare/{before}...{after}")), "commits": commits,
            "head_commit": head, "pusher": {"name": login, "email": email},
        })
    }

    fn pushed_commit(&self, repo: RepoId, oid: Oid) -> Value {
        let Some(objects) = self.objects(repo) else {
            return Value::Null;
        };
        let Some(commit) = objects.commit(oid) else {
            return Value::Null;
        };
        let person = |signature: &Signature| {
            let mut out = json!({"name": signature.name, "email": signature.email});
            if let Some(id) = self.account_of_signature(signature) {
                out["username"] = self.login(id).into();
            }
            out
        };
        let differences = objects.diff_trees(commit.parents.first().copied(), Some(oid));
        let of = |status: &str| -> Vec<&str> {
            differences
                .iter()
                .filter(|d| d.status_name() == status)
                .map(|d| d.path.as_str())
                .collect()
        };
        json!({
            "id": oid, "tree_id": commit.tree, "distinct": true, "message": commit.message,
            "timestamp": format_timestamp(commit.committer.when), "url": self.web_url(repo, &format!("/commit/{oid}")),
            "author": person(&commit.author), "committer": person(&commit.committer), "added": of("added"),
            "removed": of("removed"), "modified": of("modified"),
        })
    }
}
