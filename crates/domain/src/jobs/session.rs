//! Defines a session and its activities as the monitor reads them, in whatever repository.

use jiff::Timestamp;

use super::job::JobId;
use crate::engine::SessionState;
use crate::model::{PullNumber, RepositoryName};

/// A session, from the listing or from a single request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: JobId,
    /// Its state.
    pub state: SessionState,
    /// Its title.
    pub title: String,
    /// Its prompt, if Jules returns it.
    pub prompt: String,
    /// The repository that it works on. `None`: it has none, or Jules does not return it.
    pub repository: Option<RepositoryName>,
    /// The URL of its page.
    pub url: String,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it was last updated.
    pub updated_at: Option<Timestamp>,
    /// Its pull request.
    pub pull: Option<PullLink>,
    /// Whether it has changes to files.
    pub has_changes: bool,
    /// Whether it is archived.
    pub archived: bool,
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

/// An activity of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Its id, unique in its session.
    pub id: String,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: ActivityKind,
    /// Whether it has changes to files.
    pub has_changes: bool,
}

/// What happened. The texts come from Jules or a person, and are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityKind {
    /// Jules wrote a message.
    AgentMessaged(String),
    /// A user wrote a message to Jules.
    UserMessaged(String),
    /// Jules made a plan.
    PlanGenerated {
        /// The plan's id; a revised plan has another one.
        id: String,
        /// The titles of its steps.
        steps: Vec<String>,
    },
    /// The plan was approved.
    PlanApproved,
    /// The session made progress.
    Progress {
        /// The current step; may be empty.
        title: String,
    },
    /// The session ended.
    Completed,
    /// The session failed, with Jules' reason.
    Failed(String),
    /// Any other activity, by its name in the API.
    Unknown(String),
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
