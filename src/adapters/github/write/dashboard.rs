//! Opens the dashboard issue, after searching for an existing one, and edits it only if its text is still the one
//! that was read.
//!
//! GitHub offers no compare-and-swap for an issue's text. It is read right before it is written, so a checkbox is
//! lost only if a person ticks it between these two requests; it is then unticked again, without a message.

use std::time::Duration;

use http::StatusCode;
use phileas_domain::engine::text_digest;
use serde::Deserialize;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::OWN_ISSUES;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::notice_marks::NOTICE_LABEL;
use crate::adapters::github::wire::common::Opener;
use crate::adapters::github::wire::issue::Issue;
use crate::adapters::github::wire::{Connection, present};
use crate::runtime::ports::{Disposition, Failure};

/// How many pages of open issues with the label are read; each holds 100.
const MAX_PAGES: usize = 5;
/// The waits before searching again for an issue that may have been opened: replicas lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
const WHAT: &str = "POST /graphql (OwnIssues)";

#[derive(Deserialize)]
struct Repository {
    issues: Connection<Listed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    number: u64,
    body: String,
    viewer_did_author: bool,
    author_association: String,
    #[serde(deserialize_with = "present")]
    author: Option<Opener>,
}

impl Client {
    pub(crate) async fn open_dashboard_once(
        &self,
        known: Option<u64>,
        title: &str,
        marker: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        let known = match known {
            Some(number) => self.read_issue(number).await?,
            None => None,
        };
        let ours = match known {
            Some(issue) => Some(issue.number),
            None => self.find_own_issue(marker).await?,
        };
        self.ensure_label().await?;
        if let Some(number) = ours {
            let route = routes::UPDATE_ISSUE;
            let request = json!({ "body": body, "state": "open" });
            let answer = self
                .write_route(route, &[&number.to_string()], &request)
                .await?;
            let issue: Issue = self.parse(route, &require_success(route, answer)?)?;
            return self.add_notice_label(issue).await;
        }
        let route = routes::CREATE_ISSUE;
        let request = json!({ "title": title, "body": body, "labels": [NOTICE_LABEL] });
        let failure = match self.write_route(route, &[], &request).await {
            Ok(answer) => {
                let issue: Issue = self.parse(route, &require_success(route, answer)?)?;
                return self.add_notice_label(issue).await;
            }
            Err(failure) => failure,
        };
        if failure.disposition == Disposition::Unknown {
            for wait in LOOKS {
                self.pause.pause_for(wait).await;
                if let Ok(Some(number)) = self.find_own_issue(marker).await {
                    return Ok(number);
                }
            }
        }
        Err(failure)
    }

    pub(crate) async fn edit_dashboard_as_seen(
        &self,
        number: u64,
        seen: &str,
        body: &str,
    ) -> Result<(), Failure> {
        let route = routes::READ_ISSUE;
        let Some(issue) = self.read_issue(number).await? else {
            return Err(error::local_failure(
                route,
                "the issue is gone",
                Disposition::NotFound,
            ));
        };
        if text_digest(issue.body.as_deref().unwrap_or_default()) != seen {
            let said =
                format!("issue #{number} was edited meanwhile; the next tick reads it again");
            let disposition = Disposition::Retry { after: None };
            return Err(error::local_failure(route, &said, disposition));
        }
        let route = routes::UPDATE_ISSUE;
        let request = json!({ "body": body });
        let answer = self
            .write_route(route, &[&number.to_string()], &request)
            .await?;
        require_success(route, answer).map(drop)
    }

