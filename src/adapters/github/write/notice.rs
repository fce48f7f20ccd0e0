//! Opens and closes notices: one open issue for each key, found again by a hidden marker.
//!
//! phileas searches for a notice right before it opens one, and again if the answer was lost. It also remembers what
//! this process opened lately, because a listing may not show it yet. The search uses the label `phileas`, which
//! needs triage permission, and the account that opened the issue, so that an issue with a copied marker does not
//! count.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::notice_marks::{
    NOTICE_COLOR, NOTICE_DESCRIPTION, NOTICE_LABEL, notice_key_in, notice_marker,
};
use crate::adapters::github::wire::issue::{Comment, Issue};
use crate::runtime::ports::{Disposition, Failure};

/// How many pages of comments are read; each holds 100.
const MAX_PAGES: u32 = 5;
/// The waits before searching again for an issue that may have been opened: replicas lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// The start of the marker in an issue that shows a work item.
const WORK_MARKER_START: &str = "<!-- phileas:work:";
/// Marks the last comment, so that it is not written twice.
const CLOSING_MARKER: &str = "<!-- phileas:closing -->";

impl Client {
    pub(crate) async fn open_notice_once(
        &self,
        key: &str,
        title: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        // A listing may still show an issue that was just closed.
        if let Some(number) = self.find_notice(key).await?
            && self.is_still_open(number).await?
        {
            return Ok(number);
        }
        let now = self.pause.now();
        if let Some(number) = self
            .opened_issues
            .recent_issue(&self.repository_name(), key, now)
            && self.is_still_open(number).await?
        {
            return Ok(number);
        }
        self.ensure_label().await?;
        let route = routes::CREATE_ISSUE;
        let request = json!({
            "title": title,
            "body": format!("{body}\n\n{}\n", notice_marker(key)),
            "labels": [NOTICE_LABEL],
        });
        let failure = match self.write_route(route, &[], &request).await {
            Ok(answer) => {
                let answer = require_success(route, answer)?;
                let issue: Issue = self.parse(route, &answer)?;
                let opened = &self.opened_issues;
                opened.record_issue(&self.repository_name(), key, issue.number, self.pause.now());
                return self.add_notice_label(issue).await;
            }
            Err(failure) => failure,
        };
        if failure.disposition == Disposition::Unknown {
            for wait in LOOKS {
                self.pause.pause_for(wait).await;
                if let Ok(Some(number)) = self.find_notice(key).await {
                    return Ok(number);
                }
            }
        }
        Err(failure)
    }

    pub(crate) async fn close_notice_once(
        &self,
        number: u64,
        comment: &str,
    ) -> Result<(), Failure> {
        let id = number.to_string();
        let route = routes::READ_ISSUE;
        let answer = self.read_route(route, &[&id], "").await?;
        if answer.status == StatusCode::GONE {
            return Ok(());
        }
        let answer = require_success(route, answer)?;
        let issue: Issue = self.parse(route, &answer)?;
        if issue.state != "open" {
            return Ok(());
        }
        let body = issue.body.as_deref().unwrap_or_default();
        let marked = notice_key_in(body).is_some() || body.contains(WORK_MARKER_START);
        if !marked || issue.pull_request.is_some() {
            let said = format!("issue #{number} is not one that phileas opened");
            return Err(error::local_failure(route, &said, Disposition::Refused));
        }
        if !self.has_closing_comment(&id).await? {
            let route = routes::CREATE_COMMENT;
            let request = json!({ "body": format!("{comment}\n\n{CLOSING_MARKER}\n") });
            let said = match self.write_route(route, &[&id], &request).await {
                Ok(answer) => require_success(route, answer).map(drop),
                Err(failure) => Err(failure),
            };
            // Only accounts with write access may comment on a locked issue; closing it works all the same.
            // <https://docs.github.com/en/communities/moderating-comments-and-conversations/locking-conversations>
            match said {
                Err(failure) if !issue.locked || failure.disposition != Disposition::Denied => {
                    return Err(failure);
                }
                Ok(()) | Err(_) => {}
            }
        }
        let route = routes::UPDATE_ISSUE;
        let request = json!({ "state": "closed", "state_reason": "completed" });
        require_success(route, self.write_route(route, &[&id], &request).await?).map(drop)
    }

    /// Whether the conversation of an issue or pull request is locked.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or does not show it.
    pub async fn is_locked(&self, number: u64) -> Result<bool, Failure> {
        let route = routes::READ_ISSUE;
        let answer = require_success(
            route,
            self.read_route(route, &[&number.to_string()], "").await?,
        )?;
        let issue: Issue = self.parse(route, &answer)?;
        Ok(issue.locked)
    }

    /// Whether a recently opened issue is still open, as far as GitHub shows. Adds the label if that failed before.
    async fn is_still_open(&self, number: u64) -> Result<bool, Failure> {
        let route = routes::READ_ISSUE;
        let answer = self.read_route(route, &[&number.to_string()], "").await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(true);
        }
        if answer.status == StatusCode::GONE {
            return Ok(false);
        }
        let issue: Issue = self.parse(route, &require_success(route, answer)?)?;
        if issue.state != "open" {
            return Ok(false);
        }
        self.add_notice_label(issue).await.map(|_| true)
    }

    /// The open notice of a key.
    async fn find_notice(&self, key: &str) -> Result<Option<u64>, Failure> {
        self.find_issue_with_marker(&notice_marker(key), true).await
    }

    pub(crate) async fn ensure_label(&self) -> Result<(), Failure> {
        let route = routes::READ_LABEL;
        let answer = self.read_route(route, &[NOTICE_LABEL], "").await?;
        if answer.status != StatusCode::NOT_FOUND {
            return require_success(route, answer).map(drop);
        }
        let route = routes::CREATE_LABEL;
        let request = json!({
            "name": NOTICE_LABEL,
            "color": NOTICE_COLOR,
            "description": NOTICE_DESCRIPTION,
        });
        let answer = self.write_route(route, &[], &request).await?;
        // 422: another client created it meanwhile.
        if answer.status == StatusCode::UNPROCESSABLE_ENTITY {
            return Ok(());
        }
        require_success(route, answer).map(drop)
    }

    /// Adds the label if it is missing: GitHub silently drops labels of accounts that may not set them. Without its
    /// label an issue would never be found again, and every tick would open another one.
    pub(crate) async fn add_notice_label(&self, issue: Issue) -> Result<u64, Failure> {
        if !issue.has_label(NOTICE_LABEL) {
            let route = routes::ADD_LABELS;
            let id = issue.number.to_string();
            let request = json!({ "labels": [NOTICE_LABEL] });
            require_success(route, self.write_route(route, &[&id], &request).await?)?;
        }
        Ok(issue.number)
    }

    async fn has_closing_comment(&self, id: &str) -> Result<bool, Failure> {
        let route = routes::LIST_COMMENTS;
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page=100&page={page}");
            let answer = require_success(route, self.read_route(route, &[id], &query).await?)?;
            let comments: Vec<Comment> = self.parse(route, &answer)?;
            let last = comments.len() < 100;
            let marked = |comment: &Comment| {
                let body = comment.body.as_deref().unwrap_or_default();
                body.contains(CLOSING_MARKER)
            };
            if comments.iter().any(marked) {
                return Ok(true);
            }
            if last {
                return Ok(false);
            }
        }
        // With so many comments, do not add another one.
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
