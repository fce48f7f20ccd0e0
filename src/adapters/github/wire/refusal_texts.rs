//! The answer to `refusal_texts.graphql`: what people wrote on a closed pull request.

use std::cmp::Reverse;

use jiff::Timestamp;
use phileas_domain::engine::{Actor, RefusalTexts};
use serde::Deserialize;

use super::subject::Account;
use super::{Connection, present};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pull {
    comments: Connection<Comment>,
    /// Missing where it was not requested.
    #[serde(default)]
    latest_opinionated_reviews: Option<Connection<Review>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Comment {
    full_database_id: Option<String>,
    /// Whether a person has hidden it.
    is_minimized: bool,
    body: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    state: String,
    created_at: Timestamp,
    /// Whether a person has hidden it.
    is_minimized: bool,
    body: String,
}

impl Review {
    /// Whether it is a person's. GitHub lists only those of accounts with write access.
    fn is_quoted(&self) -> bool {
        let author = self.author.clone().map(Actor::from);
        self.state == "CHANGES_REQUESTED"
            && !self.is_minimized
            && author.is_some_and(|author| !author.bot)
    }
}

impl From<Pull> for RefusalTexts {
    fn from(pull: Pull) -> Self {
        let comments = pull.comments.into_iter();
        let shown = comments.filter(|comment| !comment.is_minimized);
        let comments = shown.filter_map(|comment| {
            let number = comment.full_database_id?.parse().ok()?;
            Some((number, comment.body))
        });
        let reviews = pull.latest_opinionated_reviews.into_iter().flatten();
        let mut reviews: Vec<Review> = reviews.filter(Review::is_quoted).collect();
        reviews.sort_by_key(|review| Reverse(review.created_at));
        Self {
            comments: comments.collect(),
            reviews: reviews.into_iter().map(|review| review.body).collect(),
        }
    }
}
