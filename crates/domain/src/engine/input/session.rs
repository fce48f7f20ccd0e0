//! Jules' sessions, their activities, and how complete a listing of them is.

use jiff::Timestamp;

use crate::model::{PullNumber, RepositoryName, SessionId};

/// How far a listing of sessions must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingNeed {
    /// Back to sessions created at this instant, archived ones not needed.
    Since(Timestamp),
    /// Back to this instant, archived ones included: good enough to say that a session does not exist.
    CompleteSince(Timestamp),
    /// Everything, archived ones included.
    Everything,
}

impl ListingNeed {
    /// One listing that answers both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
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

/// What Jules answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Listing {
    /// Nothing was asked.
    #[default]
    NotTaken,
    /// Jules did not answer, or not all of it.
    Failed(Outage),
    /// It answered.
    Taken(Sessions),
}

/// Why an outside system did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    /// One line, free of secrets.
    pub detail: String,
    /// When to ask again at the earliest.
    pub retry_at: Option<Timestamp>,
    /// Whether the credential was refused: asking again is useless until a person acts.
    pub credential: bool,
}

/// A listing of sessions. Sessions of other repositories were dropped, but for the count.
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    /// When the listing was begun.
    pub taken_at: Timestamp,
    /// Every session created since then is in it. `None`: every session there is.
    pub since: Option<Timestamp>,
    /// Whether archived sessions are in it.
    pub archived: bool,
    /// Sessions of this repository, oldest first.
    pub sessions: Vec<Session>,
    /// What the key has in use, over all repositories.
    pub key: KeyUse,
}

/// What a Jules key has in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyUse {
    /// Sessions that are not ended.
    pub active: u32,
    /// Sessions created in the last 24 hours, as far as the listing reaches.
    pub created_last_day: u32,
}

/// A Jules session.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Where it stands.
    pub state: SessionState,
    /// Its title; Jules may have changed it.
    pub title: String,
    /// Its prompt, where the listing shows it.
    pub prompt: Option<String>,
    /// The repository it works on. `None`: it works on none, or the listing does not say.
    pub source: Option<RepositoryName>,
    /// It names another repository, which may be a name of this one from before a rename, and the listing hides the prompt
    /// that would tell. It has no `source` then.
    pub elsewhere: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Whether it is archived.
    pub archived: bool,
    /// Pull requests that it says are its own, in this repository.
    pub pulls: Vec<PullNumber>,
    /// Whether it shows changes.
    pub has_changes: bool,
}

/// Where a session stands. What this program does not know counts as running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    /// Accepted.
    Queued,
    /// Making a plan.
    Planning,
    /// Its plan waits for approval.
    AwaitingPlanApproval,
    /// It asked something.
    AwaitingUserFeedback,
    /// At work.
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
    /// The word that Jules has for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Queued => "QUEUED",
            Self::Planning => "PLANNING",
            Self::AwaitingPlanApproval => "AWAITING_PLAN_APPROVAL",
            Self::AwaitingUserFeedback => "AWAITING_USER_FEEDBACK",
            Self::InProgress => "IN_PROGRESS",
            Self::Paused => "PAUSED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Unknown(word) => word,
        }
    }

    /// Whether it takes up one of the key's places.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Completed | Self::Failed)
    }
}

/// One activity of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// Its id.
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

/// What an activity is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityKind {
    /// Jules said something: untrusted text.
    AgentMessaged(String),
    /// Somebody answered.
    UserMessaged(String),
    /// A plan was made, of these steps.
    PlanGenerated(Vec<PlanStep>),
    /// A plan was approved.
    PlanApproved,
    /// It moved.
    Progress,
    /// The session ended.
    Completed,
    /// The session failed, with Jules' reason.
    Failed(String),
    /// Anything else, by its key on the wire.
    Unknown(String),
}

impl Sessions {
    /// Whether a session created at or after `instant` would be in this listing, archived or not.
    #[must_use]
    pub fn covers(&self, instant: Timestamp) -> bool {
        self.archived && self.since.is_none_or(|since| since <= instant)
    }

    /// What this listing is an answer to.
    pub(crate) fn reach(&self) -> ListingNeed {
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
