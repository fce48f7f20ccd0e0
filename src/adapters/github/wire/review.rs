//! The answer to `reviews.graphql`: what reviewers of a pull request wrote.

use jiff::Timestamp;
use phileas_domain::engine::{ReviewComment, ReviewThread, Reviews};
use phileas_domain::model::Oid;
use serde::Deserialize;

use super::common::Committer;
use super::subject::Account;
use super::{Connection, present};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pull {
    head_ref_oid: String,
    commits: Connection<PullCommit>,
    review_threads: Counted<Thread>,
    #[serde(deserialize_with = "present")]
    latest_opinionated_reviews: Option<Counted<Review>>,
}

/// The newest of a list, with how many there are.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Deserialize<'de>")]
struct Counted<T> {
    total_count: usize,
    nodes: Vec<Option<T>>,
}

#[derive(Debug, Deserialize)]
struct PullCommit {
    commit: Commit,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    oid: String,
    committed_date: Timestamp,
    #[serde(default)]
    committer: Option<Committer>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    is_resolved: bool,
    path: String,
    /// Null if later commits removed the line.
    #[serde(deserialize_with = "present")]
    line: Option<u64>,
    comments: Counted<Comment>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Comment {
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    created_at: Timestamp,
    /// Whether a maintainer has hidden it.
    is_minimized: bool,
    body: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    state: String,
    created_at: Timestamp,
    body: String,
}

impl<T> Counted<T> {
    fn is_truncated(&self) -> bool {
        self.total_count > self.nodes.len()
    }
}

impl From<Pull> for Reviews {
    fn from(pull: Pull) -> Self {
        let newest = pull.commits.into_iter().last();
        let newest = newest.filter(|one| one.commit.oid == pull.head_ref_oid);
        let committed_at = newest.as_ref().map(|one| one.commit.committed_date);
        let by_jules = newest
            .and_then(|one| one.commit.committer)
            .is_some_and(|by| by.is_jules());
        let reviews = pull.latest_opinionated_reviews;
        let mut more = pull.review_threads.is_truncated()
            || reviews.as_ref().is_some_and(Counted::is_truncated);
        let mut remarks: Vec<(Timestamp, ReviewThread)> = Vec::new();
        for thread in pull.review_threads.nodes.into_iter().flatten() {
            if !thread.is_resolved {
                more |= thread.comments.is_truncated();
                remarks.extend(thread.into_remark());
            }
        }
        let reviews = reviews.into_iter().flat_map(|list| list.nodes);
        remarks.extend(reviews.flatten().filter_map(Review::into_remark));
        remarks.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        Self {
            head: Oid::new(pull.head_ref_oid),
            committed_at,
            by_jules,
            remarks: remarks.into_iter().map(|(_, remark)| remark).collect(),
            more,
        }
    }
}

impl Thread {
    /// The remark, with the time of its newest comment.
    fn into_remark(self) -> Option<(Timestamp, ReviewThread)> {
        let place = match self.line {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path,
        };
        let comments = self.comments.nodes.into_iter().flatten();
        let shown: Vec<Comment> = comments.filter(|comment| !comment.is_minimized).collect();
        let at = shown.iter().map(|comment| comment.created_at).max()?;
        let said = shown.into_iter().map(|comment| ReviewComment {
            author: comment.author.map(Into::into),
            text: comment.body,
        });
        let remark = ReviewThread {
            place: Some(place),
            said: said.collect(),
        };
        Some((at, remark))
    }
}

impl Review {
    fn into_remark(self) -> Option<(Timestamp, ReviewThread)> {
        let asks = self.state == "CHANGES_REQUESTED" && !self.body.trim().is_empty();
        asks.then(|| {
            let said = ReviewComment {
                author: self.author.map(Into::into),
                text: self.body,
            };
            let remark = ReviewThread {
                place: None,
                said: vec![said],
            };
            (self.created_at, remark)
        })
    }
}
