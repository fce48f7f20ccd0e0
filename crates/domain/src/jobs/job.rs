//! Defines a job: a Jules session that another agent started and waits for.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::model::{RepositoryName, SessionId};

/// The longest job id, in characters. Today Jules' ids have 15 to 20.
const MAX_ID_CHARS: usize = 64;

/// A job's id, which is its session's: letters, digits, `-` and `_`, so that it is safe in any path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(String);

/// The hosts of session pages and of the API.
const HOSTS: [&str; 2] = ["jules.google.com", "jules.googleapis.com"];
/// The path segments before the id in such a URL.
const PAGES: [&str; 3] = ["session", "sessions", "task"];

/// The text is no job id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a session's id has 1 to {MAX_ID_CHARS} letters, digits, `-` and `_`, such as `15481661885092594092`; \
     the address of the session's page at jules.google.com is taken, too"
)]
pub struct JobIdError;

impl JobId {
    /// The id of a session that is to become a job. Jules' ids are digits alone; a file of jobs may hold others.
    #[must_use]
    pub fn of_session(text: &str) -> Option<Self> {
        let id: Self = text.parse().ok()?;
        id.0.bytes().all(|byte| byte.is_ascii_digit()).then_some(id)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The session of the job.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        SessionId::from(self.as_str())
    }
}

impl FromStr for JobId {
    type Err = JobIdError;

    /// Accepts a bare id, `sessions/<id>` as Jules names its sessions, and the URL of a session's page.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let bare = of_address(text).unwrap_or(text);
        let bare = bare.strip_prefix("sessions/").unwrap_or(bare);
        let bare = bare.trim_end_matches('/');
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if bare.is_empty() || bare.len() > MAX_ID_CHARS || !bare.bytes().all(legal) {
            return Err(JobIdError);
        }
        Ok(Self(bare.to_owned()))
    }
}

/// The id in the URL of a session's page, or in a URL of the API.
fn of_address(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let scheme = ["https://", "http://"]
        .into_iter()
        .find(|one| lower.starts_with(one));
    let rest = &text[scheme.map_or(0, str::len)..];
    let (host, path) = rest.split_once('/')?;
    if !HOSTS.iter().any(|known| host.eq_ignore_ascii_case(known)) {
        return None;
    }
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    // `session/<id>`, `session/<id>/code/…`, and `u/1/session/<id>` for browsers with several accounts.
    let mut parts = path.split('/').skip_while(|part| !PAGES.contains(part));
    parts.nth(1)
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for JobId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for JobId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(from)? {
            Value::String(text) => text,
            // Digits without quotation marks mean the same id.
            Value::Number(number) => number.to_string(),
            _ => return Err(serde::de::Error::custom("a job's id is a text")),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Which jobs come first if not all can be checked, and whose events are written first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Before all others.
    Critical,
    /// Before most.
    High,
    /// As usual.
    #[default]
    Normal,
    /// After all others.
    Low,
}

/// Why a job is not checked any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetireReason {
    /// Its pull request was merged.
    Merged,
    /// Its pull request was closed without being merged.
    Closed,
    /// A person or agent cancelled it.
    Cancelled,
    /// Another session was started in its place.
    Retried,
    /// Its session was archived.
    Archived,
    /// Jules does not know its session.
    NotFound,
    /// Nothing happened for a long time after its end.
    Forgotten,
    /// An agent marked it as done.
    Done,
}

/// A job that is not checked any more. It stays in the file for a while, so that no agent registers it again by
/// mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retired {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: RetireReason,
}

/// A session that will replace another. It is recorded before the request to Jules, so that it is created once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryIntent {
    /// The number of the attempt; the first session is attempt 1.
    pub attempt: u32,
    /// When it was decided.
    pub at: Timestamp,
}

