//! Identifies a git client and checks its permission.
//!
//! The texts and statuses are those which git prints after a request to github.com.

use bytes::Bytes;
use data_encoding::BASE64;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use jiff::Timestamp;

use super::refusal::GitRefusal;
use super::request::{GitRequest, Service};
use crate::github::rest::RequiredAccess;
use crate::github::{Identity, Model, RepoId};

/// The password beside which the user name is the token.
const TOKEN_IS_THE_USER: &str = "x-oauth-basic";

impl Model {
    /// The identity of a git client; none without credentials. The token is the password, or the user name where the
    /// password is empty.
    pub(super) fn git_identity(
        &self,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<Option<Identity>, GitRefusal> {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return Ok(None);
        };
        let mut plain = HeaderMap::new();
        plain.insert(
            header::AUTHORIZATION,
            basic_token(value).unwrap_or_else(|| value.clone()),
        );
        self.identify_caller(&plain, now).map_err(|_| {
            GitRefusal::new(
                StatusCode::UNAUTHORIZED,
                "Invalid username or token. Password authentication is not supported for Git operations.",
            )
        })
    }

    /// The requested repository, if the client may access it.
    pub(super) fn admit_git(
        &self,
        wanted: &GitRequest,
        request: &Request<Bytes>,
        identity: Option<&Identity>,
    ) -> Result<RepoId, GitRefusal> {
        // An unauthorized client must not learn whether a repository exists.
        let hidden = || match identity {
            None => GitRefusal::new(StatusCode::UNAUTHORIZED, "Authentication required"),
            Some(_) => GitRefusal::new(StatusCode::NOT_FOUND, "Repository not found."),
        };
        let present = self.repository_by_name(&wanted.owner, &wanted.name);
        let repo = present
            .or_else(|| self.repository_by_former_name(&wanted.owner, &wanted.name))
            .ok_or_else(hidden)?;
        self.check_access(identity, repo, RequiredAccess::Read("contents"))
            .map_err(|_| hidden())?;
        if present.is_none() {
            return Err(self.moved_to(repo, request));
        }
        if wanted.service == Service::ReceivePack {
            self.admit_push(repo, identity)?;
        }
        Ok(repo)
    }

    fn admit_push(&self, repo: RepoId, identity: Option<&Identity>) -> Result<(), GitRefusal> {
        let Some(identity) = identity else {
            return Err(GitRefusal::new(
                StatusCode::UNAUTHORIZED,
                "Authentication required",
            ));
        };
        self.check_access(Some(identity), repo, RequiredAccess::Write("contents"))
            .map_err(|_| {
                let archived = self.repository(repo).is_some_and(|found| found.archived);
                let text = if archived {
                    "This repository was archived so it is read-only.".to_owned()
                } else {
                    format!(
                        "Permission to {}.git denied to {}.",
                        self.full_name(repo),
                        self.login(identity.account)
                    )
                };
                GitRefusal::new(StatusCode::FORBIDDEN, text)
            })
    }

    /// The redirect to the current name of a renamed repository.
    fn moved_to(&self, repo: RepoId, request: &Request<Bytes>) -> GitRefusal {
        let path = request.uri().path();
        let rest = path.splitn(4, '/').nth(3).unwrap_or_default();
        let query = request
            .uri()
            .query()
            .map_or_else(String::new, |query| format!("?{query}"));
        GitRefusal {
            status: StatusCode::MOVED_PERMANENTLY,
            text: "Moved Permanently".to_owned(),
            location: Some(format!("/{}.git/{rest}{query}", self.full_name(repo))),
        }
    }
}

/// The token of Basic credentials, in the form that the API takes.
fn basic_token(value: &HeaderValue) -> Option<HeaderValue> {
    let (scheme, encoded) = value.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64.decode(encoded.trim().as_bytes()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    let token = if password.is_empty() || password == TOKEN_IS_THE_USER {
        user
    } else {
        password
    };
    HeaderValue::from_str(&format!("token {token}")).ok()
}
