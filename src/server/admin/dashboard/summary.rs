//! Builds the values that pages show of a repository, after each tick and from the facts of that
//! tick.

use jiff::Timestamp;
use phileas_domain::engine::{Ledger, Line, RepositoryView, Snapshot};
use phileas_domain::model::{RepositoryId, RepositoryName};
use phileas_domain::plan;
use phileas_domain::state::{HistoryEntry, Pause};

use crate::runtime::TickReport;

/// The most sessions of one repository, newest first.
pub const MAX_SESSIONS: usize = 120;
/// The most tracks, lines, personas or notices of one repository that are kept of each.
pub const MAX_ROWS: usize = 200;
/// The most findings about a plan.
pub const MAX_FINDINGS: usize = 20;
/// The longest external text, in characters.
pub const MAX_TEXT: usize = 300;

/// One repository after its last good tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// GitHub's number of the repository.
    pub id: RepositoryId,
    /// Its name.
    pub name: RepositoryName,
    /// Whether it is public.
    pub public: bool,
    /// What all renderers show of it.
    pub view: RepositoryView,
    /// Sessions, newest first.
    pub sessions: Vec<HistoryEntry>,
    /// When Jules was last asked what is spent of its key.
    pub key_at: Option<Timestamp>,
    /// The pause that stands in the ledger.
    pub paused: Option<Pause>,
    /// Whether the default branch has a plan.
    pub has_plan: bool,
    /// What is wrong with the ledger or the plan.
    pub findings: Vec<String>,
    /// The heading of these findings.
    pub findings_title: &'static str,
    /// The effects that failed.
    pub failed: Vec<String>,
}

impl Summary {
    /// Builds the summary of a tick. `None`: the tick read no facts.
    #[must_use]
    pub fn new(report: &TickReport) -> Option<Self> {
        let snapshot = report.seen.as_deref()?;
        let state = match &snapshot.ledger {
            Ledger::Present { state, .. } => Some(&**state),
            Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
        };
        let mut view = RepositoryView::new(snapshot, report.current_lines());
        view.tracks.truncate(MAX_ROWS);
        view.needs.truncate(MAX_ROWS);
        view.yields.truncate(MAX_ROWS);
        view.prompt_yields.truncate(MAX_ROWS);
        for lane in &mut view.review {
            lane.pulls.truncate(MAX_ROWS);
            for pull in &mut lane.pulls {
                pull.title = short_line(&pull.title);
            }
        }
        shorten(&mut view.other_lines);
        for track in &mut view.tracks {
            shorten(&mut track.lines);
        }
        let sessions = state
            .into_iter()
            .flat_map(|state| state.history.values().rev());
        Some(Self {
            id: snapshot.repository.id,
            name: snapshot.repository.name.clone(),
            public: snapshot.repository.public,
            sessions: sessions.take(MAX_SESSIONS).map(strip_unused).collect(),
            key_at: view.budget.key_day.map(|_| snapshot.now),
            view,
            paused: state.and_then(|state| state.paused.clone()),
            has_plan: !plan::is_absent(&snapshot.tree),
            findings: list_diagnostics(snapshot),
            findings_title: findings_title(snapshot),
            failed: report
                .failed
                .iter()
                .take(MAX_FINDINGS)
                .map(|one| {
                    let what = one.what.replace('_', " ");
                    short_line(&format!("{what} failed for {}: {}", one.about, one.detail))
                })
                .collect(),
        })
    }

    /// Copies what an earlier tick knew about the key, if this one did not ask Jules.
    pub fn carry_over(&mut self, before: &Self) {
        let (budget, known) = (&mut self.view.budget, &before.view.budget);
        if budget.key_day.is_none() {
            budget.key_day = known.key_day;
            budget.key_live = known.key_live;
            self.key_at = before.key_at;
        }
    }

    /// All lines, in the order of the pages.
    pub fn all_lines(&self) -> impl Iterator<Item = &Line> {
        let tracks = self.view.tracks.iter().flat_map(|track| &track.lines);
        self.view.other_lines.iter().chain(tracks)
    }
}

fn shorten(lines: &mut Vec<Line>) {
    lines.truncate(MAX_ROWS);
    for line in lines {
        line.detail = short_line(&line.detail);
    }
}

/// Removes keys that no page shows: those of other versions may be large.
fn strip_unused(entry: &HistoryEntry) -> HistoryEntry {
    HistoryEntry {
        extra: phileas_domain::state::Extra::new(),
        note: entry.note.as_deref().map(short_line),
        duplicates: Vec::new(),
        zero_touch: None,
        review_secs: None,
        refused: None,
        prompt: None,
        ..entry.clone()
    }
}

fn list_diagnostics(snapshot: &Snapshot) -> Vec<String> {
    let ledger = match &snapshot.ledger {
        Ledger::Corrupt { diagnostics, .. } => diagnostics.as_slice(),
        Ledger::Missing { .. } | Ledger::Present { .. } => &[],
    };
    let all = ledger.iter().chain(&snapshot.plan_diagnostics);
    // A repository may have no plan: the service may manage all repositories of an account.
    let is_absent = plan::is_absent(&snapshot.tree);
    let all = all.filter(|one| !(is_absent && one.file == plan::SCHEDULES_PATH));
    all.take(MAX_FINDINGS)
        .map(|one| short_line(&one.to_string()))
        .collect()
}

fn findings_title(snapshot: &Snapshot) -> &'static str {
    let mut plan = snapshot.plan_diagnostics.iter();
    match &snapshot.ledger {
        Ledger::Corrupt { .. } => "The state file cannot be read",
        _ if plan.any(phileas_domain::Diagnostic::is_error) => "The plan has mistakes",
        _ => "The plan has warnings",
    }
}

/// Shortens a text to one line of at most [`MAX_TEXT`] characters, without control characters.
#[must_use]
pub fn short_line(text: &str) -> String {
    let mut line = String::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control() || is_direction(c));
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(MAX_TEXT) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// Whether a character changes the direction of the text after it, so that a text can look like
/// another one.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_short_and_steer_nothing() {
        assert_eq!(short_line("a\u{1b}[1m\n b\u{202e}c"), "a [1m b c");
        let long = short_line(&"x".repeat(MAX_TEXT + 5));
        assert_eq!(long.chars().count(), MAX_TEXT + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn a_tick_that_saw_nothing_shows_nothing() {
        assert_eq!(Summary::new(&TickReport::default()), None);
    }
}
