//! Routes for pull requests, their reviews and merges.

use serde_json::{Value, json};

use super::{Call, Refusal, Reply};
use crate::github::acts::LineRemark;
use crate::github::acts::MergeMethod;
use crate::github::repository::Happening;
use crate::github::{NewPull, Oid, State, Verdict};

impl Call<'_> {
    fn pull_number(&self) -> Result<u64, Refusal> {
        let number = self.number("pull_number")?;
        if self.seen().pulls.contains_key(&number) {
            Ok(number)
        } else {
            Err(Refusal::not_found())
        }
    }

    /// A pull request in full; `mergeable` is known after as many reads as the knob says.
    fn pull_reply(&mut self, status: u16, number: u64) -> Result<Reply, Refusal> {
        let repo = self.repo();
        let mergeable = self.model.mergeable_now(repo, number, self.knobs);
        let repository = self.present();
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
            return Some(self.mergeable(repo, number));
        }
        knobs.acts("mergeable-unknown-reads", reads > 0);
        self.pull_mut(repo, number)?.mergeable_reads += 1;
        None
    }
}

pub(super) fn list(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let state = call.query("state").unwrap_or("open").to_owned();
    let local = |name: &str| {
        name.rsplit_once(':')
            .map_or(name, |(_, branch)| branch)
            .to_owned()
    };
    let head = call.query("head").map(local);
    let base = call.query("base").map(str::to_owned);
    let by_update = matches!(call.query("sort"), Some("updated"));
    // Newest first by creation, unless asked otherwise.
    let ascending = match call.query("direction") {
        Some(direction) => direction == "asc",
        None => call.query("sort").is_some_and(|sort| sort != "created"),
    };
    let mut found: Vec<_> = call
        .seen()
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
    let found = call.page(found);
    let repository = call.seen();
    let list: Vec<Value> = found
        .iter()
        .filter_map(|(_, number)| repository.pulls.get(number))
        .map(|pull| call.model.pull_json(repository, pull, false, None))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn of_commit(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let oid: Oid = call
        .param("commit_sha")
        .parse()
        .map_err(|_| Refusal::not_found())?;
    let repository = call.seen();
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
    let found = call.page(found);
    Ok(Reply::Json(200, found.into()))
}

pub(super) fn create(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let head = call.required("head")?;
    let new = NewPull {
        title: call.required("title")?,
        body: call.text("body").unwrap_or_default().to_owned(),
        head: head
            .rsplit_once(':')
            .map_or(head.as_str(), |(_, branch)| branch)
            .to_owned(),
        base: call.required("base")?,
        draft: call.body["draft"].as_bool().unwrap_or(false),
        author: String::new(),
    };
    let (repo, actor, now) = (call.repo(), call.actor(), call.now);
    let number = call.model.open_pull_by(repo, &new, actor, now)?;
    call.pull_reply(201, number)
}

pub(super) fn get(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let repo = call.repo();
    let accept = call
        .headers
        .get("accept")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if accept.contains("diff") || accept.contains("patch") {
        let repository = call.seen();
        let pull = repository
            .pulls
            .get(&number)
            .ok_or_else(Refusal::not_found)?;
        let base = call.model.base_before(repository, pull);
        let common = call.objects().merge_base(base, pull.head.oid);
        let text = call.objects().unified_diff(common, Some(pull.head.oid));
        return Ok(Reply::Raw(
            200,
            "application/vnd.github.diff; charset=utf-8",
            text.into(),
        ));
    }
    let mergeable = call.model.mergeable_now(repo, number, call.knobs);
    let repository = call.seen();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.pull_json(repository, pull, true, mergeable),
    ))
}

