//! Resolves the fields of reviews and review threads.

use super::connection::{names, page_connection};
use super::execute::{Args, Fault, Run};
use super::graph_object::{GraphObject, Val};
use crate::github::render::format_timestamp;
use crate::github::repository::{Review, ReviewComment};
use crate::github::{Pull, RepoId, Role, Verdict, node_id};

type Resolved = Result<Val, Fault>;

impl Run<'_> {
    pub(super) fn all_reviews(&self, repo: RepoId, pull: &Pull, args: &Args) -> Resolved {
        let states = args.words_arg("states");
        let author = args.text_arg("author");
        let of_state = |review: &&Review| {
            let states = states.as_ref();
            states.is_none_or(|states| states.contains(&review_state(review)))
        };
        let of_author = |review: &&Review| {
            author.is_none_or(|login| self.model.login(review.author).eq_ignore_ascii_case(login))
        };
        let reviews = pull.reviews.iter().filter(of_state).filter(of_author);
        review_connection("reviews", repo, pull, reviews, args)
    }

    /// Each reviewer's latest review; where opinions are asked for, their latest that is not a mere comment.
    pub(super) fn latest_reviews(
        &self,
        repo: RepoId,
        pull: &Pull,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let mut latest: Vec<&Review> = Vec::new();
        for review in &pull.reviews {
            if field == "latestOpinionatedReviews" && review.verdict == Verdict::Comment {
                continue;
            }
            let writes = self.model.role(repo, review.author) >= Role::Write;
            if args.get("writersOnly").as_bool() == Some(true) && !writes {
                continue;
            }
            latest.retain(|other| other.author != review.author);
            latest.push(review);
        }
        review_connection(field, repo, pull, latest.into_iter(), args)
    }

    pub(super) fn review_field(
        &self,
        repo: RepoId,
        number: u64,
        review: &Review,
        field: &str,
    ) -> Resolved {
        let repository = self.visible_repository(repo)?;
        Ok(match field {
            "id" => node_id::encode_id("PRR", repo, review.id).into(),
            "databaseId" => (review.id % 2_147_483_647).into(),
            "fullDatabaseId" => review.id.to_string().into(),
            "author" => Val::Object(GraphObject::Account(review.author)),
            "authorAssociation" => self
                .model
                .author_association(repository, review.author)
                .into(),
            "state" => review_state(review).into(),
            "body" => review.body.as_str().into(),
            "isMinimized" => review.minimized.into(),
            "createdAt" | "submittedAt" => format_timestamp(review.at).into(),
            "commit" => Val::Object(GraphObject::Object(repo, review.commit)),
            _ => self
                .model
                .web_url(
                    repo,
                    &format!("/pull/{number}#pullrequestreview-{}", review.id),
                )
                .into(),
        })
    }

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

fn review_connection<'a>(
    field: &str,
    repo: RepoId,
    pull: &Pull,
    reviews: impl Iterator<Item = &'a Review>,
    args: &Args,
) -> Resolved {
    let items = reviews
        .map(|review| Val::Object(GraphObject::Review(repo, pull.number, review.clone())))
        .collect();
    page_connection(field, names!("PullRequestReview"), items, args)
}

fn review_state(review: &Review) -> &'static str {
    if review.dismissed {
        "DISMISSED"
    } else {
        review.verdict.review_state()
    }
}

/// The review decision that follows from each reviewer's latest review.
pub(super) fn review_decision(pull: &Pull) -> Option<&'static str> {
    let mut latest: Vec<&Review> = Vec::new();
    for review in pull
        .reviews
        .iter()
        .filter(|review| review.verdict != Verdict::Comment && !review.dismissed)
    {
        latest.retain(|other| other.author != review.author);
        latest.push(review);
    }
    if latest
        .iter()
        .any(|review| review.verdict == Verdict::RequestChanges)
    {
        Some("CHANGES_REQUESTED")
    } else if latest
        .iter()
        .any(|review| review.verdict == Verdict::Approve)
    {
        Some("APPROVED")
    } else {
        (!pull.requested_reviewers.is_empty()).then_some("REVIEW_REQUIRED")
    }
}

fn comment_line(comment: &ReviewComment) -> Val {
    comment.line.map_or(Val::NULL, Val::from)
}
