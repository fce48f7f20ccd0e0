//! Routes for pull requests, their reviews and merges.

use serde_json::{Value, json};

use super::{Call, Refusal, Reply};
use crate::github::acts::LineRemark;
use crate::github::acts::MergeMethod;
use crate::github::repository::TimelineKind;
use crate::github::{NewPull, Oid, State, Verdict};

impl Call<'_> {
    fn pull_number(&self) -> Result<u64, Refusal> {
        let number = self.number_param("pull_number")?;
        if self.visible_repository().pulls.contains_key(&number) {
            Ok(number)
        } else {
            Err(Refusal::not_found())
        }
    }

    /// A pull request in full; `mergeable` is known after as many reads as the knob says.
    fn pull_reply(&mut self, status: u16, number: u64) -> Result<Reply, Refusal> {
        let repo = self.repo_id();
        let mergeable = self.model.mergeable_now(repo, number, self.knobs);
        let repository = self.current_repository();
        let pull = repository
            .pulls
            .get(&number)
            .ok_or_else(Refusal::not_found)?;
        Ok(Reply::Json(
            status,
            self.model.pull_json(repository, pull, true, mergeable),
        ))
    }
}

impl crate::github::Model {
    /// Whether a pull request can be merged; unknown for the first reads after head or base moved.
    pub(crate) fn mergeable_now(
        &mut self,
        repo: crate::github::RepoId,
        number: u64,
        knobs: &crate::knobs::Knobs,
    ) -> Option<bool> {
        let reads = self.pull(repo, number)?.mergeable_reads;
        if reads >= knobs.mergeable_unknown_reads {
            return Some(self.is_mergeable(repo, number));
        }
        knobs.count_use("mergeable-unknown-reads", reads > 0);
        self.pull_mut(repo, number)?.mergeable_reads += 1;
        None
    }
}

