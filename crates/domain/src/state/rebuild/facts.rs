//! What a state is rebuilt from, and what comes of it.

use jiff::Timestamp;

use crate::model::{PullNumber, SessionId};
use crate::state::State;

/// What Jules and GitHub say of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFact {
    /// Its id.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Its prompt, where Jules shows it.
    pub prompt: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// How it ended. `None`: it is at work.
    pub ended: Option<SessionEnd>,
    /// Its pull request.
    pub pull: Option<(PullNumber, PullFate)>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// When it last changed.
    pub at: Timestamp,
    /// How.
    pub how: Ending,
}

/// What a session left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Changes, in a pull request or in the session.
    Changes,
    /// Nothing.
    Nothing,
    /// It failed.
    Failed,
}

/// What became of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullFate {
    /// It is open.
    Open,
    /// It was merged.
    Merged,
    /// It was closed without a merge.
    Closed,
}

/// A proposed state, and what people should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebuilt {
    /// The state.
    pub state: State,
    /// One line for each thing that could not be found out.
    pub notes: Vec<String>,
}
