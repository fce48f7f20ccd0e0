//! Jules' sessions, their activities, and how complete a listing is.

use jiff::Timestamp;

use crate::model::{PullNumber, RepositoryName, SessionId};

/// How far a listing of sessions must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingNeed {
    /// Back to sessions created at this instant; archived ones are not needed.
    Since(Timestamp),
    /// Back to this instant, archived ones included: proof that a session does not exist.
    CompleteSince(Timestamp),
    /// Everything, archived ones included.
    Everything,
}

impl ListingNeed {
    /// Combines two needs into one listing that answers both.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        use ListingNeed::CompleteSince;
        use ListingNeed::Everything;
        use ListingNeed::Since;
        match (self, other) {
            (Everything, _) | (_, Everything) => Everything,
            (Since(a), Since(b)) => Since(a.min(b)),
            (Since(a) | CompleteSince(a), Since(b) | CompleteSince(b)) => CompleteSince(a.min(b)),
        }
    }
}

/// Jules' answer to a listing.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Listing {
    /// No listing was requested.
    #[default]
    NotTaken,
    /// Jules did not answer, or not completely.
    Failed(Outage),
    /// It answered.
    Taken(Sessions),
}

/// Why GitHub or Jules did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    /// One line, free of secrets.
    pub detail: String,
    /// The earliest time of the next attempt.
    pub retry_at: Option<Timestamp>,
    /// Whether the credential was refused, so that only a person can fix it.
    pub credential: bool,
}

/// A listing of sessions of this repository. Other repositories' sessions only count in [`KeyUsage`].
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    /// When the listing was started.
    pub taken_at: Timestamp,
    /// The listing contains every session created since then; `None`: every session.
    pub since: Option<Timestamp>,
    /// Whether it contains archived sessions.
    pub archived: bool,
    /// Sessions of this repository, oldest first.
    pub sessions: Vec<Session>,
    /// The key's usage over all repositories.
    pub key: KeyUsage,
}

/// The usage of a Jules key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyUsage {
    /// Live sessions.
    pub active: u32,
    /// Sessions created in the last 24 hours, as far as the listing reaches.
    pub created_last_day: u32,
}

/// A Jules session, as the repository sees it that it may work on. [`crate::jobs::AccountSession`] is one of whatever
/// repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its state.
    pub state: SessionState,
    /// Its title; Jules may have changed it.
    pub title: String,
    /// Its prompt, where the listing shows it.
    pub prompt: Option<String>,
    /// The repository it works on. `None`: it works on none, or the listing does not say.
    pub source: Option<RepositoryName>,
    /// Whether it names another repository, which may be an earlier name of this one, and the listing hides the prompt
    /// that would tell. It has no `source` then.
    pub elsewhere: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Whether it is archived.
    pub archived: bool,
    /// Pull requests that it lists as its outputs, in this repository.
    pub pulls: Vec<PullNumber>,
    /// Whether it shows changes.
    pub has_changes: bool,
}

/// The state of a session. Unknown states count as running.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum SessionState {
    /// Accepted.
    Queued,
    /// Making a plan.
    Planning,
    /// Its plan waits for approval.
    AwaitingPlanApproval,
    /// It asked a question.
    AwaitingUserFeedback,
    /// Working.
    InProgress,
    /// Paused by a person, or archived while running.
    Paused,
    /// Ended; a message can reopen it.
    Completed,
    /// Ended for good.
    Failed,
    /// Anything else, as Jules wrote it.
    Unknown(String),
}

impl SessionState {
    /// The states that Jules documents.
    pub const KNOWN: [Self; 8] = [
        Self::Queued,
        Self::Planning,
        Self::AwaitingPlanApproval,
        Self::AwaitingUserFeedback,
        Self::InProgress,
        Self::Paused,
        Self::Completed,
        Self::Failed,
    ];

    /// Jules' name for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unknown(word) => word,
            named => named.into(),
        }
    }

    /// Whether it counts against the key's live sessions.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Completed | Self::Failed)
    }
}

/// One activity of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Its id, unique in its session.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: ActivityKind,
    /// Whether it carries a change set.
    pub has_changes: bool,
}

/// A step of a session's plan. Both texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanStep {
    /// What is done.
    pub title: String,
    /// More of it; may be empty.
    pub description: String,
}

/// What an activity is. The texts come from Jules or a person, and are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityKind {
    /// Jules wrote a message.
    AgentMessaged(String),
    /// A user wrote a message.
    UserMessaged(String),
    /// Jules made a plan.
    PlanGenerated {
        /// The plan's id; a revised plan has another one.
        id: String,
        /// Its steps.
        steps: Vec<PlanStep>,
    },
    /// A plan was approved.
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
    /// Anything else, by its JSON key.
    Unknown(String),
}

impl Sessions {
    /// Whether the listing contains every session created at or after `instant`, archived or not.
    #[must_use]
    pub fn covers(&self, instant: Timestamp) -> bool {
        self.archived && self.since.is_none_or(|since| since <= instant)
    }

    /// The need that this listing answers.
    pub(crate) fn covered_range(&self) -> ListingNeed {
        match (self.since, self.archived) {
            (None, true) => ListingNeed::Everything,
            (Some(since), true) => ListingNeed::CompleteSince(since),
            (since, false) => ListingNeed::Since(since.unwrap_or(Timestamp::MIN)),
        }
    }

    /// The session of an id.
    #[must_use]
    pub fn get(&self, id: &SessionId) -> Option<&Session> {
        self.sessions.iter().find(|session| session.id == *id)
    }
}
