//! The plan: its tracks, schedules, personas and limits.

use std::collections::BTreeMap;
use std::fmt;

use super::cron::Cron;
use super::persona::Persona;
use super::policy::{Budget, Gate, Novelty, Policy};
use super::roster::Roster;
use crate::model::{PersonaId, TrackName};

/// Everything that may run, and its settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// The settings where a track, step or schedule has none of its own.
    pub defaults: Policy,
    /// How many sessions may start.
    pub budget: Budget,
    /// Which pull requests, drivers and bots are allowed.
    pub gate: Gate,
    /// What keeps sessions from repeating work.
    pub novelty: Novelty,
    /// Ordered lists of steps, by name. `cycle = [...]` is the track `default`.
    pub tracks: BTreeMap<TrackName, Track>,
    /// Personas that run on a schedule.
    pub schedules: BTreeMap<PersonaId, Schedule>,
    /// The settings for live turns of tracks and schedules that a mistake stops, as far as they can be read. They merge
    /// nothing.
    pub stopped: BTreeMap<TrackName, Policy>,
    /// All readable personas, including those that only requests can start.
    pub personas: BTreeMap<PersonaId, Persona>,
    /// The sprints, if the plan has any.
    pub sprints: Option<Sprints>,
    /// The roles of the layers, and the approval of work items: `.jlo/config.toml`.
    pub roster: Roster,
}

/// Periods of work that personas plan for: one for each pass of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sprints {
    /// The track.
    pub track: TrackName,
}

/// An ordered list of steps with a pointer of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Its name.
    pub name: TrackName,
    /// Its steps in order, including personas that cannot be read: the pointer is a step's index.
    pub steps: Vec<Step>,
    /// When a pass begins. `None`: passes follow each other.
    pub start: Option<Cron>,
    /// Its settings.
    pub policy: Policy,
}

/// One entry of a track.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// Its settings: the plan's defaults, overridden by the persona's frontmatter, the track and the step.
    pub policy: Policy,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// A persona's turn. If the persona cannot be read, the engine skips the step and reports why.
    Persona(PersonaId),
    /// A layer of the hand-over pipeline, by name (`layer:observers`). If it is none of the plan's
    /// [`LAYERS`](super::LAYERS), the engine skips the step and reports why.
    Layer(String),
}

impl fmt::Display for StepKind {
    /// As the plan writes it: the persona's id, or `layer:<name>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Persona(id) => write!(f, "{id}"),
            Self::Layer(name) => write!(f, "layer:{name}"),
        }
    }
}

/// A persona that runs on a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The persona. If it cannot be read, the engine skips the schedule and reports why.
    pub persona: PersonaId,
    /// When it runs. `None`: `"manual"`, only on request.
    pub cron: Option<Cron>,
    /// Its settings: the plan's defaults, overridden by the persona's frontmatter and the schedule.
    pub policy: Policy,
}
