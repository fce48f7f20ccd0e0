//! The states of a session.

use serde::Serialize;

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Accepted, waiting for a machine.
    Queued,
    /// Making a plan.
    Planning,
    /// Waiting for an approval of its plan.
    AwaitingPlanApproval,
    /// Waiting for an answer.
    AwaitingUserFeedback,
    /// Working.
    InProgress,
    /// Stopped in the web app or by archiving.
    Paused,
    /// Done, until a message wakes it.
    Completed,
    /// Failed.
    Failed,
}

impl State {
    /// The name on the wire.
    pub fn wire_name(self) -> &'static str {
        match self {
            State::Queued => "QUEUED",
            State::Planning => "PLANNING",
            State::AwaitingPlanApproval => "AWAITING_PLAN_APPROVAL",
            State::AwaitingUserFeedback => "AWAITING_USER_FEEDBACK",
            State::InProgress => "IN_PROGRESS",
            State::Paused => "PAUSED",
            State::Completed => "COMPLETED",
            State::Failed => "FAILED",
        }
    }

    /// Whether the session counts against the concurrent limit of its account.
    pub fn is_active(self) -> bool {
        !matches!(self, State::Paused | State::Completed | State::Failed)
    }
}
