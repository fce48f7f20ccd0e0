//! The view of a repository's sessions, with links to their pages.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{place_text, plain_text, session_page, span_text};
use phileas_domain::model::RepositoryName;
use phileas_domain::state::HistoryEntry;

use crate::server::admin::dashboard::format::{self, Moment};

/// A session without an outcome that is older than this was never completed by the program that wrote it; it is not running.
const LONGEST_LIVE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// The persona.
    pub persona: String,
    /// Who, and in which track.
    pub place: String,
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
    pub pull: Option<(u64, Option<String>)>,
    /// A remark.
    pub note: Option<String>,
}

/// The address of a pull request; `None` if pages have none, as in a sandbox.
#[must_use]
pub fn pull_page(github: Option<&str>, repository: &RepositoryName, number: u64) -> Option<String> {
    github.map(|github| format!("{github}/{repository}/pull/{number}"))
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

/// Builds the view of a session at an instant. `github` is the address of GitHub's pages. Without it nothing is linked.
#[must_use]
pub fn session_view(
    entry: &HistoryEntry,
    repository: &RepositoryName,
    github: Option<&str>,
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
        place: plain_text(&place_text(Some(&entry.persona_id), &entry.track_name())),
        began: entry.created_at.map(|at| format::format_moment(at, now)),
        lasted: lasted.map(span_text),
        outcome: format::outcome_text(entry.outcome.as_ref(), live),
        class: format::outcome_class(entry.outcome.as_ref(), live),
        jules: github.and(entry.session_id.as_ref().map(session_page)),
        pull: entry
            .pr_number
            .map(|number| (number.0, pull_page(github, repository, number.0))),
        note: entry.note.clone(),
    }
}
