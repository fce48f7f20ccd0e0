//! Defines a session as its account sees it, in whatever repository.

use jiff::Timestamp;

use super::job::JobId;
use crate::engine::SessionState;
use crate::model::{Marker, PullNumber, RepositoryName};

/// A session of an account, with every text that Jules shows, in whatever repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSession {
    /// Its id.
    pub id: JobId,
    /// Its state.
    pub state: SessionState,
    /// Its title.
    pub title: String,
    /// Its prompt; empty if Jules does not return it.
    pub prompt: String,
    /// The repository that it works on. `None`: it has none, or Jules does not return it.
    pub repository: Option<RepositoryName>,
    /// The branch that it started from, if Jules returns it.
    pub branch: Option<String>,
    /// The URL of its page; may be empty.
    pub url: String,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it was last updated.
    pub updated_at: Option<Timestamp>,
    /// Whether it is archived.
    pub archived: bool,
    /// The pull requests that it opened, each once.
    pub pulls: Vec<SessionPull>,
    /// The changes that it shows outside its pull requests.
    pub changes: Option<Changes>,
}

impl AccountSession {
    /// Whether it is a turn's, of whatever repository: then a track decides about its retries.
    #[must_use]
    pub fn belongs_to_turn(&self) -> bool {
        self.prompt.contains("phileas-turn:") || Marker::from_title(&self.title).is_some()
    }

    /// A session of which nothing but its id and its state is known.
    #[cfg(test)]
    pub(crate) fn new(id: JobId, state: SessionState) -> Self {
        Self {
            id,
            state,
            title: String::new(),
            prompt: String::new(),
            repository: None,
            branch: None,
            url: String::new(),
            created_at: None,
            updated_at: None,
            archived: false,
            pulls: Vec::new(),
            changes: None,
        }
    }

    /// Its newest pull request on GitHub.
    #[must_use]
    pub fn pull(&self) -> Option<&PullLink> {
        self.pulls.iter().rev().find_map(|pull| pull.link.as_ref())
    }

    /// Whether it shows changes to files.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.pulls.is_empty() || self.changes.is_some()
    }
}

/// A pull request that a session shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPull {
    /// Its URL, as Jules returns it.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Where it is, if that is on GitHub.
    pub link: Option<PullLink>,
}

/// Changes in the format of `git diff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The changes, all since the session began.
    pub patch: String,
    /// The commit that they apply to; may be empty.
    pub base: String,
    /// A message for their commit; may be empty.
    pub message: String,
}

/// A pull request on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullLink {
    /// The URL of its page.
    pub url: String,
    /// Its repository.
    pub repository: RepositoryName,
    /// Its number.
    pub number: PullNumber,
}

impl PullLink {
    /// Parses the URL of a pull request on github.com.
    #[must_use]
    pub fn parse(url: &str) -> Option<Self> {
        let bare = url.trim().split(['?', '#']).next()?;
        let rest = bare.strip_prefix("https://")?;
        let (host, path) = rest.split_once('/')?;
        if !matches!(
            host.to_ascii_lowercase().as_str(),
            "github.com" | "www.github.com"
        ) {
            return None;
        }
        let mut parts = path.split('/');
        let repository = format!("{}/{}", parts.next()?, parts.next()?);
        let (kind, number) = (parts.next()?, parts.next()?);
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
        if kind != "pull" || !digits {
            return None;
        }
        let repository: RepositoryName = repository.parse().ok()?;
        Some(Self {
            url: format!("https://github.com/{repository}/pull/{number}"),
            repository,
            number: PullNumber(number),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_pull_requests_on_github_are_links() {
        let link = PullLink::parse("https://www.github.com/acme/widget/pull/12/files?w=1").unwrap();
        assert_eq!(link.url, "https://github.com/acme/widget/pull/12");
        for url in [
            "http://github.com/acme/widget/pull/12",
            "https://github.com.example/acme/widget/pull/12",
            "https://github.com/acme/widget/issues/12",
            "https://github.com/acme/widget/pull/+12",
            "https://github.com/acme/widget/pull/0",
            "https://github.com/acme/../pull/1",
            "",
        ] {
            assert_eq!(PullLink::parse(url), None, "{url}");
        }
    }
}
