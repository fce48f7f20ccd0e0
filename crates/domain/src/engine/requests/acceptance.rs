//! What becomes of a request of this tick.

use super::command_result::CommandResult;
use crate::engine::output::report::Reason;

/// What becomes of a request of this tick.
pub(crate) enum Acceptance {
    /// An earlier tick recorded it. The process died before it removed the label, or GitHub shows an earlier state.
    Known { was_refused: bool },
    /// More must be read first; the text says what.
    Unread(String),
    /// An unauthorized account wrote it in a comment, so it causes neither an answer nor a commit.
    Ignored(Reason, String),
    /// It is not authorized.
    Refused(Reason, String),
    /// Its command was executed.
    Executed(CommandResult),
}
