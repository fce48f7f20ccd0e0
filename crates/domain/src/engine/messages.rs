//! What phileas says to sessions. Each message ends in a marker, so that a successor sees that it was sent.

use crate::state::Turn;

/// The last line of a message: `phileas-message: <turn>.<attempt>/<which>`.
pub(super) fn message_marker(turn: &Turn, which: &str) -> String {
    format!("phileas-message: {}.{}/{which}", turn.turn, turn.attempt)
}

/// The standard answer to a question.
pub(super) fn answer(marker: &str) -> String {
    format!(
        "Nobody is watching this session right now. Choose the option that you would recommend yourself, prefer the \
         smaller and safer one, write down the assumption in the pull request's description, and finish the task.\n\n\
         {marker}"
    )
}

/// The reminder to a session that ended without a result.
pub(super) fn reminder(marker: &str) -> String {
    format!(
        "This session ended without a pull request. If you made changes, open a pull request with them now. If you \
         wait for an answer, decide yourself and finish. If there is nothing worth changing, just say so; then nothing \
         more is needed.\n\n{marker}"
    )
}
