//! Reads all comments of the repository since an instant, for comments that no longer fit into the first read of a
//! tick.
//!
//! The list is sorted by the last change, and each page starts at the last comment read. A comment that is edited
//! meanwhile therefore moves no other comment past the reader.
//! <https://docs.github.com/en/rest/issues/comments#list-issue-comments-for-a-repository>

use std::collections::BTreeSet;

use jiff::Timestamp;
use phileas_domain::engine::{Actor, Comment, FurtherComments, ReadReach, parse_command};
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::adapters::github::wire::present;
use crate::adapters::github::wire::subject::is_insider;
use crate::runtime::ports::{Disposition, Failure};

/// How many pages one tick reads; each holds [`PAGE`].
const MAX_PAGES: usize = 30;
const PAGE: usize = 100;

#[derive(Deserialize)]
struct ListedComment {
    id: u64,
    node_id: String,
    issue_url: String,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(deserialize_with = "present")]
    user: Option<User>,
    #[serde(default)]
    author_association: String,
    #[serde(default)]
    body: Option<String>,
}

#[derive(Deserialize)]
struct User {
    login: String,
    id: u64,
    #[serde(rename = "type")]
    kind: String,
}

impl ListedComment {
    /// The command in it, if there is one.
    fn into_command(self) -> Option<Comment> {
        let body = self.body?;
        parse_command(&body)?;
        Some(Comment {
            id: self.node_id,
            number: self.id,
            thread: self.issue_url.rsplit('/').next()?.parse().ok()?,
            created_at: self.created_at,
            // This list does not distinguish edits from other changes.
            edited: self.updated_at != self.created_at,
            author: self.user.map(|user| Actor {
                bot: user.kind != "User",
                login: user.login.into(),
                id: Some(user.id),
            }),
            may_belong_to_project: is_insider(&self.author_association),
            body,
        })
    }
}

impl Client {
    pub(crate) async fn comments_since(
        &self,
        since: Timestamp,
    ) -> Result<FurtherComments, Failure> {
        let route = routes::LIST_REPOSITORY_COMMENTS;
        let (mut from, mut page) = (since, 1);
        let (mut comments, mut ids) = (Vec::new(), BTreeSet::new());
        let further = |comments, reach| Ok(FurtherComments { comments, reach });
        for _ in 0..MAX_PAGES {
            let query =
                format!("?sort=updated&direction=asc&since={from}&per_page={PAGE}&page={page}");
            let answer = self.read_route(route, &[], &query).await;
            let answer = match answer.and_then(|answer| require_success(route, answer)) {
                Ok(answer) => answer,
                Err(failure) if is_final(&failure) => return further(comments, ReadReach::Nowhere),
                Err(failure) => return Err(failure),
            };
            let listed: Vec<ListedComment> = self.parse(route, &answer)?;
            let is_last = listed.len() < PAGE;
            let last = listed.iter().map(|one| one.updated_at).max();
            let new = listed.into_iter().filter(|one| ids.insert(one.id));
            comments.extend(new.filter_map(ListedComment::into_command));
            if is_last {
                return further(comments, ReadReach::All);
            }
            match last.filter(|last| *last > from) {
                Some(last) => (from, page) = (last, 1),
                None => page += 1,
            }
        }
        further(comments, ReadReach::Until(from))
    }
}

fn is_final(failure: &Failure) -> bool {
    matches!(
        failure.disposition,
        Disposition::Denied | Disposition::Refused | Disposition::NotFound
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::scripted::{json, set, start};

    fn comment(number: u64, second: u64, body: &str) -> Value {
        let at = format!(
            "2026-01-05T{:02}:{:02}:{:02}Z",
            second / 3600,
            second / 60 % 60,
            second % 60
        );
        value!({ "id": number, "node_id": format!("IC_{number}"), "created_at": at, "updated_at": at,
            "issue_url": "https://api.github.com/repos/acme/widget/issues/7", "body": body,
            "author_association": "NONE", "user": { "login": "eve", "id": 5, "type": "User" } })
    }

    #[tokio::test]
    async fn every_comment_is_read_once_whatever_shares_its_second() {
        // 250 comments, of which the first 150 were written in one second.
        let all: Vec<Value> = (0..250u64)
            .map(|number| comment(number, number.saturating_sub(149), "/phileas pause"))
            .collect();
        let pages = [&all[..100], &all[100..200], &all[199..], &[]];
        let set = set(pages.map(|page| json(200, &Value::from(page.to_vec()))));
        let read = set.client.comments_since(start()).await.unwrap();
        assert_eq!(read.reach, ReadReach::All);
        let numbers: Vec<u64> = read.comments.iter().map(|one| one.number).collect();
        assert_eq!(numbers, (0..250).collect::<Vec<_>>());
        assert_eq!(read.comments[0].thread, 7);
        let lines: Vec<String> = set
            .script
            .seen()
            .iter()
            .map(|one| one.line.clone())
            .collect();
        assert!(lines[1].contains("page=2"), "{lines:?}");
        assert!(
            lines[2].contains("since=2026-01-05T00:00:50Z") && lines[2].contains("page=1"),
            "{lines:?}"
        );
    }

    #[tokio::test]
    async fn a_tick_reads_so_much_and_says_how_far_it_came() {
        let page = |page: u64| -> Vec<Value> {
            (0..100)
                .map(|one| comment(page * 100 + one, page * 100 + one, "hello"))
                .collect()
        };
        let set = set((0..30).map(|number| json(200, &Value::from(page(number)))));
        let read = set.client.comments_since(start()).await.unwrap();
        assert_eq!(
            read.reach,
            ReadReach::Until("2026-01-05T00:49:59Z".parse().unwrap())
        );
        assert_eq!(read.comments, []);
    }

    #[tokio::test]
    async fn what_may_not_be_read_is_said_so_and_what_was_edited_is_no_command() {
        let denied = set([json(403, &value!({ "message": "Resource not accessible" }))]);
        let read = denied.client.comments_since(start()).await.unwrap();
        assert_eq!(read.reach, ReadReach::Nowhere);
        let mut edited = comment(1, 1, "/phileas stop");
        edited["updated_at"] = "2026-01-05T00:00:09Z".into();
        let set = set([json(200, &Value::from(vec![edited]))]);
        let read = set.client.comments_since(start()).await.unwrap();
        assert!(read.comments[0].edited);
    }
}
