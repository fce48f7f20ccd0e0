//! The commands of requests, and the labels that hold or pause.

/// The name of an unknown command in the state.
pub(crate) const UNKNOWN: &str = "unknown";

/// The commands after `/phileas`, and what they do.
pub(crate) const COMMANDS: [(&str, &str); 13] = [
    (
        "run PERSONA",
        "starts a session of this persona on the issue or pull request",
    ),
    (
        "retry",
        "requests finished work again, and resumes what waits for a person; on a pull request of a session, sends its \
         reviews to the session",
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
    ("status", "shows the status of each track"),
    ("explain", "shows everything that was decided, with details"),
    ("dashboard", "opens the dashboard issue"),
    (
        "refuse REASON [never]",
        "closes a pull request of Jules, and remembers why: `duplicate`, `out-of-scope`, `no-evidence`, `wrong` or \
         `too-large`; with `never`, for ever",
    ),
    (
        "forget",
        "withdraws the refusal of a pull request, so that no prompt names it",
    ),
    ("help", "lists these commands"),
];

/// The label that keeps phileas from starting anything on its issue or pull request.
pub(crate) const HOLD: &str = "hold";

/// The label that keeps phileas from marking and closing its pull request.
pub(crate) const KEEP: &str = "keep";

/// The label of a pull request that does the same as another one.
pub(crate) const DUPLICATE: &str = "duplicate";

/// The label of a pull request that changes nothing.
pub(crate) const NO_OP: &str = "no-op";

/// The labels that ask for nothing.
pub(crate) const MARKS: [&str; 5] = [HOLD, PAUSE, KEEP, DUPLICATE, NO_OP];

/// The label that pauses the repository.
pub(crate) const PAUSE: &str = "pause";