    /// An issue, open or closed; `None`: it is gone, or it is a pull request.
    async fn read_issue(&self, number: u64) -> Result<Option<Issue>, Failure> {
        let route = routes::READ_ISSUE;
        let answer = self.read_route(route, &[&number.to_string()], "").await?;
        if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::GONE) {
            return Ok(None);
        }
        let issue: Issue = self.parse(route, &require_success(route, answer)?)?;
        Ok(Some(issue).filter(|issue| issue.pull_request.is_none()))
    }

    /// The oldest open issue of this account with the marker.
    async fn find_own_issue(&self, marker: &str) -> Result<Option<u64>, Failure> {
        self.find_issue_with_marker(marker, false).await
    }

    /// The oldest open issue of this account with the marker. With `alias`, issues of other accounts that phileas may
    /// have used count as well.
    pub(crate) async fn find_issue_with_marker(
        &self,
        marker: &str,
        alias: bool,
    ) -> Result<Option<u64>, Failure> {
        let mut variables = self.repository_variables();
        for _ in 0..MAX_PAGES {
            let repository = self
                .query_repository::<Repository>("OwnIssues", OWN_ISSUES, &variables, |_| false)
                .await?;
            let next = repository.issues.next();
            let mut ours = repository.issues.into_iter();
            let ours = ours.find(|one| {
                let (opener, standing) = (one.author.as_ref(), &one.author_association);
                let may_be =
                    one.viewer_did_author || alias && Opener::may_be_phileas(opener, standing);
                may_be && one.body.contains(marker)
            });
            if let Some(issue) = ours {
                return Ok(Some(issue.number));
            }
            let Some(after) = next else {
                return Ok(None);
            };
            variables["after"] = after.into();
        }
        let said =
            "too many open issues carry the label `phileas` to tell whether this one is open";
        Err(error::local_failure(WHAT, said, Disposition::Refused))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::scripted::{Set, json, lost, set};

    const MARKER: &str = "<!-- phileas:notice:dashboard -->";

    fn listed(issues: &[(u64, bool, &str)]) -> Value {
        let nodes: Vec<_> = issues
            .iter()
            .map(|(number, ours, body)| {
                value!({ "number": number, "viewerDidAuthor": ours, "body": body,
                    "authorAssociation": "OWNER", "author": { "__typename": "User" } })
            })
            .collect();
        value!({ "data": { "repository": { "issues": {
            "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": nodes } } } })
    }

    fn issue(number: u64, body: &str) -> Value {
        value!({ "number": number, "state": "closed", "body": body, "labels": [{ "name": "phileas" }] })
    }

    async fn open(set: &Set, known: Option<u64>) -> Result<u64, Failure> {
        set.client
            .open_dashboard_once(known, "title", MARKER, "text")
            .await
    }

    #[tokio::test]
    async fn our_dashboard_is_reopened_and_no_other_issue_taken() {
        let label = || json(200, &value!({ "name": "phileas" }));
        let list = listed(&[
            (4, false, MARKER),
            (5, true, "else"),
            (6, true, MARKER),
            (7, true, MARKER),
        ]);
        let found = set([json(200, &list), label(), json(200, &issue(6, "text"))]);
        assert_eq!(open(&found, None).await.unwrap(), 6);
        let seen = found.script.seen();
        assert!(seen[2].line.starts_with("PATCH") && seen[2].line.ends_with("/issues/6"));
        assert_eq!(seen[2].body, value!({ "body": "text", "state": "open" }));

        let known = set([
            json(200, &issue(3, "cut")),
            label(),
            json(200, &issue(3, "text")),
        ]);
        assert_eq!(open(&known, Some(3)).await.unwrap(), 3);

        let gone = json(410, &value!({ "message": "This issue was deleted" }));
        let none = json(200, &listed(&[(4, false, MARKER)]));
        let made = json(201, &issue(9, "text"));
        let opened = set([gone, none, label(), made]);
        assert_eq!(open(&opened, Some(3)).await.unwrap(), 9);
        assert!(opened.script.is_used_up());
    }

    #[tokio::test]
    async fn a_lost_answer_is_looked_up_and_never_repeated() {
        let none = || json(200, &listed(&[]));
        let label = || json(200, &value!({ "name": "phileas" }));
        let found = || json(200, &listed(&[(9, true, MARKER)]));
        let set = set([none(), label(), lost(), none(), found()]);
        assert_eq!(open(&set, None).await.unwrap(), 9);
        let lines = set.script.lines();
        let posts = lines
            .iter()
            .filter(|line| line.starts_with("POST") && line.ends_with("/issues"));
        assert_eq!(posts.count(), 1);
    }

    #[tokio::test]
    async fn r23_a_box_ticked_meanwhile_is_not_overwritten() {
        let edit = async |stands: &str, more: usize| {
            let answers = [json(200, &issue(7, stands)), json(200, &issue(7, "new"))];
            let set = set(answers.into_iter().take(1 + more));
            let seen = text_digest("- [ ] a\n- [ ] b");
            let done = set.client.edit_dashboard_as_seen(7, &seen, "new").await;
            (done, set.script.lines().len())
        };
        let (done, requests) = edit("- [ ] a\r\n- [ ] b\r\n", 1).await;
        assert!(done.is_ok() && requests == 2, "{done:?}");
        let (done, requests) = edit("- [x] a\n- [ ] b", 0).await;
        let retry = Disposition::Retry { after: None };
        assert_eq!((done.unwrap_err().disposition, requests), (retry, 1));
    }
}
