//! Jules' requests and answers. Answers leave out default values (proto3), so every field may be missing. Unknown
//! kinds and enum values are kept as they came.

mod activity;
mod change_set;
mod lenient;
mod session;
mod source;

pub use activity::{Activity, Artifact, Kind, Plan, PlanStep};
pub use change_set::{ChangeSet, GitPatch};
pub use session::{GitHubRepoContext, NewSession, Output, PullRequest, Session, SourceContext};
pub use source::{Branch, GitHubRepo, Source};

use serde::{Deserialize, Serialize};

use lenient::defaulted;

/// One page of sources.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourcePage {
    /// The sources.
    #[serde(deserialize_with = "defaulted")]
    pub sources: Vec<Source>,
    /// Where the next page begins; empty on the last one.
    #[serde(deserialize_with = "defaulted")]
    pub next_page_token: String,
}

/// One page of sessions.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionPage {
    /// The sessions.
    #[serde(deserialize_with = "defaulted")]
    pub sessions: Vec<Session>,
    /// Where the next page begins; empty on the last one.
    #[serde(deserialize_with = "defaulted")]
    pub next_page_token: String,
}

/// One page of activities.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ActivityPage {
    /// The activities.
    #[serde(deserialize_with = "defaulted")]
    pub activities: Vec<Activity>,
    /// Where the next page begins; empty on the last one.
    #[serde(deserialize_with = "defaulted")]
    pub next_page_token: String,
}

/// The body of `sendMessage`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Message<'a> {
    pub(super) prompt: &'a str,
}
