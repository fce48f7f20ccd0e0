//! Resolves the fields of review threads.

use super::connection::{names, page_connection};
use super::execute::{Args, Fault, Run};
use super::graph_object::{GraphObject, Val};
use crate::github::render::format_timestamp;
use crate::github::repository::ReviewComment;
use crate::github::{Pull, RepoId, node_id};

type Resolved = Result<Val, Fault>;

impl Run<'_> {
    /// A comment that answers none begins a thread.
    pub(super) fn review_threads(&self, repo: RepoId, pull: &Pull, args: &Args) -> Resolved {
        let first = pull.review_comments.iter();
        let first = first.filter(|comment| comment.in_reply_to.is_none());
        let items = first
            .map(|comment| {
                Val::Object(GraphObject::ReviewThread(
                    repo,
                    pull.number,
                    comment.clone(),
                ))
            })
            .collect();
        page_connection(
            "reviewThreads",
            names!("PullRequestReviewThread"),
            items,
            args,
        )
    }

    pub(super) fn review_thread_field(
        &self,
        repo: RepoId,
        number: u64,
        first: &ReviewComment,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let pull = self.model.pull(repo, number).ok_or_else(|| {
            Fault::new("NOT_FOUND", "Could not resolve to a PullRequest".to_owned())
        })?;
        Ok(match field {
            "id" => node_id::encode_id("PRRT", repo, first.id).into(),
            "isResolved" => pull.resolved.contains(&first.id).into(),
            "path" => first.path.as_str().into(),
            "line" => comment_line(first),
            _ => {
                let of_it = pull.review_comments.iter().filter(|comment| {
                    comment.id == first.id || comment.in_reply_to == Some(first.id)
                });
                let items = of_it
                    .map(|comment| Val::Object(GraphObject::ReviewComment(repo, comment.clone())))
                    .collect();
                page_connection("comments", names!("PullRequestReviewComment"), items, args)?
            }
        })
    }

    pub(super) fn review_comment_field(
        &self,
        repo: RepoId,
        comment: &ReviewComment,
        field: &str,
    ) -> Val {
        match field {
            "id" => node_id::encode_id("PRRC", repo, comment.id).into(),
            "fullDatabaseId" => comment.id.to_string().into(),
            "author" => Val::Object(GraphObject::Account(comment.author)),
            "body" => comment.body.as_str().into(),
            "path" => comment.path.as_str().into(),
            "line" => comment_line(comment),
            "createdAt" => format_timestamp(comment.created_at).into(),
            _ => false.into(),
        }
    }
}

fn comment_line(comment: &ReviewComment) -> Val {
    comment.line.map_or(Val::NULL, Val::from)
}