/// A job. Only its id is required in the file, and unknown keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id, which is its session's.
    pub job_id: JobId,
    /// Data of the job's owner.
    #[serde(default)]
    pub metadata: Value,
    /// The repository that it works on, `owner/name`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub repo: Option<String>,
    /// The branch that it starts from.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub branch: Option<String>,
    /// Whether its plan waits for approval. Jules does not report this later.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub require_plan_approval: Option<bool>,
    /// Whether Jules opens the pull request by itself. Jules does not report this later.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub open_pull: Option<bool>,
    /// Which jobs come first.
    #[serde(
        default,
        skip_serializing_if = "is_normal",
        deserialize_with = "or_default"
    )]
    pub priority: Priority,
    /// When it was registered.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub registered_at: Option<Timestamp>,
    /// The session that this one replaces.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub retry_of: Option<JobId>,
    /// The number of the attempt; the first session is attempt 1. Missing means 1.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub attempt: Option<u32>,
    /// A session that is being created in its place.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub retry_intent: Option<RetryIntent>,
    /// Set once the job is not checked any more.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub retired: Option<Retired>,
    /// Keys of other writers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn is_normal(priority: &Priority) -> bool {
    *priority == Priority::Normal
}

/// A key that another writer uses for something else counts as missing.
fn or_default<'de, D: Deserializer<'de>, T: Default + serde::de::DeserializeOwned>(
    from: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl Job {
    /// A job of which only the id is known.
    #[must_use]
    pub fn new(job_id: JobId) -> Self {
        Self {
            job_id,
            metadata: Value::Object(Map::new()),
            repo: None,
            branch: None,
            require_plan_approval: None,
            open_pull: None,
            priority: Priority::default(),
            registered_at: None,
            retry_of: None,
            attempt: None,
            retry_intent: None,
            retired: None,
            rest: Map::new(),
        }
    }

    /// Whether it is still checked.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.retired.is_none()
    }

    /// The repository that it works on, from its own key or from its metadata.
    #[must_use]
    pub fn repository_name(&self) -> Option<RepositoryName> {
        let told = self.repo.as_deref();
        let told = told.or_else(|| self.metadata.get("repo")?.as_str());
        told?.parse().ok()
    }

    /// The number of the attempt.
    #[must_use]
    pub fn attempt_number(&self) -> u32 {
        self.attempt.unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upstream defect 15: the id went unescaped into the path of a URL.
    #[test]
    fn defect_15_an_id_that_could_leave_its_path_is_refused() {
        for text in [
            "",
            "../1",
            "1/2",
            "1?x=1",
            "a b",
            "1\n2",
            "sessions/",
            "%2e",
        ] {
            assert_eq!(text.parse::<JobId>(), Err(JobIdError), "{text:?}");
        }
        let id: JobId = " sessions/15481661885092594092\n".parse().unwrap();
        assert_eq!(id.as_str(), "15481661885092594092");
    }

    #[test]
    fn the_address_of_a_session_is_taken() {
        for text in [
            "https://jules.google.com/session/15481661885092594092",
            "https://jules.google.com/session/15481661885092594092/code/src/lib.rs?pli=1#top",
            "https://jules.google.com/u/1/session/15481661885092594092/",
            "HTTPS://Jules.Google.com/task/15481661885092594092",
            "jules.google.com/session/15481661885092594092",
            "https://jules.googleapis.com/v1alpha/sessions/15481661885092594092",
        ] {
            let id: JobId = text.parse().unwrap();
            assert_eq!(id.as_str(), "15481661885092594092", "{text}");
        }
        for text in [" 12\n", "sessions/12/", "jules.google.com/task/12"] {
            assert_eq!(JobId::of_session(text).unwrap().as_str(), "12", "{text}");
        }
        for text in ["", "abc", "1a", "sessions/x", "x/1", "1?x"] {
            assert_eq!(JobId::of_session(text), None, "{text}");
        }
        for text in [
            "https://github.com/acme/widget/pull/12",
            "https://jules.google.com/",
            "https://jules.google.com/session/",
            "https://jules.google.com/session/../1",
            "https://jules.google.com.example/session/12",
        ] {
            assert_eq!(text.parse::<JobId>(), Err(JobIdError), "{text}");
        }
    }

    #[test]
    fn what_others_wrote_into_a_job_stays_in_it() {
        let text = r#"{"job_id":"7","metadata":{"repo":"acme/widget"},"owner":["me"],"priority":"urgent!","retired":3}"#;
        let job: Job = serde_json::from_str(text).unwrap();
        assert_eq!(job.repository_name(), Some("acme/widget".parse().unwrap()));
        assert_eq!(job.priority, Priority::Normal);
        assert!(job.is_live());
        let written = serde_json::to_value(&job).unwrap();
        assert_eq!(written["owner"][0], "me");
    }
}
