//! Reads what people wrote on a closed pull request.

use phileas_domain::engine::RefusalTexts;
use phileas_domain::model::PullNumber;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::REFUSAL_TEXTS;
use crate::adapters::github::wire::refusal_texts::Pull;
use crate::runtime::ports::Failure;

/// How many of the newest comments and of the newest reviews are read; fewer if that is too much for one answer.
const READ: [(usize, usize); 2] = [(50, 20), (10, 5)];

impl Client {
    /// The texts that are not hidden; `None`: there is no such pull request.
    pub(crate) async fn refusal_texts_of(
        &self,
        pull: PullNumber,
        with_reviews: bool,
    ) -> Result<Option<RefusalTexts>, Failure> {
        let sizes = READ.map(|(comments, reviews)| {
            json!({ "comments": comments, "reviews": reviews, "withReviews": with_reviews })
        });
        let read = self.query_pull::<Pull>("RefusalTexts", REFUSAL_TEXTS, pull, sizes);
        Ok(read.await?.map(RefusalTexts::from))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::scripted::{json, set};

    const PULL: PullNumber = PullNumber(7);

    fn by(login: &str, kind: &str) -> Value {
        value!({ "__typename": kind, "login": login, "databaseId": 5 })
    }

    fn comment(number: u64, body: &str, hidden: bool) -> Value {
        value!({ "fullDatabaseId": number.to_string(), "isMinimized": hidden, "body": body })
    }

    fn review(who: Value, state: &str, day: u32, body: &str, hidden: bool) -> Value {
        let at = format!("2026-01-{day:02}T00:00:00Z");
        value!({ "author": who, "state": state, "createdAt": at, "isMinimized": hidden, "body": body })
    }

    fn answer(comments: &[Value], reviews: Option<&[Value]>) -> Value {
        let mut pull = value!({ "comments": { "nodes": comments } });
        if let Some(reviews) = reviews {
            pull["latestOpinionatedReviews"] = value!({ "nodes": reviews });
        }
        value!({ "data": { "repository": { "pullRequest": pull } } })
    }

    #[tokio::test]
    async fn hidden_comments_are_left_out_and_reviews_are_requested_only_where_wanted() {
        let comments = [
            comment(4_000_000_001, "one", false),
            comment(4_000_000_002, "two", true),
        ];
        let set = set([json(200, &answer(&comments, None))]);
        let read = set.client.refusal_texts_of(PULL, false).await;
        let read = read.unwrap().unwrap();
        let expected = [(4_000_000_001, "one".to_owned())];
        assert_eq!(read.comments, expected.into());
        assert!(read.reviews.is_empty());
        let sent = &set.script.seen()[0].body;
        assert_eq!(sent["variables"]["withReviews"], false);
    }

    #[tokio::test]
    async fn only_shown_reviews_of_people_that_request_changes_count() {
        let ada = || by("ada", "User");
        let reviews = [
            review(ada(), "CHANGES_REQUESTED", 5, "older", false),
            review(ada(), "CHANGES_REQUESTED", 6, "newer", false),
            review(ada(), "APPROVED", 7, "fine", false),
            review(ada(), "DISMISSED", 7, "no more", false),
            review(ada(), "CHANGES_REQUESTED", 7, "hidden", true),
            review(by("helper", "Bot"), "CHANGES_REQUESTED", 7, "a bot", false),
            review(Value::Null, "CHANGES_REQUESTED", 7, "a ghost", false),
        ];
        let set = set([json(200, &answer(&[], Some(&reviews)))]);
        let read = set.client.refusal_texts_of(PULL, true).await;
        assert_eq!(read.unwrap().unwrap().reviews, ["newer", "older"]);
    }

    #[tokio::test]
    async fn a_pull_request_that_is_gone_has_no_texts() {
        let gone = value!({ "data": { "repository": { "pullRequest": null } },
            "errors": [{ "type": "NOT_FOUND", "message": "no", "path": ["repository", "pullRequest"] }] });
        let set = set([json(200, &gone)]);
        let read = set.client.refusal_texts_of(PULL, true).await;
        assert_eq!(read.unwrap(), None);
    }
}
