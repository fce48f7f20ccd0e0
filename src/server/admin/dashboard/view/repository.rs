//! The view of the page of one repository.

use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::engine::{
    Forecast, RepositoryView, TrackView, place_text, plain_text, session_page,
};
use phileas_domain::state::Pause;

use super::front::of_standing;
use super::report_lines::{ReportLineView, line_view, track_lines};
use super::ring::{Ring, track_ring};
use super::sessions::{SessionView, pull_page, session_view};
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

/// Everything about one repository, seen from an instant.
#[derive(Debug, Clone)]
pub struct RepositoryPage {
    /// What its last good tick left.
    pub summary: Arc<Summary>,
    /// Where people meet GitHub; `None` in a sandbox.
    pub github: Option<String>,
    /// The service's time.
    pub now: Timestamp,
}

impl RepositoryPage {
    fn view(&self) -> &RepositoryView {
        &self.summary.view
    }

    /// Its page on GitHub.
    #[must_use]
    pub fn page(&self) -> Option<String> {
        let github = self.github.as_ref()?;
        Some(format!("{github}/{}", self.summary.name))
    }

    /// An instant, seen from now.
    #[must_use]
    pub fn moment(&self, at: &Timestamp) -> Moment {
        format::format_moment(*at, self.now)
    }

    /// The tracks of the plan, each with its loop.
    #[must_use]
    pub fn tracks(&self) -> Vec<(&TrackView, Ring)> {
        let planned = self.view().tracks.iter();
        let planned = planned.filter(|track| !track.steps.is_empty());
        planned
            .map(|track| (track, track_ring(track, &self.summary.sessions)))
            .collect()
    }

    /// The schedules and requests, and tracks that left the plan, each with its name.
    #[must_use]
    pub fn schedules(&self) -> Vec<(&TrackView, String)> {
        let others = self.view().tracks.iter();
        let others = others.filter(|track| track.steps.is_empty());
        others
            .map(|track| (track, plain_text(&place_text(None, &track.name))))
            .collect()
    }

    /// What a track does or waits for.
    #[must_use]
    pub fn track_lines(&self, track: &TrackView) -> Vec<ReportLineView> {
        let github = self.github.as_deref();
        track_lines(track, &self.summary.name, github, self.now)
    }

    /// What concerns none of its tracks.
    #[must_use]
    pub fn other_lines(&self) -> Vec<ReportLineView> {
        let lines = self.view().other_lines.iter();
        lines.map(|line| line_view(line, self.now)).collect()
    }

    /// That the Jules key pauses, if it does.
    #[must_use]
    pub fn key_pause(&self) -> Option<String> {
        self.view().budget.pause_sentence(self.now)
    }

    /// What a person has to do, and the page where.
    #[must_use]
    pub fn needs(&self) -> Vec<(String, Option<String>)> {
        let needs = self.view().needs.iter().map(|need| {
            let page = self.page().and_then(|page| {
                let issue = need.issue.map(|number| format!("{page}/issues/{number}"));
                issue.or_else(|| need.session.as_ref().map(session_page))
            });
            (short_line(&plain_text(&need.title)), page)
        });
        needs.collect()
    }

    /// The pull requests that wait for a review, and their pages.
    #[must_use]
    pub fn reviews(&self) -> Vec<(String, Option<String>)> {
        let pulls = self.view().budget.unreviewed.iter().take(MAX_LISTED);
        pulls
            .map(|pull| {
                let github = self.github.as_deref();
                let page = pull_page(github, &self.summary.name, pull.number.0);
                (plain_text(&pull.name()), page)
            })
            .collect()
    }

    /// How many pull requests of Jules are open.
    #[must_use]
    pub fn open_pulls(&self) -> usize {
        let lanes = self.view().review.iter();
        lanes.map(|lane| lane.pulls.len()).sum()
    }

    /// Who paused it and why.
    #[must_use]
    pub fn pause_text(&self, pause: &Pause) -> String {
        let by = pause.by.as_ref().map(|by| format!(" by {by}"));
        let why = pause.reason.as_ref().map(|why| format!(": {why}"));
        short_line(&format!(
            "Paused{}{}",
            by.unwrap_or_default(),
            why.unwrap_or_default()
        ))
    }

    /// When who was at work.
    #[must_use]
    pub fn timeline(&self) -> Option<TimelineView> {
        let summary = &self.summary;
        let github = self.github.as_deref();
        session_timeline(&summary.sessions, &summary.name, github, self.now)
    }

    /// The newest sessions.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionView> {
        let entries = self.summary.sessions.iter().take(MAX_LISTED);
        let github = self.github.as_deref();
        entries
            .map(|entry| session_view(entry, &self.summary.name, github, self.now))
            .collect()
    }

    /// What became of each persona's work, and with which version of its prompt where that has changed.
    #[must_use]
    pub fn yields(&self) -> Vec<YieldView> {
        let mut views = Vec::new();
        for (persona, figures) in &self.view().yields {
            views.push(yields::yield_view(persona.as_str(), figures, self.now));
            let prompts = self.view().prompt_yields.iter();
            let prompts = prompts.filter(|one| one.persona == *persona);
            views.extend(prompts.map(|one| {
                let who = format!("prompt {}", one.prompt);
                YieldView {
                    is_prompt: true,
                    ..yields::yield_view(&who, &one.figures, self.now)
                }
            }));
        }
        views
    }

    /// What became of all work.
    #[must_use]
    pub fn total(&self) -> YieldView {
        yields::yield_view("all", &self.view().total, self.now)
    }

    /// What is spent.
    #[must_use]
    pub fn budget(&self) -> Vec<Meter> {
        yields::budget_meters(&self.view().budget, self.summary.key_at, self.now)
    }
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
    /// Who, and in which track.
    pub place: String,
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
            place: plain_text(&place_text(Some(&turn.persona), &turn.track)),
        })
        .collect()
}
