//! Resolves the fields of review threads.

use super::connection::{connection, names};
use super::execute::{Args, Fault, Run};
use super::thing::{Thing, Val};
use crate::github::render::stamp;
use crate::github::repository::ReviewComment;
use crate::github::{Pull, RepoId, node};

type Resolved = Result<Val, Fault>;

impl Run<'_> {
    /// A comment that answers none begins a thread.
    pub(super) fn review_threads(&self, repo: RepoId, pull: &Pull, args: &Args) -> Resolved {
        let first = pull.review_comments.iter();
        let first = first.filter(|comment| comment.in_reply_to.is_none());
        let items = first
            .map(|comment| Val::Thing(Thing::ReviewThread(repo, pull.number, comment.clone())))
            .collect();
        connection(
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
            "id" => node::encode("PRRT", repo, first.id).into(),
            "isResolved" => pull.resolved.contains(&first.id).into(),
            "path" => first.path.as_str().into(),
            "line" => line(first),
            _ => {
                let of_it = pull.review_comments.iter().filter(|comment| {
                    comment.id == first.id || comment.in_reply_to == Some(first.id)
                });
                let items = of_it
                    .map(|comment| Val::Thing(Thing::ReviewComment(repo, comment.clone())))
                    .collect();
                connection("comments", names!("PullRequestReviewComment"), items, args)?
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
            "id" => node::encode("PRRC", repo, comment.id).into(),
            "fullDatabaseId" => comment.id.to_string().into(),
            "author" => Val::Thing(Thing::Account(comment.author)),
            "body" => comment.body.as_str().into(),
            "path" => comment.path.as_str().into(),
            "line" => line(comment),
            "createdAt" => stamp(comment.created_at).into(),
            _ => false.into(),
        }
    }
}

fn line(comment: &ReviewComment) -> Val {
    comment.line.map_or(Val::NULL, Val::from)
}
