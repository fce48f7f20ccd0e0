//! Finds out what the credential may read, by reads that change nothing.

use jiff::Timestamp;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::{Disposition, Failure};

/// The header in which GitHub names the scopes of classic and OAuth tokens, and of no others.
/// <https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps>
const SCOPES: &str = "x-oauth-scopes";

/// The repository as GitHub shows it to this credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryAccess {
    /// GitHub's time.
    pub now: Option<Timestamp>,
    /// The token's scopes; `None` where tokens of its kind have none.
    pub scopes: Option<Vec<String>>,
    /// Whether only collaborators see it.
    pub private: bool,
    /// Whether it is read-only.
    pub archived: bool,
    /// Whether the account may push; GitHub does not always say.
    pub push: Option<bool>,
    /// Whether the account administers it.
    pub admin: Option<bool>,
    /// The default branch.
    pub default_branch: String,
    /// Whether there are issues.
    pub has_issues: bool,
    /// Who may open pull requests, where GitHub says it: `all` or `collaborators_only`.
    pub pull_policy: Option<String>,
}

/// A permission that a tick needs, tested by reading one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Right {
    /// `contents: read`
    Contents,
    /// `issues: read`
    Issues,
    /// `pull_requests: read`
    PullRequests,
    /// `checks: read`
    Checks,
    /// `statuses: read`
    Statuses,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    private: bool,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    default_branch: String,
    has_issues: Option<bool>,
    pull_request_creation_policy: Option<String>,
    permissions: Option<Permissions>,
}

#[derive(Deserialize)]
struct Permissions {
    push: Option<bool>,
    admin: Option<bool>,
}

/// The permissions of a token, as its page on GitHub names them.
pub const TOKEN_RIGHTS: &str =
    "Contents, Issues and Pull requests: read and write; Checks and Commit statuses: read";

impl Right {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Contents,
        Self::Issues,
        Self::PullRequests,
        Self::Checks,
        Self::Statuses,
    ];

    /// The permission's name.
    #[must_use]
    pub fn permission_name(self) -> &'static str {
        self.into()
    }
}

impl Client {
    /// Reads the repository, and the headers that describe the credential.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, or hides the repository from this credential.
    pub async fn read_access(&self) -> Result<RepositoryAccess, Failure> {
        let route = routes::READ_REPOSITORY;
        let answer = require_success(route, self.read_route(route, &[], "").await?)?;
        let body: Body = self.parse(route, &answer)?;
        let words = |text: &str| {
            let words = text.split(',').map(str::trim);
            words
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        Ok(RepositoryAccess {
            now: answer.date_header(),
            scopes: answer.header_text(SCOPES).map(words),
            private: body.private,
            archived: body.archived,
            push: body.permissions.as_ref().and_then(|all| all.push),
            admin: body.permissions.as_ref().and_then(|all| all.admin),
            default_branch: body.default_branch,
            has_issues: body.has_issues.unwrap_or(true),
            pull_policy: body.pull_request_creation_policy,
        })
    }

    /// Whether the credential may read this. Whatever a public repository shows to everyone counts as readable.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer.
    pub async fn may_read(&self, right: Right, branch: &str) -> Result<bool, Failure> {
        let (route, values): (_, &[&str]) = match right {
            Right::Contents => (routes::LIST_COMMITS, &[]),
            Right::Issues => (routes::LIST_ISSUES, &[]),
            Right::PullRequests => (routes::LIST_PULLS, &[]),
            Right::Checks => (routes::LIST_CHECK_RUNS, &[branch]),
            Right::Statuses => (routes::READ_STATUS, &[branch]),
        };
        match self.read_route(route, values, "?per_page=1").await {
            // An empty repository has no commits (409), and a branch may not exist (422): neither is a missing
            // permission.
            Ok(answer) => Ok(answer.status != http::StatusCode::NOT_FOUND),
            Err(failure) if failure.disposition == Disposition::Denied => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{json, set};

    #[tokio::test]
    async fn refusals_are_told_from_answers() {
        let refused = value!({ "message": "Resource not accessible by personal access token" });
        for (status, may) in [(200, true), (403, false), (404, false), (409, true)] {
            let body = if status == 200 {
                value!([])
            } else {
                refused.clone()
            };
            let set = set([json(status, &body)]);
            let found = set.client.may_read(Right::Issues, "main").await.unwrap();
            assert_eq!(found, may, "{status}");
        }
    }
}
