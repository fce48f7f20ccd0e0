//! The result of a request's command.

use crate::engine::output::report::Reason;
use crate::model::{Oid, PersonaId};

/// A refusal: its reason, and a sentence for the report.
pub(crate) type Refusal = (Reason, String);

/// The result of a command.
pub(crate) enum CommandResult {
    /// It was executed; the answer may be empty.
    Executed(String),
    /// A session of this persona, or of the work item of this slot, is requested.
    StartSession(PersonaId),
    /// The merge of this commit is requested.
    Merge(Oid),
    /// The reviews of this commit are to be sent to its session.
    SendReviews(Oid),
    /// It is refused.
    Refused(Reason, String),
    /// More must be read first, and nothing was done.
    NeedsRead,
}

impl From<Result<String, Refusal>> for CommandResult {
    fn from(result: Result<String, Refusal>) -> Self {
        match result {
            Ok(answer) => Self::Executed(answer),
            Err((reason, text)) => Self::Refused(reason, text),
        }
    }
}

impl From<Result<PersonaId, Refusal>> for CommandResult {
    fn from(result: Result<PersonaId, Refusal>) -> Self {
        match result {
            Ok(persona) => Self::StartSession(persona),
            Err((reason, text)) => Self::Refused(reason, text),
        }
    }
}

impl CommandResult {
    pub(crate) fn nothing_to_do(text: &str) -> Self {
        Self::Refused(Reason::NothingToDo, text.to_owned())
    }
}
