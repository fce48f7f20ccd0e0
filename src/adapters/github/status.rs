//! What people see of a request on its issue or pull request: eyes, the label off, and one status comment.
//!
//! The comment is looked for before every write: GitHub says which comments are ours, and the marker says which of these
//! it is. So a forged marker is not taken for ours, nobody else's comment is ever edited, and a first comment whose
//! answer was lost is found instead of being written twice.

use std::time::Duration;

use http::StatusCode;
use phileas_domain::engine::LABEL_PREFIX;
use serde::Deserialize;
use serde_json::json;

use crate::runtime::ports::{Disposition, Failure};

use super::graphql::OWN_COMMENTS;
use super::request::success;
use super::retry::Nature;
use super::wire::issue::Created;
use super::wire::present;
use super::wire::subject::Thread;
use super::{Client, error, routes};

/// How many pages of comments are looked through, newest first; each holds 100.
const MAX_PAGES: usize = 10;
/// The waits before looking again for what may have been written: replicas lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
const WHAT: &str = "POST /graphql (OwnComments)";

#[derive(Deserialize)]
struct Found {
    #[serde(deserialize_with = "present")]
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(deserialize_with = "present")]
    thread: Option<Thread>,
}

impl Client {
    pub(in super::super) async fn look_with_eyes(
        &self,
        thread: u64,
        comment: Option<u64>,
    ) -> Result<(), Failure> {
        let (route, id) = match comment {
            Some(comment) => (routes::REACT_TO_COMMENT, comment),
            None => (routes::REACT, thread),
        };
        let wish = json!({ "content": "eyes" });
        success(route, self.write(route, &[&id.to_string()], &wish).await?).map(drop)
    }

    pub(in super::super) async fn take_off_label(
        &self,
        thread: u64,
        label: &str,
    ) -> Result<(), Failure> {
        let route = routes::REMOVE_LABEL;
        if !label.to_ascii_lowercase().starts_with(LABEL_PREFIX) {
            let said = format!("`{label}` is not a label of ours");
            return Err(error::plain(route, &said, Disposition::Refused));
        }
        let values = [&*thread.to_string(), label];
        let answer = self.rest(route, &values, "", Nature::Write, None).await?;
        // It is off already.
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        success(route, answer).map(drop)
    }

    pub(in super::super) async fn tell_status_once(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        let wish = json!({ "body": body });
        if let Some(id) = self.own_comment(thread, known, marker).await? {
            let route = routes::UPDATE_COMMENT;
            let answer = self.write(route, &[&id.to_string()], &wish).await?;
            return success(route, answer).map(|_| id);
        }
        let route = routes::CREATE_COMMENT;
        let failure = match self.write(route, &[&thread.to_string()], &wish).await {
            Ok(answer) => {
                let answer = success(route, answer)?;
                let created: Created = self.parse(route, &answer)?;
                return Ok(created.id);
            }
            Err(failure) => failure,
        };
        if failure.disposition == Disposition::Unknown {
            for wait in LOOKS {
                self.pause.pause(wait).await;
                if let Ok(Some(id)) = self.own_comment(thread, known, marker).await {
                    return Ok(id);
                }
            }
        }
        Err(failure)
    }

