//! Builds the values that pages show of a repository, after each tick and from the facts of that
//! tick.

use jiff::Timestamp;
use phileas_domain::engine::{
    BudgetFigures, Ledger, Line, Notice, Snapshot, Yield, budget_figures, next_step,
    persona_yields, total_yield,
};
use phileas_domain::model::{PersonaId, RepositoryId, RepositoryName, TrackName};
use phileas_domain::plan::{self, StepKind, Track};
use phileas_domain::state::{HistoryEntry, Pause, State, TrackState};

use crate::runtime::TickReport;

/// The most sessions of one repository, newest first.
pub const MAX_SESSIONS: usize = 120;
/// The most tracks, schedules, lines or notices of one repository, each.
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
    /// GitHub's time at the end of the tick.
    pub at: Timestamp,
    /// When the decision wants the next check.
    pub wake_at: Option<Timestamp>,
    /// The tracks of the plan, by name.
    pub tracks: Vec<TrackSummary>,
    /// Schedules, by persona.
    pub schedules: Vec<ScheduleSummary>,
    /// The lines that concern the whole repository, requests included.
    pub lines: Vec<Line>,
    /// Sessions, newest first.
    pub sessions: Vec<HistoryEntry>,
    /// The results of each persona's work.
    pub yields: Vec<(PersonaId, Yield)>,
    /// The results of all work.
    pub total: Yield,
    /// The used budget.
    pub budget: BudgetFigures,
    /// When Jules last reported the use of the key.
    pub key_at: Option<Timestamp>,
    /// Open notices: number, and title.
    pub notices: Vec<(u64, String)>,
    /// The pause in the ledger.
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

/// One track.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackSummary {
    /// Its name.
    pub name: TrackName,
    /// Its steps in order: the persona's id, or `layer:<name>`.
    pub steps: Vec<String>,
    /// The step with a live turn.
    pub present: Option<usize>,
    /// The step that comes next.
    pub next: Option<usize>,
    /// How many turns it has had.
    pub seq: u64,
    /// How many passes it has had.
    pub passes: u64,
    /// When passes begin, if they do not follow each other.
    pub start: Option<String>,
    /// The lines of what it does or waits for.
    pub lines: Vec<Line>,
}

/// A persona that runs on a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleSummary {
    /// Who.
    pub persona: PersonaId,
    /// The cron expression with its zone; `None`: it runs on request only.
    pub cron: Option<String>,
    /// Its next time.
    pub next_at: Option<Timestamp>,
    /// Whether its turn is live.
    pub live: bool,
    /// The lines of what it does or waits for.
    pub lines: Vec<Line>,
}

/// The title of a notice without the prefix of all notices.
fn title_of(notice: &Notice) -> &str {
    let title = notice.title.strip_prefix("phileas: ");
    let title = title.unwrap_or(&notice.title).trim();
    if title.is_empty() { &notice.key } else { title }
}