pub(super) fn list_pulls(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let state = call.query_param("state").unwrap_or("open").to_owned();
    let local = |name: &str| {
        name.rsplit_once(':')
            .map_or(name, |(_, branch)| branch)
            .to_owned()
    };
    let head = call.query_param("head").map(local);
    let base = call.query_param("base").map(str::to_owned);
    let by_update = matches!(call.query_param("sort"), Some("updated"));
    // Newest first by creation, unless asked otherwise.
    let ascending = match call.query_param("direction") {
        Some(direction) => direction == "asc",
        None => call
            .query_param("sort")
            .is_some_and(|sort| sort != "created"),
    };
    let mut found: Vec<_> = call
        .visible_repository()
        .pulls
        .values()
        .filter(|pull| match state.as_str() {
            "all" => true,
            "closed" => pull.state == State::Closed,
            _ => pull.state == State::Open,
        })
        .filter(|pull| head.as_ref().is_none_or(|head| pull.head.branch == *head))
        .filter(|pull| base.as_ref().is_none_or(|base| pull.base.branch == *base))
        .map(|pull| {
            (
                if by_update {
                    pull.updated_at
                } else {
                    pull.created_at
                },
                pull.number,
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
        .filter_map(|(_, number)| repository.pulls.get(number))
        .map(|pull| call.model.pull_json(repository, pull, false, None))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn list_pulls_of_commit(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let oid: Oid = call
        .path_param("commit_sha")
        .parse()
        .map_err(|_| Refusal::not_found())?;
    let repository = call.visible_repository();
    let found: Vec<Value> = repository
        .pulls
        .values()
        .filter(|pull| {
            pull.merged
                .as_ref()
                .is_some_and(|merge| merge.commit == oid)
                || call.model.pull_commits(repository, pull).contains(&oid)
        })
        .map(|pull| call.model.pull_json(repository, pull, false, None))
        .collect();
    let found = call.page_of(found);
    Ok(Reply::Json(200, found.into()))
}

pub(super) fn create_pull(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let head = call.required_text("head")?;
    let new = NewPull {
        title: call.required_text("title")?,
        body: call.body_text("body").unwrap_or_default().to_owned(),
        head: head
            .rsplit_once(':')
            .map_or(head.as_str(), |(_, branch)| branch)
            .to_owned(),
        base: call.required_text("base")?,
        draft: call.body["draft"].as_bool().unwrap_or(false),
        author: String::new(),
    };
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let number = call.model.open_pull_by(repo, &new, actor, now)?;
    call.pull_reply(201, number)
}

pub(super) fn get_pull(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let repo = call.repo_id();
    let accept = call
        .headers
        .get("accept")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if accept.contains("diff") || accept.contains("patch") {
        let repository = call.visible_repository();
        let pull = repository
            .pulls
            .get(&number)
            .ok_or_else(Refusal::not_found)?;
        let base = call.model.base_before(repository, pull);
        let common = call.repository_objects().merge_base(base, pull.head.oid);
        let text = call
            .repository_objects()
            .unified_diff(common, Some(pull.head.oid));
        return Ok(Reply::Raw(
            200,
            "application/vnd.github.diff; charset=utf-8",
            text.into(),
        ));
    }
    let mergeable = call.model.mergeable_now(repo, number, call.knobs);
    let repository = call.visible_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.pull_json(repository, pull, true, mergeable),
    ))
}

pub(super) fn update_pull(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let title = call.body_text("title").map(str::to_owned);
    let body = call.body_text("body").map(str::to_owned);
    let base = call.body_text("base").map(str::to_owned);
    call.model.edit_thread(
        repo,
        number,
        title.as_deref(),
        body.as_deref(),
        base.as_deref(),
        actor,
        now,
    )?;
    match call.body_text("state") {
        Some("closed") => call
            .model
            .set_state(repo, number, State::Closed, None, actor, now)?,
        Some("open") => call
            .model
            .set_state(repo, number, State::Open, None, actor, now)?,
        _ => {}
    }
    call.pull_reply(200, number)
}

pub(super) fn list_pull_commits(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let repository = call.visible_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let found = call.model.pull_commits(repository, pull);
    let found = call.page_of(found);
    let list: Vec<Value> = found
        .into_iter()
        .filter_map(|oid| call.model.commit_json(call.repo_id(), oid, false))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn list_pull_files(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let repository = call.visible_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let (head, found) = (pull.head.oid, call.model.pull_files(repository, pull));
    let found = call.page_of(found);
    let list: Vec<Value> = found
        .iter()
        .map(|file| call.model.file_json(call.repo_id(), head, file))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn is_merged(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let merged = call
        .visible_repository()
        .pulls
        .get(&number)
        .is_some_and(|pull| pull.merged.is_some());
    if merged {
        Ok(Reply::Empty(204))
    } else {
        Err(Refusal::not_found())
    }
}

pub(super) fn merge_pull(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let pinned = match call.body_text("sha") {
        Some(text) => Some(
            text.parse::<Oid>()
                .map_err(|_| Refusal::new(422, "sha is not a valid SHA"))?,
        ),
        None => None,
    };
    let method = match call.body_text("merge_method") {
        None | Some("merge") => MergeMethod::Merge,
        Some("squash") => MergeMethod::Squash,
        Some("rebase") => MergeMethod::Rebase,
        Some(_) => {
            return Err(Refusal::validation_failed(
                "PullRequest",
                "merge_method",
                "invalid",
                None,
            ));
        }
    };
    let message = call.body_text("commit_title").map(|title| {
        (
            title.to_owned(),
            call.body_text("commit_message")
                .unwrap_or_default()
                .to_owned(),
        )
    });
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let commit = call
        .model
        .merge_pull_by(repo, number, pinned, method, message, actor, now)?;
    Ok(Reply::Json(
        200,
        json!({"sha": commit, "merged": true, "message": "Pull Request successfully merged"}),
    ))
}

pub(super) fn update_branch(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let pull = call
        .current_repository()
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let (head, branch, base_branch) = (
        pull.head.oid,
        pull.head.branch.clone(),
        pull.base.branch.clone(),
    );
    if call
        .body_text("expected_head_sha")
        .is_some_and(|expected| expected != head.to_string())
    {
        return Err(Refusal::new(
            422,
            "expected_head_sha is not the head of the pull request",
        ));
    }
    let base = call
        .current_repository()
        .branch(&base_branch)
        .ok_or_else(Refusal::not_found)?;
    let objects = call.model.objects_mut(repo);
    if objects.is_ancestor(base, head) {
        return Err(Refusal::new(
            422,
            "There are no new commits on the base branch.",
        ));
    }
    let common = objects.merge_base(base, head);
    let tree = objects
        .merged_tree(common, head, base)
        .map_err(|_| Refusal::new(422, "merge conflict between base and head"))?;
    let signature = call.model.account_signature(actor, now);
    let message = format!("Merge branch '{base_branch}' into {branch}");
    let commit = call.model.commit_tree(
        repo,
        tree,
        vec![head, base],
        &signature,
        &signature,
        &message,
    );
    call.model.update_ref(
        repo,
        &format!("refs/heads/{branch}"),
        commit,
        false,
        actor,
        now,
    )?;
    let url = call.model.repo_url(repo, &format!("/pulls/{number}"));
    Ok(Reply::Json(
        202,
        json!({"message": "Updating pull request branch.", "url": url}),
    ))
}

pub(super) fn list_reviews(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let all = call
        .visible_repository()
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?
        .reviews
        .clone();
    let page = call.page_of(all);
    let repository = call.visible_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|review| call.model.review_json(repository, pull, review))
            .collect(),
    ))
}

fn review_reply(call: &Call<'_>, number: u64, id: u64) -> Result<Reply, Refusal> {
    let repository = call.current_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let review = pull
        .reviews
        .iter()
        .find(|review| review.id == id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.review_json(repository, pull, review),
    ))
}

