//! Markers by which phileas recognizes the texts and branches that it wrote.

use crate::model::{Oid, PullNumber};

/// Prefix of the branches that sessions start from with `branch = "persona"`.
pub(crate) const START_BRANCHES: &str = "phileas/";

/// Ends every status comment, so that a lost one is found again.
pub const STATUS_MARKER: &str = "<!-- phileas:status -->";

/// Begins the reason of a pause by a command; the number of its issue or pull request follows.
pub(crate) const REQUESTED_ON: &str = "requested on #";

/// Begins the text of the dashboard issue.
pub(crate) const DASHBOARD_MARKER: &str = "<!-- phileas:notice:dashboard -->";

/// Begins the last line of each message to a session.
pub(crate) const MESSAGE_MARKER: &str = "phileas-message: ";

/// Whether a message to a session is a person's. `phileas session message` writes a marker, too: `…/person-<second>`.
pub(crate) fn is_of_person(message: &str) -> bool {
    // A person may quote a message of phileas, and go on below it.
    let last = message.trim_end().lines().next_back().unwrap_or_default();
    let which = last.strip_prefix(MESSAGE_MARKER);
    which.is_none_or(|which| which.contains("/person-"))
}

/// The last line of a message about the checks of a commit.
pub(crate) fn checks_marker(pull: PullNumber, head: &Oid) -> String {
    format!("{MESSAGE_MARKER}pull {pull} checks {head}")
}

/// The last line of a message about merging the base into a commit.
pub(crate) fn base_marker(pull: PullNumber, head: &Oid) -> String {
    format!("{MESSAGE_MARKER}pull {pull} base {head}")
}

/// The last line of a message about requested changes on a commit.
pub(crate) fn reviews_marker(pull: PullNumber, head: &Oid) -> String {
    format!("{MESSAGE_MARKER}pull {pull} reviews {head}")
}
