//! What is seen of a session, of whatever repository: what the monitor judges by.

use jiff::Timestamp;

use super::job::JobId;
use crate::engine::SessionState;
use crate::model::{PullNumber, RepositoryName};

/// A session as a listing or a look shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: JobId,
    /// Where it stands.
    pub state: SessionState,
    /// Its title.
    pub title: String,
    /// Its prompt, where it is shown.
    pub prompt: String,
    /// The repository that it works on. `None`: none, or it is not shown.
    pub repository: Option<RepositoryName>,
    /// Its page.
    pub url: String,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Its pull request.
    pub pull: Option<PullLink>,
    /// Whether it shows changes.
    pub has_changes: bool,
    /// Whether it is archived.
    pub archived: bool,
}

/// A pull request on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullLink {
    /// Its page.
    pub url: String,
    /// Its repository.
    pub repository: RepositoryName,
    /// Its number there.
    pub number: PullNumber,
}

impl PullLink {
    /// Reads the address of a pull request's page on github.com.
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

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Its id, unique in its session.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: ActivityKind,
    /// Whether it brought changes to files with it.
    pub has_changes: bool,
}

/// What happened. Texts are Jules' or a person's, and untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityKind {
    /// Jules said something.
    AgentMessaged(String),
    /// Somebody said something to Jules.
    UserMessaged(String),
    /// A plan was made.
    PlanGenerated {
        /// The plan; a revised one has another id.
        id: String,
        /// The titles of its steps.
        steps: Vec<String>,
    },
    /// A plan was approved.
    PlanApproved,
    /// It moved.
    Progress {
        /// What it does; may be empty.
        title: String,
    },
    /// The session ended.
    Completed,
    /// The session failed, with Jules' reason.
    Failed(String),
    /// Anything else, by its name on the wire.
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
