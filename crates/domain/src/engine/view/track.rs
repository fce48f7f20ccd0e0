//! A track: its steps, its live turns, and what it waits for.

use jiff::Timestamp;

use super::pause::PauseView;
use super::turn::{TurnView, turn_view};
use crate::engine::lookup::pending_requests;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason};
use crate::engine::record::steer::next_step;
use crate::engine::text::markdown::sanitize_word;
use crate::model::{PersonaId, TrackName};
use crate::plan::Cron;
use crate::state::TrackState;

/// A track of the plan, a schedule, or a request.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackView {
    /// Its name.
    pub name: TrackName,
    /// Its steps in order: the persona's id, or `layer:<name>`. A schedule or a request has none.
    pub steps: Vec<String>,
    /// The step whose turn is live.
    pub present: Option<usize>,
    /// The step that comes next.
    pub next: Option<usize>,
    /// How many turns it has had.
    pub seq: u64,
    /// How many passes are behind it.
    pub passes: u64,
    /// When its passes or turns begin, with the zone. `None`: they follow each other, or start on request.
    pub cron: Option<String>,
    /// The next such time.
    pub next_at: Option<Timestamp>,
    /// Its own pause.
    pub pause: Option<PauseView>,
    /// Its live turns.
    pub turns: Vec<TurnView>,
    /// The report lines about it.
    pub lines: Vec<Line>,
}

/// The tracks and schedules of the plan, and all others that are paused or have live turns or pending requests.
pub(crate) fn track_views(builder: &DecisionBuilder<'_>, lines: &[&Line]) -> Vec<TrackView> {
    let names = track_names(builder).into_iter();
    names.map(|name| track_view(builder, name, lines)).collect()
}

fn track_names(builder: &DecisionBuilder<'_>) -> Vec<TrackName> {
    let plan = &builder.snapshot.plan;
    let schedules = plan.schedules.keys().map(TrackName::of_schedule);
    let mut names: Vec<TrackName> = plan.tracks.keys().cloned().chain(schedules).collect();
    let tracks = builder.state.tracks.iter();
    let live = tracks.filter(|(_, track)| !track.turns.is_empty() || track.paused.is_some());
    let live = live.map(|(name, _)| name.clone());
    let pending = pending_requests::waiting_requests(builder)
        .into_iter()
        .map(|one| one.track);
    for name in live.chain(pending) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn track_view(builder: &DecisionBuilder<'_>, name: TrackName, lines: &[&Line]) -> TrackView {
    let nothing = TrackState::default();
    let plan = &builder.snapshot.plan;
    let track = plan.tracks.get(&name);
    let schedule = name
        .schedule_persona()
        .and_then(|id| plan.schedules.get(&id));
    let state = builder.state.tracks.get(&name).unwrap_or(&nothing);
    let own = || {
        lines
            .iter()
            .copied()
            .filter(|line| line.track.as_ref() == Some(&name))
    };
    let cron = track.and_then(|track| track.start.as_ref());
    let cron = cron.or(schedule.and_then(|schedule| schedule.cron.as_ref()));
    let is_live = !state.turns.is_empty();
    let index = state.index.and_then(|index| usize::try_from(index).ok());
    let steps = track.map_or(&[][..], |track| &track.steps[..]).iter();
    let steps: Vec<String> = steps.map(|step| step.kind.to_string()).collect();
    let next = track.and_then(|track| next_step(track, state));
    // A track's cron expression counts only where a pass begins.
    let due = cron.filter(|_| track.is_none() || next == Some(0));
    TrackView {
        present: index.filter(|index| is_live && *index < steps.len()),
        next,
        steps,
        seq: state.seq,
        passes: state.passes,
        cron: cron.map(|cron| format!("{} {}", cron.expression(), cron.timezone())),
        next_at: due.and_then(|cron: &Cron| cron.next_after(builder.now())),
        pause: state.paused.as_ref().map(|order| PauseView {
            reason: Reason::PausedTrack,
            order: Some(order.clone()),
        }),
        turns: state
            .turns
            .values()
            .map(|turn| turn_view(builder, turn, own()))
            .collect(),
        lines: own().cloned().collect(),
        name,
    }
}

impl TrackView {
    /// Whether it is a request, or a schedule without times. A track that is neither has left the plan.
    #[must_use]
    pub fn starts_on_request(&self) -> bool {
        let is_track =
            self.name.request_number().is_none() && self.name.schedule_persona().is_none();
        self.cron.is_none() && !is_track
    }

    /// Its live turns, each with its place, what it does, and a link to its session. `timed`: see [`Line::sentence`].
    pub(crate) fn turn_items(&self, timed: bool) -> impl Iterator<Item = String> {
        let turns = self.turns.iter();
        turns.map(move |turn| self.turn_item(turn, timed))
    }

    /// One of them.
    pub(crate) fn turn_item(&self, turn: &TurnView, timed: bool) -> String {
        let place = place_text(Some(&turn.persona), &self.name);
        format!("{place}: {}{}", turn.sentence(timed), turn.link_text())
    }
}

/// Who runs where: `` `curator` in `default` ``, `` `docs` on its schedule ``, `` `fixer` on request ``.
#[must_use]
pub fn place_text(persona: Option<&PersonaId>, track: &TrackName) -> String {
    let scheduled = track.schedule_persona();
    let persona = persona.or(scheduled.as_ref());
    let who = persona.map(|id| format!("`{}`", sanitize_word(id.as_str())));
    match (who, scheduled.is_some(), track.request_number()) {
        (Some(who), true, _) => format!("{who} on its schedule"),
        (Some(who), _, Some(_)) => format!("{who} on request"),
        (None, _, Some(_)) => "a request".to_owned(),
        (Some(who), ..) => format!("{who} in `{}`", sanitize_word(track.as_str())),
        (None, ..) => format!("`{}`", sanitize_word(track.as_str())),
    }
}