    /// The comment of ours that carries the marker: the known one, or else the oldest.
    async fn own_comment(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
    ) -> Result<Option<u64>, Failure> {
        let mut variables = self.repository_variables();
        variables["number"] = thread.into();
        let mut oldest = None;
        for _ in 0..MAX_PAGES {
            let reply = self
                .query::<Found>("OwnComments", OWN_COMMENTS, &variables, |_| false)
                .await?;
            let gone = |said| error::told(WHAT, &reply.answer, Disposition::NotFound, said);
            let repository = reply.data.repository;
            let repository = repository.ok_or_else(|| gone("the repository is gone"))?;
            let found = repository
                .thread
                .ok_or_else(|| gone("the issue or pull request is gone"))?;
            let comments = found.comments;
            let ours = comments.nodes.into_iter().flatten();
            let ours = ours
                .filter(|comment| comment.viewer_did_author && comment.body.contains(marker))
                .filter_map(|comment| comment.full_database_id?.parse::<u64>().ok());
            for id in ours {
                if Some(id) == known {
                    return Ok(known);
                }
                oldest = Some(oldest.map_or(id, |other: u64| other.min(id)));
            }
            let page = comments.page_info;
            let Some(before) = page.start_cursor.filter(|_| page.has_previous_page) else {
                return Ok(oldest);
            };
            variables["before"] = before.into();
        }
        if oldest.is_some() {
            return Ok(oldest);
        }
        let said = format!("#{thread} has too many comments to tell whether one of them is ours");
        Err(error::plain(WHAT, &said, Disposition::Refused))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::super::scripted::{Set, json, lost, set};
    use super::*;

    const MARKER: &str = "<!-- phileas:status -->";

    fn listed(comments: &[(u64, bool, &str)]) -> Value {
        let nodes: Vec<_> = comments
            .iter()
            .map(|(id, ours, body)| {
                value!({ "fullDatabaseId": id.to_string(), "viewerDidAuthor": ours, "body": body })
            })
            .collect();
        value!({ "data": { "repository": { "thread": { "comments": {
            "pageInfo": { "hasPreviousPage": false, "startCursor": null }, "nodes": nodes } } } } })
    }

    async fn tell(set: &Set, known: Option<u64>) -> Result<u64, Failure> {
        set.client.tell_status_once(7, known, MARKER, "text").await
    }

    #[tokio::test]
    async fn r22_a_forged_marker_is_ignored_and_nobody_elses_comment_edited() {
        let forged = listed(&[(4_000_000_001, false, MARKER), (5, true, "something else")]);
        for known in [None, Some(4_000_000_001), Some(5)] {
            let set = set([json(200, &forged), json(201, &value!({ "id": 9 }))]);
            assert_eq!(tell(&set, known).await.unwrap(), 9);
            let seen = set.script.seen();
            assert!(seen[1].line.starts_with("POST"), "{}", seen[1].line);
            assert!(seen[1].line.ends_with("/issues/7/comments"));
        }
    }

    #[tokio::test]
    async fn r22_the_one_that_is_ours_is_edited() {
        let ours = listed(&[(4_000_000_001, true, MARKER), (4_000_000_002, true, MARKER)]);
        for (known, edited) in [(None, 4_000_000_001), (Some(4_000_000_002), 4_000_000_002)] {
            let set = set([json(200, &ours), json(200, &value!({ "id": edited }))]);
            assert_eq!(tell(&set, known).await.unwrap(), edited);
            let line = set.script.lines().remove(1);
            assert!(line.starts_with("PATCH"), "{line}");
            assert!(
                line.ends_with(&format!("/issues/comments/{edited}")),
                "{line}"
            );
        }
    }

    #[tokio::test]
    async fn a_lost_answer_is_looked_up_and_never_repeated() {
        let none = || json(200, &listed(&[]));
        let found = || json(200, &listed(&[(9, true, MARKER)]));
        let set = set([none(), lost(), none(), found()]);
        assert_eq!(tell(&set, None).await.unwrap(), 9);
        let set = super::super::scripted::set([none(), json(502, &value!({})), none(), none()]);
        let failure = tell(&set, None).await.unwrap_err();
        assert_eq!(failure.disposition, Disposition::Unknown);
        let lines = set.script.lines();
        let posts = lines.iter().filter(|line| line.ends_with("/comments"));
        assert_eq!(posts.count(), 1);
    }

    #[tokio::test]
    async fn a_label_that_is_off_is_off_and_others_are_left_alone() {
        let set = set([json(404, &value!({ "message": "Label does not exist" }))]);
        set.client.take_off_label(7, "phileas:a").await.unwrap();
        let line = set.script.lines().remove(0);
        assert!(line.starts_with("DELETE"), "{line}");
        assert!(line.ends_with("/issues/7/labels/phileas%3Aa"), "{line}");
        let refused = set.client.take_off_label(7, "bug").await.unwrap_err();
        assert_eq!(refused.disposition, Disposition::Refused);
    }
}
