//! GitHub's JSON for issues, pull requests, comments, reviews and timelines.

use serde_json::{Value, json};

use super::super::repository::{
    Comment, Review, ReviewComment, Thread, TimelineEvent, TimelineKind,
};
use super::super::{Model, Pull, Repository, State, node_id};
use super::format_timestamp;

impl Model {
    fn labels_of(&self, repository: &Repository, thread: &Thread) -> Vec<Value> {
        thread
            .labels
            .iter()
            .map(|name| self.label_json(repository, name))
            .filter(|label| !label.is_null())
            .collect()
    }

    /// `issue`, also of a pull request.
    pub(crate) fn issue_json(&self, repository: &Repository, thread: &Thread) -> Value {
        let repo = repository.id;
        let pull = repository.pulls.get(&thread.number);
        let url = self.repo_url(repo, &format!("/issues/{}", thread.number));
        let kind = if pull.is_some() { "pull" } else { "issues" };
        let web = self.web_url(repo, &format!("/{kind}/{}", thread.number));
        let assignees: Vec<Value> = thread
            .assignees
            .iter()
            .map(|id| self.simple_user(*id))
            .collect();
        let mut out = json!({
            "url": url, "repository_url": self.repo_url(repo, ""), "labels_url": format!("{url}/labels{{/name}}"),
            "comments_url": format!("{url}/comments"), "events_url": format!("{url}/events"), "html_url": web,
            "id": thread.id, "node_id": node_id::encode_id(if pull.is_some() { "PR" } else { "I" }, repo, thread.number),
            "number": thread.number, "title": thread.title, "user": self.simple_user(thread.author),
            "labels": self.labels_of(repository, thread), "state": thread.state, "locked": thread.locked,
            "assignee": assignees.first(), "assignees": assignees, "milestone": null, "comments": thread.comments.len(),
            "created_at": format_timestamp(thread.created_at), "updated_at": format_timestamp(thread.updated_at),
            "closed_at": thread.closed_at.map(format_timestamp),
            "author_association": self.author_association(repository, thread.author), "active_lock_reason": null,
            "body": thread.body, "closed_by": self.closed_by(thread), "timeline_url": format!("{url}/timeline"),
            "reactions": self.reactions_json(&url, &thread.reactions), "performed_via_github_app": null,
            "state_reason": thread.state_reason,
        });
        if let Some(pull) = pull {
            out["draft"] = pull.draft.into();
            out["pull_request"] = json!({
                "url": self.repo_url(repo, &format!("/pulls/{}", thread.number)), "html_url": web,
                "diff_url": format!("{web}.diff"), "patch_url": format!("{web}.patch"),
                "merged_at": pull.merged.as_ref().map(|merge| format_timestamp(merge.at)),
            });
        }
        out
    }

    fn closed_by(&self, thread: &Thread) -> Value {
        let closed = thread
            .timeline
            .iter()
            .rev()
            .find(|event| event.what == TimelineKind::Closed);
        match (thread.state, closed) {
            (State::Closed, Some(event)) => self.simple_user(event.actor),
            _ => Value::Null,
        }
    }

    /// `issue-comment`.
    pub(crate) fn comment_json(&self, repository: &Repository, comment: &Comment) -> Value {
        let repo = repository.id;
        let url = self.repo_url(repo, &format!("/issues/comments/{}", comment.id));
        let kind = if repository.pulls.contains_key(&comment.number) {
            "pull"
        } else {
            "issues"
        };
        json!({
            "url": url,
            "html_url": self.web_url(repo, &format!("/{kind}/{}#issuecomment-{}", comment.number, comment.id)),
            "issue_url": self.repo_url(repo, &format!("/issues/{}", comment.number)), "id": comment.id,
            "node_id": node_id::encode_id("IC", repo, comment.id), "user": self.simple_user(comment.author),
            "created_at": format_timestamp(comment.created_at), "updated_at": format_timestamp(comment.updated_at),
            "author_association": self.author_association(repository, comment.author), "body": comment.body,
            "reactions": self.reactions_json(&url, &comment.reactions), "performed_via_github_app": null,
        })
    }

