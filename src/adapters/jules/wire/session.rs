//! Sessions.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::change_set::ChangeSet;
use super::lenient::{Object, defaulted, if_readable, last_segment, text};

/// A session as the API shows it. `requirePlanApproval` and `automationMode` are never shown.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Session {
    /// `sessions/<id>`; a bare id was seen too.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// 15 to 20 decimal digits.
    #[serde(rename = "id", deserialize_with = "text")]
    own_id: String,
    /// Its prompt.
    #[serde(deserialize_with = "text")]
    pub prompt: String,
    /// Its title; Jules generates one if none was given.
    #[serde(deserialize_with = "text")]
    pub title: String,
    /// What it works on.
    #[serde(deserialize_with = "if_readable")]
    pub source_context: Option<SourceContext>,
    /// When it was created, RFC 3339.
    #[serde(deserialize_with = "text")]
    pub create_time: String,
    /// When it last changed, RFC 3339.
    #[serde(deserialize_with = "text")]
    pub update_time: String,
    /// Its state, as Jules wrote it; empty means `STATE_UNSPECIFIED`.
    #[serde(deserialize_with = "text")]
    pub state: String,
    /// Its page in the web application.
    #[serde(deserialize_with = "text")]
    pub url: String,
    /// Its outputs.
    #[serde(deserialize_with = "defaulted")]
    pub outputs: Vec<Output>,
    /// Whether it is archived.
    #[serde(deserialize_with = "defaulted")]
    pub archived: bool,
}

impl Session {
    /// Its id, taken from the name if the field is missing. Empty: it has none.
    #[must_use]
    pub fn session_id(&self) -> &str {
        if self.own_id.is_empty() {
            last_segment(&self.name)
        } else {
            last_segment(&self.own_id)
        }
    }

    /// Keeps of its outputs only which pull requests there are, and whether there are changes. A patch may have
    /// megabytes, and a listing contains those of thousands of sessions.
    pub(in crate::adapters::jules) fn drop_patches(&mut self) {
        self.outputs.retain_mut(|output| {
            match output {
                Output::PullRequest(pull) => pull.description = String::new(),
                Output::ChangeSet(changes) => changes.drop_patch(),
                Output::Unknown(_) => return false,
            }
            true
        });
    }
}

/// What a session works on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceContext {
    /// The source's name.
    #[serde(deserialize_with = "text")]
    pub source: String,
    /// The branch on which the session started.
    #[serde(deserialize_with = "defaulted")]
    pub github_repo_context: GitHubRepoContext,
}

/// Where in a repository a session started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GitHubRepoContext {
    /// The branch.
    #[serde(deserialize_with = "text")]
    pub starting_branch: String,
}

/// An output of a session. There is no tag: the field's name is the kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// A pull request.
    PullRequest(PullRequest),
    /// Changes that are in no pull request.
    ChangeSet(ChangeSet),
    /// Anything else, as it came.
    Unknown(Value),
}

impl<'de> Deserialize<'de> for Output {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let known = |key: &str| {
            value
                .as_object()
                .and_then(|object: &Object| object.get(key))
        };
        if let Some(Ok(pull)) = known("pullRequest").map(PullRequest::deserialize) {
            return Ok(Self::PullRequest(pull));
        }
        if let Some(Ok(changes)) = known("changeSet").map(ChangeSet::deserialize) {
            return Ok(Self::ChangeSet(changes));
        }
        Ok(Self::Unknown(value))
    }
}

/// A pull request that a session opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PullRequest {
    /// Its page on GitHub.
    #[serde(deserialize_with = "text")]
    pub url: String,
    /// Its title.
    #[serde(deserialize_with = "text")]
    pub title: String,
    /// Its text.
    #[serde(deserialize_with = "text")]
    pub description: String,
    /// Its base branch.
    #[serde(deserialize_with = "text")]
    pub base_ref: String,
    /// Its branch.
    #[serde(deserialize_with = "text")]
    pub head_ref: String,
}

/// The fields of a new session. The API refuses unknown fields, so these are all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "Value")]
pub struct NewSession {
    /// What to do.
    pub prompt: String,
    /// The title.
    pub title: Option<String>,
    /// The source's name and the branch to start from. `None`: a session without a repository.
    pub source: Option<(String, String)>,
    /// Whether Jules opens a pull request.
    pub open_pull: bool,
    /// Whether it waits for its plan to be approved.
    pub require_plan_approval: bool,
    /// Whether it gets the environment variables that the repository has at Jules.
    pub environment_variables: bool,
}

impl From<NewSession> for Value {
    fn from(new: NewSession) -> Self {
        let mut body = Object::new();
        body.insert("prompt".into(), new.prompt.into());
        if let Some(title) = new.title {
            body.insert("title".into(), title.into());
        }
        if let Some((source, branch)) = new.source {
            let mut context = serde_json::json!({"source": source, "githubRepoContext": {"startingBranch": branch}});
            // Send it only if needed: the field is newer than the others.
            if new.environment_variables {
                context["environmentVariablesEnabled"] = true.into();
            }
            body.insert("sourceContext".into(), context);
        }
        if new.open_pull {
            body.insert("automationMode".into(), "AUTO_CREATE_PR".into());
        }
        if new.require_plan_approval {
            body.insert("requirePlanApproval".into(), true.into());
        }
        Self::Object(body)
    }
}
