//! Reads what reviewers of a pull request still want changed: unresolved threads, and the newest reviews that request
//! changes.

use phileas_domain::engine::Reviews;
use phileas_domain::model::PullNumber;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::REVIEWS;
use crate::adapters::github::wire::review::Pull;
use crate::runtime::ports::Failure;

/// How many of the newest threads are read, and how many comments of each; fewer if that is too much for one answer.
const READ: [(usize, usize); 2] = [(50, 10), (15, 3)];

impl Client {
    /// The open review remarks; `None`: there is no such pull request.
    pub(crate) async fn reviews_of(&self, pull: PullNumber) -> Result<Option<Reviews>, Failure> {
        let sizes =
            READ.map(|(threads, comments)| json!({ "threads": threads, "comments": comments }));
        let read = self.query_pull::<Pull>("Reviews", REVIEWS, pull, sizes);
        Ok(read.await?.map(Reviews::from))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::scripted::{json, set};
    use crate::adapters::transport::TransportError;

    const PULL: PullNumber = PullNumber(7);

    fn by(login: &str, kind: &str) -> Value {
        value!({ "__typename": kind, "login": login, "databaseId": 5 })
    }

    fn comment(who: Value, at: &str, body: &str, hidden: bool) -> Value {
        value!({ "author": who, "createdAt": at, "isMinimized": hidden, "body": body })
    }

    fn thread(resolved: bool, line: Option<u64>, comments: &[Value]) -> Value {
        value!({ "isResolved": resolved, "path": "src/a.rs", "line": line,
            "comments": { "totalCount": comments.len(), "nodes": comments } })
    }

    fn answer(threads: &[Value], reviews: &[Value]) -> Value {
        value!({ "data": { "repository": { "pullRequest": {
            "headRefOid": "1f",
            "commits": { "nodes": [{ "commit": { "oid": "1f", "committedDate": "2026-01-05T00:00:00Z" } }] },
            "reviewThreads": { "totalCount": threads.len(), "nodes": threads },
            "latestOpinionatedReviews": { "totalCount": reviews.len(), "nodes": reviews } } } } })
    }

    #[tokio::test]
    async fn what_is_open_is_read_the_newest_first() {
        let ada = || by("ada", "User");
        let threads = [
            thread(
                true,
                Some(1),
                &[comment(ada(), "2026-01-05T01:00:00Z", "done", false)],
            ),
            thread(
                false,
                Some(7),
                &[
                    comment(ada(), "2026-01-05T01:00:00Z", "name it", false),
                    comment(by("helper", "Bot"), "2026-01-05T02:00:00Z", "spam", true),
                    comment(by("helper", "Bot"), "2026-01-05T02:00:00Z", "a map", false),
                ],
            ),
            thread(
                false,
                None,
                &[comment(Value::Null, "2026-01-05T00:30:00Z", "gone", false)],
            ),
        ];
        let review = |state: &str, body: &str| value!({ "author": ada(), "state": state, "createdAt": "2026-01-05T03:00:00Z", "body": body });
        let reviews = [
            review("APPROVED", "fine"),
            review("CHANGES_REQUESTED", "too long"),
            review("CHANGES_REQUESTED", " "),
        ];
        let set = set([json(200, &answer(&threads, &reviews))]);
        let read = set.client.reviews_of(PULL).await.unwrap().unwrap();
        assert_eq!(read.head, "1f".into());
        assert_eq!(read.committed_at, "2026-01-05T00:00:00Z".parse().ok());
        assert!(!read.more);
        let places: Vec<_> = read
            .remarks
            .iter()
            .map(|one| one.place.as_deref())
            .collect();
        assert_eq!(places, [None, Some("src/a.rs:7"), Some("src/a.rs")]);
        let texts: Vec<Vec<_>> = read
            .remarks
            .iter()
            .map(|one| one.said.iter().map(|said| said.text.as_str()).collect())
            .collect();
        assert_eq!(
            texts,
            [vec!["too long"], vec!["name it", "a map"], vec!["gone"]]
        );
        let who = read.remarks[1].said[1].author.as_ref().unwrap();
        assert!(who.bot && who.login.as_str() == "helper[bot]");
        assert!(read.remarks[2].said[0].author.is_none());
    }

    #[tokio::test]
    async fn where_they_are_too_many_fewer_are_read_and_that_is_known() {
        let mut cut = answer(&[], &[]);
        cut["data"]["repository"]["pullRequest"]["reviewThreads"]["totalCount"] = 90.into();
        let too_large = Err(TransportError::TooLarge { limit: 32 << 20 });
        let set = set([too_large, json(200, &cut)]);
        let read = set.client.reviews_of(PULL).await.unwrap().unwrap();
        assert!(read.more && read.remarks.is_empty());
        let asked: Vec<_> = set
            .script
            .seen()
            .iter()
            .map(|seen| seen.body["variables"]["threads"].clone())
            .collect();
        assert_eq!(asked, [50, 15]);
    }

    #[tokio::test]
    async fn one_that_is_gone_is_none() {
        let gone = value!({ "data": { "repository": { "pullRequest": null } },
            "errors": [{ "type": "NOT_FOUND", "message": "no", "path": ["repository", "pullRequest"] }] });
        let set = set([json(200, &gone)]);
        assert_eq!(set.client.reviews_of(PULL).await.unwrap(), None);
    }
}
