//! Reads what happened on a pull request, to know whether people have taken it up.

use phileas_domain::engine::{Actor, PullActivity};
use phileas_domain::model::PullNumber;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{PULL_ACTIVITY, is_missing_number};
use crate::adapters::github::http::error;
use crate::adapters::github::wire::pull_activity::Pull;
use crate::adapters::github::wire::subject::Viewer;
use crate::adapters::github::wire::{OfPull, present};
use crate::runtime::ports::{Disposition, Failure};

#[derive(Deserialize)]
struct Data {
    viewer: Viewer,
    #[serde(deserialize_with = "present")]
    repository: Option<OfPull<Pull>>,
}

impl Client {
    /// The newest events of a pull request; `None`: there is no such pull request, or GitHub does not list its events.
    pub(crate) async fn pull_activity_of(
        &self,
        pull: PullNumber,
    ) -> Result<Option<PullActivity>, Failure> {
        match self.query_activity(pull).await {
            Err(failure) if error::is_lasting(&failure) => {
                tracing::warn!(pull = pull.0, %failure, "GitHub does not list what happened on a pull request");
                Ok(None)
            }
            read => read,
        }
    }

    async fn query_activity(&self, pull: PullNumber) -> Result<Option<PullActivity>, Failure> {
        let mut variables = self.repository_variables();
        variables["number"] = pull.0.into();
        let reply = self
            .run_query::<Data>("PullActivity", PULL_ACTIVITY, &variables, is_missing_number)
            .await?;
        let repository = reply.data.repository.ok_or_else(|| {
            error::failure_saying(
                "POST /graphql (PullActivity)",
                &reply.answer,
                Disposition::NotFound,
                "the repository is gone",
            )
        })?;
        let viewer = Actor::from(reply.data.viewer);
        let pull = repository.pull_request;
        Ok(pull.map(|pull| pull.into_activity(&viewer)))
    }
}

#[cfg(test)]
mod tests {
    use phileas_domain::engine::PullChange;
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::http::retry::READ_ATTEMPTS;
    use crate::adapters::github::scripted::{json, set};

    const PULL: PullNumber = PullNumber(7);
    const AT: &str = "2026-01-05T01:00:00Z";

    fn by(login: &str, kind: &str) -> Value {
        value!({ "__typename": kind, "login": login, "databaseId": 5 })
    }

    fn answer(viewer: &str, items: &[Value], more: bool) -> Value {
        value!({ "data": { "viewer": { "login": viewer, "databaseId": 9 },
            "repository": { "pullRequest": {
                "headRefOid": "1f", "labels": { "nodes": [{ "name": "phileas:keep" }, { "name": "bug" }] },
                "timelineItems": { "pageInfo": { "hasPreviousPage": more }, "nodes": items } } } } })
    }

    #[tokio::test]
    async fn what_people_and_bots_did_is_told_apart_and_own_comments_are_left_out() {
        let comment = |who: Value, own: bool, body: &str| {
            value!({ "__typename": "IssueComment", "author": who, "createdAt": AT,
                "viewerDidAuthor": own, "body": body })
        };
        let commit = |author: &str, committer: Value| {
            value!({ "__typename": "PullRequestCommit", "commit": { "committedDate": AT,
                "author": { "email": author }, "committer": committer } })
        };
        let review = |state: &str| {
            value!({ "__typename": "PullRequestReview", "author": by("ada", "User"),
                "createdAt": AT, "state": state })
        };
        let items = [
            comment(
                by("ada", "User"),
                true,
                "**phileas**\n\n<!-- phileas:status -->",
            ),
            comment(by("ada", "User"), true, "I take it."),
            comment(by("codecov", "Bot"), false, "<!-- phileas:status -->"),
            commit(
                "161369871+google-labs-jules[bot]@users.noreply.github.com",
                Value::Null,
            ),
            commit("ada@example.com", value!({ "email": null })),
            review("APPROVED"),
            review("CHANGES_REQUESTED"),
            review("COMMENTED"),
            value!({ "__typename": "ReopenedEvent", "actor": null, "createdAt": AT }),
            value!({ "__typename": "UnlabeledEvent", "actor": by("ada", "User"), "createdAt": AT,
                "label": { "name": "phileas:no-op" } }),
        ];
        let set = set([json(200, &answer("app[bot]", &items, false))]);
        let read = set.client.pull_activity_of(PULL).await.unwrap().unwrap();
        assert!(!read.more && !read.as_person);
        assert_eq!(read.head, "1f".into());
        assert_eq!(read.labels.into_iter().collect::<Vec<_>>(), ["keep"]);
        let found: Vec<_> = read.events.iter().map(|event| event.what.clone()).collect();
        let expected = [
            PullChange::Commented,
            PullChange::Commented,
            PullChange::Committed { by_bot: true },
            PullChange::Committed { by_bot: false },
            PullChange::Approved,
            PullChange::RequestedChanges,
            PullChange::Reviewed,
            PullChange::Reopened,
            PullChange::Unlabelled("phileas:no-op".to_owned()),
        ];
        assert_eq!(found, expected);
        let is_bot = |index: usize| read.events[index].actor.as_ref().unwrap().bot;
        assert_eq!((is_bot(0), is_bot(1)), (false, true));
    }

    #[tokio::test]
    async fn a_persons_token_and_a_cut_list_are_known() {
        let set = set([json(200, &answer("ada", &[], true))]);
        let read = set.client.pull_activity_of(PULL).await.unwrap().unwrap();
        assert!(read.more && read.as_person);
    }

    #[tokio::test]
    async fn what_github_never_lists_is_none() {
        for (status, is_final) in [
            (422, true),
            (502, true),
            (504, true),
            (403, false),
            (500, false),
        ] {
            let replies = (0..READ_ATTEMPTS).map(|_| json(status, &value!({ "message": "no" })));
            let set = set(replies);
            let read = set.client.pull_activity_of(PULL).await;
            assert_eq!(read == Ok(None), is_final, "{status}: {read:?}");
        }
    }

    #[tokio::test]
    async fn one_that_is_gone_is_none() {
        let gone = value!({ "data": { "viewer": { "login": "ada", "databaseId": 9 }, "repository": { "pullRequest": null } },
            "errors": [{ "type": "NOT_FOUND", "message": "no", "path": ["repository", "pullRequest"] }] });
        let set = set([json(200, &gone)]);
        assert_eq!(set.client.pull_activity_of(PULL).await.unwrap(), None);
    }
}
