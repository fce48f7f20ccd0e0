//! The kinds, commands and outcomes of requests, as the state writes them.

/// The kind of a request that a person made by a command.
pub(crate) const BY_COMMAND: &str = "dispatch";

/// The kind of a request that was made by a label.
pub(crate) const BY_LABEL: &str = "label";

/// The kind of a request that was made by a comment.
pub(crate) const BY_COMMENT: &str = "comment";

/// The kind of a request that was made by a box of the dashboard issue.
pub(crate) const BY_BOX: &str = "box";

/// The outcome of a request that was taken up and not yet started.
pub(crate) const PENDING: &str = "pending";

/// The outcome of a request that was not let through, or cannot be fulfilled.
pub(crate) const REFUSED: &str = "refused";

/// The outcome of a command that was carried out.
pub(crate) const DONE: &str = "done";

/// Stands in the state for a command that is none.
pub(crate) const UNKNOWN: &str = "unknown";

/// What can be said behind `/phileas`, and what it does.
pub(crate) const COMMANDS: [(&str, &str); 11] = [
    (
        "run PERSONA",
        "starts a session of this persona on the issue or pull request",
    ),
    (
        "retry",
        "starts again what is over, and lets continue what waits for a person; on a pull request of a session, tells the \
         session what reviewers want changed",
    ),
    ("approve", "approves the plan that a session waits with"),
    (
        "cancel",
        "ends what is at work here, and takes back what waits",
    ),
    (
        "pause",
        "nothing starts in the repository until `/phileas resume`",
    ),
    ("resume", "ends the pause"),
    ("stop", "pauses the repository, and ends every session"),
    ("status", "tells how each track stands"),
    ("explain", "tells everything that was decided, with details"),
    ("dashboard", "opens the dashboard issue"),
    ("help", "lists these commands"),
];

/// The label that keeps everything from starting on what it is put on.
pub(crate) const HOLD: &str = "hold";

/// The label that pauses the repository.
pub(crate) const PAUSE: &str = "pause";

/// The longest word that could be a persona's id; GitHub's labels are no longer than 50 characters themselves.
pub(crate) const WORD_LIMIT: usize = 100;

/// Whether a word has the form of a persona's id. Others do not get into the ledger.
pub(crate) fn could_be_persona(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    word.len() <= WORD_LIMIT && word.chars().all(fits)
}
