//! Marks a draft as ready for review, by GraphQL because REST cannot.

use phileas_domain::model::PullNumber;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{DRAFT, Envelope, MARK_READY};
use crate::adapters::github::http::error;
use crate::adapters::github::http::retry::CallKind;
use crate::adapters::github::wire::{Connection, OfPull, OfRepository};
use crate::runtime::ports::{Disposition, Failure};

const WHAT: &str = "POST /graphql (MarkReady)";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pull {
    id: String,
    closed: bool,
    is_draft: bool,
    /// The latest change between draft and ready.
    turns: Connection<Value>,
}

impl Client {
    pub(crate) async fn mark_ready_once(&self, pull: PullNumber) -> Result<(), Failure> {
        let mut variables = self.repository_variables();
        variables["number"] = pull.0.into();
        let reply = self
            .run_query::<OfRepository<OfPull<Pull>>>("Draft", DRAFT, &variables, |_| false)
            .await?;
        let found = reply.data.repository.and_then(|found| found.pull_request);
        let Some(found) = found else {
            let said = "the pull request is gone";
            return Err(error::failure_saying(
                WHAT,
                &reply.answer,
                Disposition::NotFound,
                said,
            ));
        };
        let was_turned = found.turns.into_iter().next().is_some();
        if found.closed || !found.is_draft || was_turned {
            return Ok(());
        }
        let variables = json!({ "input": { "pullRequestId": found.id } });
        let answer = self
            .post_graph(WHAT, MARK_READY, &variables, CallKind::Write)
            .await?;
        self.budget.count_points(1);
        let envelope: Envelope<Value> = self.parse(WHAT, &answer)?;
        match envelope.errors.first() {
            Some(problem) => Err(self.graph_failure(WHAT, &answer, problem)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{json, set};

    fn shown(closed: bool, draft: bool, turns: &Value) -> Value {
        value!({ "data": { "repository": { "pullRequest": {
            "id": "PR_7", "closed": closed, "isDraft": draft, "turns": { "nodes": turns } } } } })
    }

    #[tokio::test]
    async fn an_unchanged_draft_is_marked() {
        let done = value!({ "data": { "markPullRequestReadyForReview": {
            "pullRequest": { "isDraft": false } } } });
        let set = set([
            json(200, &shown(false, true, &value!([]))),
            json(200, &done),
        ]);
        set.client.mark_ready_once(PullNumber(7)).await.unwrap();
        let seen = set.script.seen();
        assert_eq!(
            seen[1].body["variables"],
            value!({ "input": { "pullRequestId": "PR_7" } })
        );
    }

    #[tokio::test]
    async fn what_is_closed_ready_or_was_turned_back_is_left() {
        let turned = value!([{ "__typename": "ConvertToDraftEvent" }]);
        for shown in [
            shown(true, true, &value!([])),
            shown(false, false, &value!([])),
            shown(false, true, &turned),
        ] {
            let set = set([json(200, &shown)]);
            set.client.mark_ready_once(PullNumber(7)).await.unwrap();
            assert!(set.script.is_used_up());
        }
    }

    #[tokio::test]
    async fn a_refusal_is_told() {
        let refused = value!({ "data": { "markPullRequestReadyForReview": null }, "errors": [{
            "type": "FORBIDDEN", "message": "Resource not accessible by integration" }] });
        let set = set([
            json(200, &shown(false, true, &value!([]))),
            json(200, &refused),
        ]);
        let failure = set.client.mark_ready_once(PullNumber(7)).await.unwrap_err();
        assert_eq!(failure.disposition, Disposition::Denied);
    }
}
