//! The full record of a session, with all values as clients sent them.

use jiff::Timestamp;
use serde::Serialize;

use super::state::State;

/// Who did something to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Through the API.
    Api,
    /// A person in the web app.
    WebApp,
    /// The service by itself.
    Service,
}

/// Something that was done to a session from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Act {
    /// When.
    pub at: Timestamp,
    /// `message`, `approve`, `archive`, `unarchive`, `pause`, `resume` or `delete`.
    pub what: &'static str,
    /// The channel.
    pub via: Via,
    /// The text of a message; empty for the others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Everything about one session. It is never deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SessionRecord {
    /// The session's id.
    pub id: String,
    /// The login of the account.
    pub account: String,
    /// The API key that was used; empty for the web app.
    pub key: String,
    /// The channel by which it was created.
    pub via: Via,
    /// The source's name as it was sent; empty without one.
    pub source: String,
    /// The starting branch as it was sent.
    pub starting_branch: String,
    /// The title as it was sent.
    pub title: String,
    /// The prompt as it was sent.
    pub prompt: String,
    /// As it was sent.
    pub require_plan_approval: bool,
    /// As it was sent.
    pub auto_create_pull: bool,
    /// As it was sent.
    pub environment_variables: bool,
    /// When.
    pub created: Timestamp,
    /// Whether the create was answered with an error although the session exists.
    pub refused_after_effect: bool,
    /// Every state with the instant of its beginning.
    pub states: Vec<(Timestamp, State)>,
    /// Everything that was done to it.
    pub acts: Vec<Act>,
    /// The branch that it pushed.
    pub branch: Option<String>,
    /// The number of the pull request that it opened.
    pub pull: Option<u64>,
    /// The titles of the ideas that it planned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ideas: Vec<String>,
    /// The commits that it pushed.
    pub commits: Vec<String>,
}

impl SessionRecord {
    /// The present state.
    pub fn state(&self) -> State {
        self.states
            .last()
            .map_or(State::Queued, |(_, state)| *state)
    }

    /// Whether title or prompt, as they were sent, hold this text.
    pub fn mentions(&self, text: &str) -> bool {
        self.title.contains(text) || self.prompt.contains(text)
    }
}