impl Summary {
    /// Builds the summary of a tick. `None`: the tick read no facts.
    #[must_use]
    pub fn new(report: &TickReport) -> Option<Self> {
        let snapshot = report.seen.as_deref()?;
        let nothing = State::default();
        let state = match &snapshot.ledger {
            Ledger::Present { state, .. } => &**state,
            Ledger::Missing { .. } | Ledger::Corrupt { .. } => &nothing,
        };
        let lines = shown_lines(report);
        let plan = &snapshot.plan;
        let tracks = plan.tracks.values().take(MAX_ROWS);
        let schedules = plan.schedules.values().take(MAX_ROWS);
        let shown = |line: &Line| {
            line.track.as_ref().is_some_and(|name| {
                plan.tracks.contains_key(name)
                    || name
                        .schedule_persona()
                        .is_some_and(|persona| plan.schedules.contains_key(&persona))
            })
        };
        Some(Self {
            id: snapshot.repository.id,
            name: snapshot.repository.name.clone(),
            public: snapshot.repository.public,
            at: snapshot.now,
            wake_at: report.wake_at,
            tracks: tracks
                .map(|track| track_of(track, state.tracks.get(&track.name), &lines))
                .collect(),
            schedules: schedules
                .map(|schedule| {
                    let name = TrackName::of_schedule(&schedule.persona);
                    let cron = schedule.cron.as_ref();
                    ScheduleSummary {
                        persona: schedule.persona.clone(),
                        cron: cron.map(|cron| format!("{} {}", cron.expression(), cron.timezone())),
                        next_at: cron.and_then(|cron| cron.next_after(snapshot.now)),
                        live: state
                            .tracks
                            .get(&name)
                            .is_some_and(|track| !track.turns.is_empty()),
                        lines: of_track(&lines, &name),
                    }
                })
                .collect(),
            lines: lines
                .iter()
                .filter(|line| !shown(line))
                .take(MAX_ROWS)
                .cloned()
                .collect(),
            sessions: state
                .history
                .values()
                .rev()
                .take(MAX_SESSIONS)
                .map(strip_unused)
                .collect(),
            yields: persona_yields(snapshot)
                .into_iter()
                .take(MAX_ROWS)
                .collect(),
            total: total_yield(snapshot),
            key_at: budget_figures(snapshot).key_day.map(|_| snapshot.now),
            budget: budget_figures(snapshot),
            notices: snapshot
                .notices
                .iter()
                .take(MAX_ROWS)
                .map(|notice| (notice.number, short_line(title_of(notice))))
                .collect(),
            paused: state.paused.clone(),
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
        if self.budget.key_day.is_none() {
            self.budget.key_day = before.budget.key_day;
            self.budget.key_live = before.budget.key_live;
            self.key_at = before.key_at;
        }
    }

    /// All lines, in the order of the pages.
    pub fn all_lines(&self) -> impl Iterator<Item = &Line> {
        let tracks = self.tracks.iter().flat_map(|track| &track.lines);
        let schedules = self.schedules.iter().flat_map(|schedule| &schedule.lines);
        self.lines.iter().chain(tracks).chain(schedules)
    }
}

/// A finished action is shown only if something of it still waits; if nothing waits, the newest
/// action is shown.
fn shown_lines(report: &TickReport) -> Vec<Line> {
    let waits = |line: &Line| {
        report
            .waiting
            .iter()
            .any(|(_, other)| other.track == line.track && other.persona == line.persona)
    };
    let mut lines: Vec<Line> = Vec::new();
    for (_, line) in report.done.iter().rev() {
        let newer = lines.iter().any(|known| known.track == line.track);
        if !newer && !waits(line) {
            lines.push(line.clone());
        }
    }
    lines.extend(report.waiting.iter().map(|(_, line)| line.clone()));
    for line in &mut lines {
        line.detail = short_line(&line.detail);
    }
    lines
}

fn of_track(lines: &[Line], name: &TrackName) -> Vec<Line> {
    let own = lines
        .iter()
        .filter(|line| line.track.as_ref() == Some(name));
    own.take(MAX_ROWS).cloned().collect()
}

fn track_of(track: &Track, state: Option<&TrackState>, lines: &[Line]) -> TrackSummary {
    let nothing = TrackState::default();
    let state = state.unwrap_or(&nothing);
    let index = state.index.and_then(|index| usize::try_from(index).ok());
    let live = !state.turns.is_empty();
    TrackSummary {
        name: track.name.clone(),
        steps: track
            .steps
            .iter()
            .map(|step| match &step.kind {
                StepKind::Persona(id) => id.to_string(),
                StepKind::Layer(name) => format!("layer:{}", short_line(name)),
            })
            .collect(),
        present: index.filter(|index| live && *index < track.steps.len()),
        next: next_step(track, state),
        seq: state.seq,
        passes: state.passes,
        start: track
            .start
            .as_ref()
            .map(|cron| format!("{} {}", cron.expression(), cron.timezone())),
        lines: of_track(lines, &track.name),
    }
}

/// Removes keys that no page shows: those of other versions may be large.
fn strip_unused(entry: &HistoryEntry) -> HistoryEntry {
    HistoryEntry {
        extra: phileas_domain::state::Extra::new(),
        note: entry.note.as_deref().map(short_line),
        duplicates: Vec::new(),
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