pub(super) fn update(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let (repo, actor, now) = (call.repo(), call.actor(), call.now);
    let title = call.text("title").map(str::to_owned);
    let body = call.text("body").map(str::to_owned);
    let base = call.text("base").map(str::to_owned);
    call.model.edit_thread(
        repo,
        number,
        title.as_deref(),
        body.as_deref(),
        base.as_deref(),
        actor,
        now,
    )?;
    match call.text("state") {
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

pub(super) fn commits(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let repository = call.seen();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let found = call.model.pull_commits(repository, pull);
    let found = call.page(found);
    let list: Vec<Value> = found
        .into_iter()
        .filter_map(|oid| call.model.commit_json(call.repo(), oid, false))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn files(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let repository = call.seen();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let (head, found) = (pull.head.oid, call.model.pull_files(repository, pull));
    let found = call.page(found);
    let list: Vec<Value> = found
        .iter()
        .map(|file| call.model.file_json(call.repo(), head, file))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn is_merged(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let merged = call
        .seen()
        .pulls
        .get(&number)
        .is_some_and(|pull| pull.merged.is_some());
    if merged {
        Ok(Reply::Empty(204))
    } else {
        Err(Refusal::not_found())
    }
}

pub(super) fn merge(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let pinned = match call.text("sha") {
        Some(text) => Some(
            text.parse::<Oid>()
                .map_err(|_| Refusal::new(422, "sha is not a valid SHA"))?,
        ),
        None => None,
    };
    let method = match call.text("merge_method") {
        None | Some("merge") => MergeMethod::Merge,
        Some("squash") => MergeMethod::Squash,
        Some("rebase") => MergeMethod::Rebase,
        Some(_) => {
            return Err(Refusal::validation(
                "PullRequest",
                "merge_method",
                "invalid",
                None,
            ));
        }
    };
    let message = call.text("commit_title").map(|title| {
        (
            title.to_owned(),
            call.text("commit_message").unwrap_or_default().to_owned(),
        )
    });
    let (repo, actor, now) = (call.repo(), call.actor(), call.now);
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
    let (repo, actor, now) = (call.repo(), call.actor(), call.now);
    let pull = call
        .present()
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    let (head, branch, base_branch) = (
        pull.head.oid,
        pull.head.branch.clone(),
        pull.base.branch.clone(),
    );
    if call
        .text("expected_head_sha")
        .is_some_and(|expected| expected != head.to_string())
    {
        return Err(Refusal::new(
            422,
            "expected_head_sha is not the head of the pull request",
        ));
    }
    let base = call
        .present()
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
    let signature = call.model.signature(actor, now);
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

pub(super) fn reviews(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let number = call.pull_number()?;
    let all = call
        .seen()
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?
        .reviews
        .clone();
    let page = call.page(all);
    let repository = call.seen();
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
    let repository = call.present();
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
    let verdict = match call.text("event") {
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
    let commit = call.text("commit_id").and_then(|text| text.parse().ok());
    let body = call.text("body").unwrap_or_default().to_owned();
    if body.is_empty() && verdict != Verdict::Approve {
        return Err(Refusal::new(422, "Unprocessable Entity"));
    }
    let (repo, actor, now) = (call.repo(), call.actor(), call.now);
    let id = call
        .model
        .review_pull_by(repo, number, verdict, &body, commit, actor, now)?;
    review_reply(call, number, id)
}

pub(super) fn review(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (number, id) = (call.pull_number()?, call.number("review_id")?);
    review_reply(call, number, id)
}

pub(super) fn dismiss_review(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (number, id) = (call.pull_number()?, call.number("review_id")?);
    call.required("message")?;
    let (repo, now) = (call.repo(), call.now);
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
        .seen()
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?
        .review_comments
        .clone();
    let page = call.page(all);
    let repository = call.seen();
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
    let body = call.required("body")?;
    let commit: Oid = call
        .required("commit_id")?
        .parse()
        .map_err(|_| Refusal::new(422, "commit_id is not a valid SHA"))?;
    let path = call.required("path")?;
    let line = call.body["line"].as_u64();
    let in_reply_to = call.body["in_reply_to"].as_u64();
    let (repo, actor, now) = (call.repo(), call.actor(), call.now);
    let remark = LineRemark {
        path,
        line,
        body,
        in_reply_to,
    };
    let comment = call
        .model
        .comment_line_by(repo, number, remark, Some(commit), actor, now)?;
    let repository = call.present();
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
        .seen()
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
    let (repo, actor, now) = (call.repo(), call.actor(), call.now);
    for reviewer in named_reviewers(call) {
        let event = call
            .model
            .timeline_event(actor, now, Happening::ReviewRequested(reviewer));
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
    let repository = call.present();
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
    let repo = call.repo();
    let gone = named_reviewers(call);
    let pull = call
        .model
        .pull_mut(repo, number)
        .ok_or_else(Refusal::not_found)?;
    pull.requested_reviewers
        .retain(|reviewer| !gone.contains(reviewer));
    let repository = call.present();
    let pull = repository
        .pulls
        .get(&number)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(
        200,
        call.model.pull_json(repository, pull, false, None),
    ))
}
