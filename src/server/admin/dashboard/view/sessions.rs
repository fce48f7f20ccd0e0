//! The view of a repository's sessions, with links to their pages.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryName;
use phileas_domain::state::HistoryEntry;

use crate::server::admin::dashboard::format::{self, Moment};

/// The address of Jules' pages.
pub const JULES: &str = "https://jules.google.com";
/// A session older than this without an outcome does not run: the program that recorded it never
/// completed the entry.
const LONGEST_LIVE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// The persona.
    pub persona: String,
    /// The track.
    pub track: String,
    /// The number of the turn in its track, if it is known.
    pub seq: Option<u64>,
    /// When it began.
    pub began: Option<Moment>,
    /// Its duration until the outcome, or until now.
    pub lasted: Option<String>,
    /// Its outcome.
    pub outcome: String,
    /// The class of the outcome.
    pub class: &'static str,
    /// Its page.
    pub jules: Option<String>,
    /// Its pull request: the number, and the page.
    pub pull: Option<(u64, String)>,
    /// A remark.
    pub note: Option<String>,
}

/// The address of a session's page. `None`: the id is not valid in an address.
#[must_use]
pub fn jules_page(id: &str) -> Option<String> {
    let plain = !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric());
    plain.then(|| format!("{JULES}/session/{id}"))
}

/// The address of a pull request.
#[must_use]
pub fn pull_page(github: &str, repository: &RepositoryName, number: u64) -> String {
    format!("{github}/{repository}/pull/{number}")
}

/// Whether it has no outcome yet.
#[must_use]
pub fn is_live(entry: &HistoryEntry, now: Timestamp) -> bool {
    entry.outcome.is_none()
        && entry.turn.is_some()
        && entry
            .created_at
            .is_some_and(|at| now.duration_since(at) < LONGEST_LIVE)
}

/// Builds the view of a session at an instant. `github` is the address of GitHub's pages.
#[must_use]
pub fn session_view(
    entry: &HistoryEntry,
    repository: &RepositoryName,
    github: &str,
    now: Timestamp,
) -> SessionView {
    let live = is_live(entry, now);
    let end = if live { Some(now) } else { entry.finished_at };
    let lasted = entry
        .created_at
        .zip(end)
        .map(|(began, end)| end.duration_since(began))
        .filter(|length| !length.is_negative());
    SessionView {
        persona: entry.persona_id.to_string(),
        track: format::track_title(&entry.track_name()),
        seq: entry.seq,
        began: entry.created_at.map(|at| format::format_moment(at, now)),
        lasted: lasted.map(format::length_text),
        outcome: format::outcome_text(entry.outcome.as_ref(), live).to_owned(),
        class: format::outcome_class(entry.outcome.as_ref(), live),
        jules: entry
            .session_id
            .as_ref()
            .and_then(|id| jules_page(id.as_str())),
        pull: entry
            .pr_number
            .map(|number| (number.0, pull_page(github, repository, number.0))),
        note: entry.note.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_none_makes_no_link() {
        assert_eq!(
            jules_page("15481661885092594092").as_deref(),
            Some("https://jules.google.com/session/15481661885092594092")
        );
        for wrong in ["", "../x", "1?x", "javascript:1", "1\"2"] {
            assert_eq!(jules_page(wrong), None, "{wrong}");
        }
    }
}
