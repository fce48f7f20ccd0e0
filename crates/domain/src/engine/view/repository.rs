//! Everything that is shown of a repository.

use jiff::Timestamp;

use super::attention::{NeedsPerson, needs_person};
use super::pause::{PauseView, repository_pauses};
use super::review::{ReviewLane, review_lanes};
use super::track::{TrackView, track_views};
use crate::engine::input::snapshot::{Ledger, Snapshot};
use crate::engine::lookup::exchange_view::exchange_at_head;
use crate::engine::lookup::figures::{
    BudgetFigures, PromptYield, Yield, budget_so_far, total_so_far, yields_by_prompt, yields_so_far,
};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Line;
use crate::model::{PersonaId, TrackName};

/// Everything that is shown of a repository.
#[derive(Debug, Clone, PartialEq)]
pub struct RepositoryView {
    /// GitHub's time of the facts.
    pub at: Timestamp,
    /// What pauses it.
    pub pauses: Vec<PauseView>,
    /// What a person has to do.
    pub needs: Vec<NeedsPerson>,
    /// Its tracks and schedules, and the requests that are at work or pending.
    pub tracks: Vec<TrackView>,
    /// The lines about none of them.
    pub other_lines: Vec<Line>,
    /// The open pull requests of Jules, by what they need from a reviewer.
    pub review: Vec<ReviewLane>,
    /// What is used of the limits.
    pub budget: BudgetFigures,
    /// What became of each persona's work, by id.
    pub yields: Vec<(PersonaId, Yield)>,
    /// The same for each version of a prompt, of personas whose prompt has changed.
    pub prompt_yields: Vec<PromptYield>,
    /// What became of all work.
    pub total: Yield,
    /// How many turns the ledger remembers. `None`: the ledger cannot be read.
    pub entries: Option<usize>,
}

impl RepositoryView {
    /// The view of a snapshot. `lines`: the lines of the newest report on it.
    #[must_use]
    pub fn new<'l>(snapshot: &Snapshot, lines: impl IntoIterator<Item = &'l Line>) -> Self {
        let builder = DecisionBuilder::new(snapshot, exchange_at_head(snapshot));
        Self::of_decision(&builder, lines)
    }

    /// The view of a decision under construction.
    pub(crate) fn of_decision<'l>(
        builder: &DecisionBuilder<'_>,
        lines: impl IntoIterator<Item = &'l Line>,
    ) -> Self {
        let lines: Vec<&Line> = lines.into_iter().collect();
        let tracks = track_views(builder, &lines);
        let is_shown = |line: &Line| {
            let mut tracks = tracks.iter();
            tracks.any(|track| Some(&track.name) == line.track.as_ref())
        };
        let other = lines.iter().filter(|line| !is_shown(line));
        Self {
            at: builder.now(),
            pauses: repository_pauses(&builder.state, lines.iter().copied()),
            needs: needs_person(&builder.snapshot.notices, &tracks),
            other_lines: other.map(|line| (*line).clone()).collect(),
            tracks,
            review: review_lanes(builder, &lines),
            budget: budget_so_far(builder),
            yields: yields_so_far(builder).into_iter().collect(),
            prompt_yields: yields_by_prompt(builder),
            total: total_so_far(builder),
            entries: match &builder.snapshot.ledger {
                Ledger::Present { .. } => Some(builder.state.history.len()),
                Ledger::Missing { .. } => Some(0),
                Ledger::Corrupt { .. } => None,
            },
        }
    }

    /// The paused tracks, each with the reason that a person gave.
    pub fn paused_tracks(&self) -> impl Iterator<Item = (&TrackName, &str)> {
        self.tracks.iter().filter_map(|track| {
            let why = track.pause.as_ref()?.order.as_ref()?.reason.as_deref();
            Some((&track.name, why.unwrap_or("no reason was given")))
        })
    }

    /// The next time of a schedule or track that is not paused. `None` while the repository is paused.
    #[must_use]
    pub fn next_start(&self) -> Option<(&TrackView, Timestamp)> {
        if !self.pauses.is_empty() {
            return None;
        }
        let timed = self.tracks.iter().filter(|track| track.pause.is_none());
        let timed = timed.filter_map(|track| Some((track, track.next_at?)));
        timed.min_by_key(|(_, at)| *at)
    }
}
