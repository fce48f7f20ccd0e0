//! The view of the page of one repository.

use jiff::Timestamp;
use phileas_domain::engine::Forecast;

use super::front::of_standing;
use super::report_lines::{ReportLineView, line_view};
use super::ring::{Ring, track_ring};
use super::sessions::{SessionView, session_view};
use super::timeline::{TimelineView, session_timeline};
use super::yields::{self, Meter, YieldView};
use crate::runtime::inbox::Wake;
use crate::server::admin::dashboard::board::BriefSummary;
use crate::server::admin::dashboard::format::{self, Moment};
use crate::server::admin::dashboard::summary::{Summary, short_line};

/// The most sessions that are listed.
pub const MAX_LISTED: usize = 40;
/// The most coming turns that are listed.
pub const MAX_COMING: usize = 8;

/// Everything about one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryView {
    /// Its page on GitHub.
    pub page: String,
    /// Whether it is public.
    pub public: bool,
    /// When it was last checked.
    pub seen: Moment,
    /// The tracks.
    pub tracks: Vec<TrackView>,
    /// Schedules.
    pub schedules: Vec<ScheduleView>,
    /// The lines that concern the whole repository.
    pub lines: Vec<ReportLineView>,
    /// The timeline.
    pub timeline: Option<TimelineView>,
    /// The newest sessions.
    pub sessions: Vec<SessionView>,
    /// The results of each persona's work.
    pub yields: Vec<YieldView>,
    /// The results of all work.
    pub total: YieldView,
    /// The used budget.
    pub budget: Vec<Meter>,
    /// How many daily sessions of the key are reserved for people.
    pub reserved: u32,
    /// The end of the key's pause.
    pub pause: Option<Moment>,
    /// Open notices: number, title, page.
    pub notices: Vec<(u64, String, String)>,
    /// Who paused it and why, and when.
    pub paused: Option<(String, Option<Moment>)>,
    /// What is wrong with the plan.
    pub findings: Vec<String>,
    /// The heading of these findings.
    pub findings_title: &'static str,
    /// Whether the default branch has a plan.
    pub has_plan: bool,
    /// The effects that failed.
    pub failed: Vec<String>,
}

/// One track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackView {
    /// Its name.
    pub name: String,
    /// Its drawing.
    pub ring: Ring,
    /// How many turns it has had.
    pub seq: u64,
    /// How many passes it has had.
    pub passes: u64,
    /// When passes begin.
    pub start: Option<String>,
    /// The lines of what it does or waits for.
    pub lines: Vec<ReportLineView>,
}

/// A persona that runs on a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleView {
    /// Who.
    pub persona: String,
    /// The expression; `None`: it runs on request only.
    pub cron: Option<String>,
    /// Its next time.
    pub next: Option<Moment>,
    /// Whether it has a live turn.
    pub live: bool,
    /// The lines of what it does or waits for.
    pub lines: Vec<ReportLineView>,
}

/// The state of a repository in the inbox, and the result of its last tick.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PulseView {
    /// The class of its status.
    pub class: &'static str,
    /// The name of its status.
    pub status: &'static str,
    /// When it is checked next.
    pub next: Option<Moment>,
    /// Whether it is ticked right now.
    pub ticking: bool,
    /// Why its last tick failed.
    pub problem: Option<String>,
    /// When and why it was suspended, and when it is tried next.
    pub suspended: Option<(Moment, String, Moment)>,
}

/// A turn that a forecast starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComingView {
    /// The time.
    pub at: Moment,
    /// The persona.
    pub persona: String,
    /// The track.
    pub track: String,
}

/// Builds the page of a repository. `github` is the address of GitHub's pages.
#[must_use]
pub fn repository_view(summary: &Summary, github: &str, now: Timestamp) -> RepositoryView {
    let lines = |lines: &[_]| lines.iter().map(|line| line_view(line, now)).collect();
    let name = &summary.name;
    RepositoryView {
        page: format!("{github}/{name}"),
        public: summary.public,
        seen: format::format_moment(summary.at, now),
        tracks: summary
            .tracks
            .iter()
            .map(|track| TrackView {
                name: track.name.to_string(),
                ring: track_ring(track, &summary.sessions),
                seq: track.seq,
                passes: track.passes,
                start: track.start.clone(),
                lines: lines(&track.lines),
            })
            .collect(),
        schedules: summary
            .schedules
            .iter()
            .map(|schedule| ScheduleView {
                persona: schedule.persona.to_string(),
                cron: schedule.cron.clone(),
                next: schedule.next_at.map(|at| format::format_moment(at, now)),
                live: schedule.live,
                lines: lines(&schedule.lines),
            })
            .collect(),
        lines: lines(&summary.lines),
        timeline: session_timeline(&summary.sessions, name, github, now),
        sessions: summary
            .sessions
            .iter()
            .take(MAX_LISTED)
            .map(|entry| session_view(entry, name, github, now))
            .collect(),
        yields: summary
            .yields
            .iter()
            .map(|(persona, figures)| yields::of_persona(persona, figures, now))
            .collect(),
        total: yields::of_all(&summary.total, now),
        budget: yields::budget_meters(&summary.budget, summary.key_at, now),
        reserved: summary.budget.key_reserved,
        pause: yields::key_pause(&summary.budget, now),
        notices: summary
            .notices
            .iter()
            .map(|(number, key)| {
                (
                    *number,
                    key.clone(),
                    format!("{github}/{name}/issues/{number}"),
                )
            })
            .collect(),
        paused: summary.paused.as_ref().map(|pause| {
            let by = pause.by.as_ref().map(|by| format!(" by {by}"));
            let why = pause.reason.as_ref().map(|why| format!(": {why}"));
            let text = format!(
                "Paused{}{}",
                by.unwrap_or_default(),
                why.unwrap_or_default()
            );
            (
                short_line(&text),
                pause.at.map(|at| format::format_moment(at, now)),
            )
        }),
        findings: summary.findings.clone(),
        findings_title: summary.findings_title,
        has_plan: summary.has_plan,
        failed: summary.failed.clone(),
    }
}

/// Builds the state of a repository from the board's summary and the inbox's row.
#[must_use]
pub fn pulse_view(words: &BriefSummary, wake: Option<&Wake>, now: Timestamp) -> PulseView {
    let suspended = wake.and_then(|wake| wake.suspended.as_ref());
    let (standing, class) = if suspended.is_some() {
        ("suspended", "attention")
    } else {
        of_standing(words.status)
    };
    PulseView {
        class,
        status: standing,
        next: wake
            .filter(|wake| wake.held.is_none())
            .and_then(Wake::next_at)
            .map(|at| format::format_moment(at, now)),
        ticking: wake.is_some_and(|wake| wake.held.is_some()),
        problem: words.problem.clone(),
        suspended: suspended.map(|suspended| {
            (
                format::format_moment(suspended.at, now),
                short_line(&suspended.because),
                format::format_moment(suspended.probe_at, now),
            )
        }),
    }
}

/// Builds the coming turns of a forecast.
#[must_use]
pub fn coming_view(forecast: &Forecast, now: Timestamp) -> Vec<ComingView> {
    let turns = forecast.turns.iter().filter(|turn| turn.at > now);
    turns
        .take(MAX_COMING)
        .map(|turn| ComingView {
            at: format::format_moment(turn.at, now),
            persona: turn.persona.to_string(),
            track: format::track_title(&turn.track),
        })
        .collect()
}