    /// `pull-request-simple`, or `pull-request` with all its figures. `mergeable` is null while it is not known.
    pub(crate) fn pull_json(
        &self,
        repository: &Repository,
        pull: &Pull,
        full: bool,
        mergeable: Option<bool>,
    ) -> Value {
        let repo = repository.id;
        let url = self.repo_url(repo, &format!("/pulls/{}", pull.number));
        let issue = self.repo_url(repo, &format!("/issues/{}", pull.number));
        let web = self.web_url(repo, &format!("/pull/{}", pull.number));
        let whole = self.repository_json(repository);
        let owner = self.login(repository.owner);
        let side = |side: &super::super::repository::Side| {
            json!({
                "label": format!("{owner}:{}", side.branch), "ref": side.branch, "sha": side.oid,
                "user": self.simple_user(repository.owner), "repo": whole,
            })
        };
        let link = |href: String| json!({"href": href});
        // The description of pull requests wants a text here, where that of labels allows null.
        let mut labels = self.labels_of(repository, pull);
        for label in labels
            .iter_mut()
            .filter(|label| label["description"].is_null())
        {
            label["description"] = "".into();
        }
        let statuses = self.repo_url(repo, &format!("/statuses/{}", pull.head.oid));
        let merge_commit = pull.merged.as_ref().map(|merge| merge.commit);
        let reviewers: Vec<Value> = pull
            .requested_reviewers
            .iter()
            .map(|id| self.simple_user(*id))
            .collect();
        let assignees: Vec<Value> = pull
            .assignees
            .iter()
            .map(|id| self.simple_user(*id))
            .collect();
        let mut out = json!({
            "url": url, "id": pull.id, "node_id": node_id::encode_id("PR", repo, pull.number), "html_url": web,
            "diff_url": format!("{web}.diff"), "patch_url": format!("{web}.patch"), "issue_url": issue,
            "number": pull.number, "state": pull.state, "locked": pull.locked, "title": pull.title,
            "user": self.simple_user(pull.author), "body": pull.body, "created_at": format_timestamp(pull.created_at),
            "updated_at": format_timestamp(pull.updated_at), "closed_at": pull.closed_at.map(format_timestamp),
            "merged_at": pull.merged.as_ref().map(|merge| format_timestamp(merge.at)), "merge_commit_sha": merge_commit,
            "assignee": assignees.first(), "assignees": assignees, "requested_reviewers": reviewers,
            "requested_teams": [], "labels": labels, "milestone": null, "draft": pull.draft,
            "commits_url": format!("{url}/commits"), "review_comments_url": format!("{url}/comments"),
            "review_comment_url": self.repo_url(repo, "/pulls/comments{/number}"),
            "comments_url": format!("{issue}/comments"), "statuses_url": statuses, "head": side(&pull.head),
            "base": side(&pull.base), "author_association": self.author_association(repository, pull.author),
            "auto_merge": pull.auto_merge.as_ref().map(|method| json!({
                "enabled_by": self.simple_user(repository.owner), "merge_method": method.to_lowercase(),
                "commit_title": "", "commit_message": "",
            })),
            "active_lock_reason": null,
            "_links": {
                "self": link(url.clone()), "html": link(web), "issue": link(issue.clone()),
                "comments": link(format!("{issue}/comments")), "review_comments": link(format!("{url}/comments")),
                "review_comment": link(self.repo_url(repo, "/pulls/comments{/number}")),
                "commits": link(format!("{url}/commits")), "statuses": link(statuses.clone()),
            },
        });
        if full {
            let (additions, deletions, files) = self.pull_figures(repository, pull);
            let state = match (pull.state, mergeable) {
                (State::Closed, _) | (_, None) => "unknown",
                (_, Some(false)) => "dirty",
                _ if pull.draft => "draft",
                _ => self.merge_state(repository, pull),
            };
            let more = json!({
                "merged": pull.merged.is_some(), "mergeable": mergeable.filter(|_| pull.state == State::Open),
                "rebaseable": mergeable.filter(|_| pull.state == State::Open), "mergeable_state": state,
                "merged_by": pull.merged.as_ref().map(|merge| self.simple_user(merge.by)),
                "comments": pull.comments.len(), "review_comments": pull.review_comments.len(),
                "maintainer_can_modify": false, "commits": self.pull_commits(repository, pull).len(),
                "additions": additions, "deletions": deletions, "changed_files": files,
            });
            if let (Value::Object(out), Value::Object(more)) = (&mut out, more) {
                out.extend(more);
            }
        }
        out
    }

