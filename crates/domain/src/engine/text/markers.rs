//! Marks in texts and branch names by which phileas finds again what it has written.

use crate::model::{Oid, PullNumber};

/// Before the names of the branches that sessions start from where a persona asks for one of its own.
pub(crate) const START_BRANCHES: &str = "phileas/";

/// Ends every status comment, so that it is found again where the state does not know it.
pub const STATUS_MARKER: &str = "<!-- phileas:status -->";

/// Stands at the beginning of its text.
pub(crate) const DASHBOARD_MARKER: &str = "<!-- phileas:notice:dashboard -->";

/// The last line of a message about the checks of a commit.
pub(crate) fn checks_marker(pull: PullNumber, head: &Oid) -> String {
    format!("phileas-message: pull {pull} checks {head}")
}

/// The last line of a message about merging the base into a commit.
pub(crate) fn base_marker(pull: PullNumber, head: &Oid) -> String {
    format!("phileas-message: pull {pull} base {head}")
}

/// The last line of a message about what reviewers of a commit want changed.
pub(crate) fn reviews_marker(pull: PullNumber, head: &Oid) -> String {
    format!("phileas-message: pull {pull} reviews {head}")
}