pub(super) fn create_review(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let verdict = match call.body_text("event") {
        Some("APPROVE") => Verdict::Approve,
        Some("REQUEST_CHANGES") => Verdict::RequestChanges,
        Some("COMMENT") => Verdict::Comment,
        _ => {
            return Err(Refusal::new(
                422,
                "The model serves reviews with an event only",
            ));
        }
    };
    let commit = call
        .body_text("commit_id")
        .and_then(|text| text.parse().ok());
    let body = call.body_text("body").unwrap_or_default().to_owned();
    if body.is_empty() && verdict != Verdict::Approve {
        return Err(Refusal::new(422, "Unprocessable Entity"));
    }
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let id = call
        .model
        .review_pull_by(repo, number, verdict, &body, commit, actor, now)?;
    review_reply(call, number, id)
}

pub(super) fn get_review(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (number, id) = (call.pull_number()?, call.number_param("review_id")?);
    review_reply(call, number, id)
}

pub(super) fn dismiss_review(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (number, id) = (call.pull_number()?, call.number_param("review_id")?);
    call.required_text("message")?;
    let (repo, now) = (call.repo_id(), call.now);
    let pull = call
        .model
        .pull_mut(repo, number)
        .ok_or_else(Refusal::not_found)?;
    let review = pull
        .reviews
        .iter_mut()
        .find(|review| review.id == id)
        .ok_or_else(Refusal::not_found)?;
    review.dismissed = true;
    pull.updated_at = now;
    review_reply(call, number, id)
}

pub(super) fn review_comments(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let all = call
        .visible_repository()
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?
        .review_comments
        .clone();
    let page = call.page_of(all);
    let repository = call.visible_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        page.iter()
            .map(|one| call.model.review_comment_json(repository, pull, one))
            .collect(),
    ))
}

pub(super) fn create_review_comment(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let body = call.required_text("body")?;
    let commit: Oid = call
        .required_text("commit_id")?
        .parse()
        .map_err(|_| Refusal::new(422, "commit_id is not a valid SHA"))?;
    let path = call.required_text("path")?;
    let line = call.body["line"].as_u64();
    let in_reply_to = call.body["in_reply_to"].as_u64();
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    let remark = LineRemark {
        path,
        line,
        body,
        in_reply_to,
    };
    let comment = call
        .model
        .comment_line_by(repo, number, remark, Some(commit), actor, now)?;
    let repository = call.current_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        201,
        call.model.review_comment_json(repository, pull, &comment),
    ))
}

pub(super) fn requested_reviewers(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let pull = call
        .visible_repository()
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let users: Vec<Value> = pull
        .requested_reviewers
        .iter()
        .map(|id| call.model.simple_user(*id))
        .collect();
    Ok(Reply::Json(200, json!({"users": users, "teams": []})))
}

fn named_reviewers(call: &Call<'_>) -> Vec<u64> {
    let logins = call.body["reviewers"].as_array().into_iter().flatten();
    logins
        .filter_map(|login| call.model.find_account(login.as_str()?))
        .collect()
}

pub(super) fn request_reviewers(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let (repo, actor, now) = (call.repo_id(), call.actor_account(), call.now);
    for reviewer in named_reviewers(call) {
        let event = call
            .model
            .timeline_event(actor, now, TimelineKind::ReviewRequested(reviewer));
        let pull = call
            .model
            .pull_mut(repo, number)
            .ok_or_else(Refusal::not_found)?;
        if pull.author == reviewer {
            return Err(Refusal::new(
                422,
                "Review cannot be requested from pull request author.",
            ));
        }
        if !pull.requested_reviewers.contains(&reviewer) {
            pull.requested_reviewers.push(reviewer);
            pull.updated_at = now;
            pull.timeline.push(event);
        }
    }
    let repository = call.current_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        201,
        call.model.pull_json(repository, pull, false, None),
    ))
}

pub(super) fn unrequest_reviewers(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let repo = call.repo_id();
    let gone = named_reviewers(call);
    let pull = call
        .model
        .pull_mut(repo, number)
        .ok_or_else(Refusal::not_found)?;
    pull.requested_reviewers
        .retain(|reviewer| !gone.contains(reviewer));
    let repository = call.current_repository();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.pull_json(repository, pull, false, None),
    ))
}
