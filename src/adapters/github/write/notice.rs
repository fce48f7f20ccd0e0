//! Issues that call a person: one open issue for each key, found again by a hidden marker.
//!
//! A notice is looked for right before it is opened, and again when the answer to opening it was lost; what this process
//! has opened lately is remembered besides, for a listing may not show it yet. Both looks
//! go by the label `phileas`, which only people with triage permission can set, and by who has opened it: an issue of a
//! person that copies the marker is not taken for ours.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::success;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::notice_marks::{
    NOTICE_COLOR, NOTICE_DESCRIPTION, NOTICE_LABEL, key_in, marker_of,
};
use crate::adapters::github::wire::issue::{Comment, Issue};
use crate::runtime::ports::{Disposition, Failure};

/// How many pages of open notices, or of comments, are looked through; each holds 100.
const MAX_PAGES: u32 = 5;
/// The waits before looking again for what may have been written: replicas lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// The same, in an issue that shows a work item.
const WORK_MARKER_START: &str = "<!-- phileas:work:";
/// Stands in the last comment, so that it is not written twice.
const CLOSING_MARKER: &str = "<!-- phileas:closing -->";

impl Client {
    pub(crate) async fn open_notice_once(
        &self,
        key: &str,
        title: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        // A list may show for a while what was closed a moment ago.
        if let Some(number) = self.find_notice(key).await?
            && self.stands(number).await?
        {
            return Ok(number);
        }
        let now = self.pause.now();
        if let Some(number) = self.opened.lately(&self.repository(), key, now)
            && self.stands(number).await?
        {
            return Ok(number);
        }
        self.ensure_label().await?;
        let route = routes::CREATE_ISSUE;
        let wish = json!({
            "title": title,
            "body": format!("{body}\n\n{}\n", marker_of(key)),
            "labels": [NOTICE_LABEL],
        });
        let failure = match self.write(route, &[], &wish).await {
            Ok(answer) => {
                let answer = success(route, answer)?;
                let issue: Issue = self.parse(route, &answer)?;
                let opened = &self.opened;
                opened.note(&self.repository(), key, issue.number, self.pause.now());
                return self.label(issue).await;
            }
            Err(failure) => failure,
        };
        if failure.disposition == Disposition::Unknown {
            for wait in LOOKS {
                self.pause.pause(wait).await;
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
        let answer = self.read(route, &[&id], "").await?;
        if answer.status == StatusCode::GONE {
            return Ok(());
        }
        let answer = success(route, answer)?;
        let issue: Issue = self.parse(route, &answer)?;
        if issue.state != "open" {
            return Ok(());
        }
        let body = issue.body.as_deref().unwrap_or_default();
        let marked = key_in(body).is_some() || body.contains(WORK_MARKER_START);
        if !marked || issue.pull_request.is_some() {
            let said = format!("issue #{number} is not one that phileas opened");
            return Err(error::plain(route, &said, Disposition::Refused));
        }
        if !self.is_closing(&id).await? {
            let route = routes::CREATE_COMMENT;
            let wish = json!({ "body": format!("{comment}\n\n{CLOSING_MARKER}\n") });
            let said = match self.write(route, &[&id], &wish).await {
                Ok(answer) => success(route, answer).map(drop),
                Err(failure) => Err(failure),
            };
            // On a locked issue only people with write access may comment; it can be closed all the same.
            // <https://docs.github.com/en/communities/moderating-comments-and-conversations/locking-conversations>
            match said {
                Err(failure) if !issue.locked || failure.disposition != Disposition::Denied => {
                    return Err(failure);
                }
                Ok(()) | Err(_) => {}
            }
        }
        let route = routes::UPDATE_ISSUE;
        let wish = json!({ "state": "closed", "state_reason": "completed" });
        success(route, self.write(route, &[&id], &wish).await?).map(drop)
    }

    /// Whether the conversation of an issue or pull request is locked.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or does not show it.
    pub async fn is_locked(&self, number: u64) -> Result<bool, Failure> {
        let route = routes::READ_ISSUE;
        let answer = success(route, self.read(route, &[&number.to_string()], "").await?)?;
        let issue: Issue = self.parse(route, &answer)?;
        Ok(issue.locked)
    }

    /// Whether an issue that was opened a moment ago is open still, as far as anybody can see. Where it could not be given
    /// its label then, it is now.
    async fn stands(&self, number: u64) -> Result<bool, Failure> {
        let route = routes::READ_ISSUE;
        let answer = self.read(route, &[&number.to_string()], "").await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(true);
        }
        if answer.status == StatusCode::GONE {
            return Ok(false);
        }
        let issue: Issue = self.parse(route, &success(route, answer)?)?;
        if issue.state != "open" {
            return Ok(false);
        }
        self.label(issue).await.map(|_| true)
    }

    /// The open notice of a key.
    async fn find_notice(&self, key: &str) -> Result<Option<u64>, Failure> {
        self.issue_of_ours(&marker_of(key), true).await
    }

    pub(crate) async fn ensure_label(&self) -> Result<(), Failure> {
        let route = routes::READ_LABEL;
        let answer = self.read(route, &[NOTICE_LABEL], "").await?;
        if answer.status != StatusCode::NOT_FOUND {
            return success(route, answer).map(drop);
        }
        let route = routes::CREATE_LABEL;
        let wish = json!({
            "name": NOTICE_LABEL,
            "color": NOTICE_COLOR,
            "description": NOTICE_DESCRIPTION,
        });
        let answer = self.write(route, &[], &wish).await?;
        // 422: somebody else was faster.
        if answer.status == StatusCode::UNPROCESSABLE_ENTITY {
            return Ok(());
        }
        success(route, answer).map(drop)
    }

    /// GitHub drops labels silently from the issues of those who may not set them. Without its label an issue would
    /// never be found again, and opened anew with every tick.
    pub(crate) async fn label(&self, issue: Issue) -> Result<u64, Failure> {
        if !issue.has_label(NOTICE_LABEL) {
            let route = routes::ADD_LABELS;
            let id = issue.number.to_string();
            let wish = json!({ "labels": [NOTICE_LABEL] });
            success(route, self.write(route, &[&id], &wish).await?)?;
        }
        Ok(issue.number)
    }

    async fn is_closing(&self, id: &str) -> Result<bool, Failure> {
        let route = routes::LIST_COMMENTS;
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page=100&page={page}");
            let answer = success(route, self.read(route, &[id], &query).await?)?;
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
        // Such a crowd has said enough.
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
