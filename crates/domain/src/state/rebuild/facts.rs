//! The input and the result of a rebuild.

use jiff::Timestamp;

use crate::model::{PullNumber, SessionId};
use crate::state::State;

/// What Jules and GitHub report about one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFact {
    /// Its id.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Its prompt, if Jules shows it.
    pub prompt: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// How it ended. `None`: it is running.
    pub ended: Option<SessionEnd>,
    /// Its pull request.
    pub pull: Option<(PullNumber, PullOutcome)>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// When it last changed.
    pub at: Timestamp,
    /// Its result.
    pub result: SessionResult,
}

/// The result of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionResult {
    /// Changes, in a pull request or in the session.
    Changes,
    /// Nothing.
    Nothing,
    /// It failed.
    Failed,
}

/// The status of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullOutcome {
    /// It is open.
    Open,
    /// It was merged.
    Merged,
    /// It was closed without a merge.
    Closed,
}

/// A proposed state, and remarks for the person who accepts it.
#[derive(Debug, Clone, PartialEq)]
pub struct RebuildProposal {
    /// The state.
    pub state: State,
    /// One line for each fact that could not be determined.
    pub notes: Vec<String>,
}
