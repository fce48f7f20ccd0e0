//! The plan: its tracks, schedules, personas and limits.

use std::collections::BTreeMap;

use super::cron::Cron;
use super::persona::Persona;
use super::policy::{Budget, Gate, Policy};
use super::roster::Roster;
use crate::model::{PersonaId, TrackName};

/// Everything that may run, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// What applies where nothing else is said.
    pub defaults: Policy,
    /// How much may be spent.
    pub budget: Budget,
    /// Who and what is let through.
    pub gate: Gate,
    /// Ordered lists of steps, by name. `cycle = [...]` is the track `default`.
    pub tracks: BTreeMap<TrackName, Track>,
    /// Personas that run by the clock.
    pub schedules: BTreeMap<PersonaId, Schedule>,
    /// All personas that can be read, also those that nothing names (they can be asked for).
    pub personas: BTreeMap<PersonaId, Persona>,
    /// Sprints, where there are any.
    pub sprints: Option<Sprints>,
    /// Who works in the layers, and which work items go on by themselves: `.jlo/config.toml`.
    pub roster: Roster,
}

/// Spans of work that personas plan for: each pass of one track is one.
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
    /// Its steps in order, personas that cannot be read included: a step's index is the pointer.
    pub steps: Vec<Step>,
    /// When a pass begins. `None`: passes follow each other.
    pub start: Option<Cron>,
    /// What applies to it.
    pub policy: Policy,
}

/// One entry of a track.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// What applies to it: the plan's defaults, overridden by the persona's frontmatter, by the track, by the step.
    pub policy: Policy,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// A persona's turn. It may name one that cannot be read; the engine then skips it and says why.
    Persona(PersonaId),
    /// A layer of the hand-over pipeline, by name (`layer:observers`). It may name one that is none of [`LAYERS`];
    /// the engine then skips it and says why.
    Layer(String),
}

/// A persona that runs by the clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Who. It may be one that cannot be read; the engine then skips it and says why.
    pub persona: PersonaId,
    /// When. `None`: `"manual"`, only when asked for.
    pub cron: Option<Cron>,
    /// What applies to it: the plan's defaults, overridden by the persona's frontmatter, by the schedule.
    pub policy: Policy,
}