    /// `behind` where the protection of its base demands that a pull request is up to date and it
    /// is not; else `clean` or `unstable` by the checks of its head.
    pub(crate) fn merge_state(&self, repository: &Repository, pull: &Pull) -> &'static str {
        let protection = repository.protections.get(&pull.base.branch);
        let demands =
            protection.is_some_and(|set| set["required_status_checks"]["strict"] == json!(true));
        let is_behind = || {
            self.objects(repository.id).is_some_and(|objects| {
                let base = repository.base_now(pull);
                let missing = objects.missing_from(Some(pull.head.oid), base);
                !missing.is_empty()
            })
        };
        if demands && is_behind() {
            return "behind";
        }
        let failed = repository.checks.iter().any(|run| {
            run.commit == pull.head.oid
                && !matches!(
                    run.conclusion.as_deref(),
                    Some("success" | "neutral" | "skipped")
                )
        });
        if failed { "unstable" } else { "clean" }
    }

    /// The commits of a pull request, oldest first.
    pub(crate) fn pull_commits(
        &self,
        repository: &Repository,
        pull: &Pull,
    ) -> Vec<super::super::Oid> {
        let Some(objects) = self.objects(repository.id) else {
            return Vec::new();
        };
        // After a merge the base holds the commits, so the base of the time before it counts.
        let mut commits =
            objects.missing_from(Some(self.base_before(repository, pull)), pull.head.oid);
        commits.reverse();
        commits
    }

    /// The commit of the base branch against which a pull request is read.
    pub(crate) fn base_before(&self, repository: &Repository, pull: &Pull) -> super::super::Oid {
        let merged = pull
            .merged
            .as_ref()
            .and_then(|merge| self.objects(repository.id)?.commit(merge.commit));
        merged
            .and_then(|commit| commit.parents.first().copied())
            .unwrap_or_else(|| repository.base_now(pull))
    }

    /// The files that a pull request changes.
    pub(crate) fn pull_files(
        &self,
        repository: &Repository,
        pull: &Pull,
    ) -> Vec<super::super::objects::Difference> {
        let Some(objects) = self.objects(repository.id) else {
            return Vec::new();
        };
        let common = objects.merge_base(self.base_before(repository, pull), pull.head.oid);
        objects.diff_trees(common, Some(pull.head.oid))
    }

    /// Lines added and removed, and files changed.
    pub(crate) fn pull_figures(
        &self,
        repository: &Repository,
        pull: &Pull,
    ) -> (usize, usize, usize) {
        let files = self.pull_files(repository, pull);
        let Some(objects) = self.objects(repository.id) else {
            return (0, 0, 0);
        };
        let (added, removed) = files.iter().fold((0, 0), |(added, removed), file| {
            let (_, more, less) = objects.file_patch(file);
            (added + more, removed + less)
        });
        (added, removed, files.len())
    }

    /// `pull-request-review`.
    pub(crate) fn review_json(
        &self,
        repository: &Repository,
        pull: &Pull,
        review: &Review,
    ) -> Value {
        let repo = repository.id;
        let html = self.web_url(
            repo,
            &format!("/pull/{}#pullrequestreview-{}", pull.number, review.id),
        );
        let url = self.repo_url(repo, &format!("/pulls/{}", pull.number));
        json!({
            "id": review.id, "node_id": node_id::encode_id("PRR", repo, review.id), "user": self.simple_user(review.author),
            "body": review.body, "state": if review.dismissed { "DISMISSED" } else { review.verdict.review_state() },
            "html_url": html, "pull_request_url": url, "submitted_at": format_timestamp(review.at), "commit_id": review.commit,
            "author_association": self.author_association(repository, review.author),
            "_links": {"html": {"href": html}, "pull_request": {"href": url}},
        })
    }

    /// `pull-request-review-comment`.
    pub(crate) fn review_comment_json(
        &self,
        repository: &Repository,
        pull: &Pull,
        comment: &ReviewComment,
    ) -> Value {
        let repo = repository.id;
        let url = self.repo_url(repo, &format!("/pulls/comments/{}", comment.id));
        let html = self.web_url(
            repo,
            &format!("/pull/{}#discussion_r{}", pull.number, comment.id),
        );
        let parent = self.repo_url(repo, &format!("/pulls/{}", pull.number));
        json!({
            "url": url, "pull_request_review_id": comment.review, "id": comment.id,
            "node_id": node_id::encode_id("PRRC", repo, comment.id), "diff_hunk": "@@ -1 +1 @@", "path": comment.path,
            "position": 1, "original_position": 1, "commit_id": comment.commit, "original_commit_id": comment.commit,
            "in_reply_to_id": comment.in_reply_to.unwrap_or(comment.id), "user": self.simple_user(comment.author),
            "body": comment.body, "created_at": format_timestamp(comment.created_at), "updated_at": format_timestamp(comment.updated_at),
            "html_url": html, "pull_request_url": parent, "line": comment.line, "side": "RIGHT",
            "author_association": self.author_association(repository, comment.author),
            "_links": {"self": {"href": url}, "html": {"href": html}, "pull_request": {"href": parent}},
        })
    }

    /// One event of a timeline; none for kinds that REST's issue events leave out.
    pub(crate) fn timeline_json(
        &self,
        repository: &Repository,
        thread: &Thread,
        event: &TimelineEvent,
    ) -> Option<Value> {
        let repo = repository.id;
        match &event.what {
            TimelineKind::Commented(id) => {
                let comment = repository.comments.get(id)?;
                let mut out = self.comment_json(repository, comment);
                out["event"] = "commented".into();
                out["actor"] = self.simple_user(event.actor);
                return Some(out);
            }
            TimelineKind::Reviewed(id) => {
                let pull = repository.pulls.get(&thread.number)?;
                let review = pull.reviews.iter().find(|review| review.id == *id)?;
                let mut out = self.review_json(repository, pull, review);
                out["event"] = "reviewed".into();
                out["state"] = review.verdict.review_state().to_lowercase().into();
                return Some(out);
            }
            TimelineKind::Committed(oid) => {
                let mut out = self.git_commit_json(repo, *oid)?;
                out["event"] = "committed".into();
                return Some(out);
            }
            _ => {}
        }
        let (word, prefix, commit) = match &event.what {
            TimelineKind::Labeled(_) => ("labeled", "LE", None),
            TimelineKind::Unlabeled(_) => ("unlabeled", "UNLE", None),
            TimelineKind::Renamed { .. } => ("renamed", "RTE", None),
            TimelineKind::Closed => ("closed", "CE", None),
            TimelineKind::Reopened => ("reopened", "REE", None),
            TimelineKind::Merged(oid) => ("merged", "ME", Some(*oid)),
            TimelineKind::ForcePushed(_, to) => ("head_ref_force_pushed", "HRFPE", Some(*to)),
            TimelineKind::ReadyForReview => ("ready_for_review", "RFRE", None),
            TimelineKind::ConvertedToDraft => ("convert_to_draft", "CTDE", None),
            TimelineKind::BaseChanged => ("base_ref_changed", "BRCE", None),
            TimelineKind::ReviewRequested(_) => ("review_requested", "RRE", None),
            TimelineKind::Commented(_) | TimelineKind::Reviewed(_) | TimelineKind::Committed(_) => {
                return None;
            }
        };
        let mut out = json!({
            "id": event.id, "node_id": node_id::encode_id(prefix, repo, event.id),
            "url": self.repo_url(repo, &format!("/issues/events/{}", event.id)), "actor": self.simple_user(event.actor),
            "event": word, "commit_id": commit,
            "commit_url": commit.map(|oid| self.repo_url(repo, &format!("/commits/{oid}"))),
            "created_at": format_timestamp(event.at), "performed_via_github_app": null,
        });
        match &event.what {
            TimelineKind::Labeled(label) | TimelineKind::Unlabeled(label) => {
                out["label"] = json!({"name": label.name, "color": label.color});
            }
            TimelineKind::Renamed { from, to } => out["rename"] = json!({"from": from, "to": to}),
            TimelineKind::Closed => out["state_reason"] = json!(thread.state_reason),
            TimelineKind::ReviewRequested(id) => {
                out["review_requester"] = self.simple_user(event.actor);
                out["requested_reviewer"] = self.simple_user(*id);
            }
            _ => {}
        }
        Some(out)
    }
}
