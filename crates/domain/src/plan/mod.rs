//! What people asked for: `.jules/schedules.toml`, `.jlo/config.toml` and the personas, read into one [`Plan`].
//!
//! Reading never fails: what is broken drops out with a [`Diagnostic`](crate::Diagnostic), everything else runs.
//!
//! A knob is looked for in four places, and the last one that sets it counts: `[defaults]`, the persona's
//! frontmatter, the track, the step; for a schedule `[defaults]`, frontmatter, schedule. Every [`Policy`] in the plan
//! is the result. For a turn that a person asks for, [`Persona::policy`] is.

mod branch;
mod budget;
mod config;
mod cron;
mod document;
mod duration;
mod entry;
pub(crate) mod frontmatter;
mod gate;
mod known;
mod lines;
mod overrides;
mod policy;
mod read;
mod roster;
mod schedules;
mod schema;
mod section;
mod sprints;
mod steps;
pub(crate) mod suggest;
mod tracks;
mod words;

pub mod persona;

/// The limits of what a plan may say; a figure outside them is a mistake.
pub mod limits {
    pub use super::budget::{ACTIVE, DAILY, OPEN_PULLS, REQUESTS, RESERVE};
    pub use super::config::{MAX_CONFIG_BYTES, MAX_ROLES};
    pub use super::gate::{MAX_GATE_ENTRIES, MAX_PATTERN_BYTES};
    pub use super::overrides::{ABANDON_AFTER_SECS, NUDGES, REST_AFTER, RETRIES, STUCK_MINUTES};
    pub use super::persona::{MAX_ID_BYTES, MAX_PERSONAS, MAX_PROMPT_BYTES};
    pub use super::read::{MAX_SCHEDULES_BYTES, PLAN_VERSION};
    pub use super::schedules::MAX_SCHEDULES;
    pub use super::section::MAX_DIAGNOSTICS;
    pub use super::steps::MAX_STEPS;
    pub use super::tracks::{MAX_TRACK_NAME_BYTES, MAX_TRACKS};
}

use std::collections::BTreeMap;

use crate::model::{PersonaId, TrackName};

pub use config::{
    CONFIG_PATH, DEFAULT_INNOVATION, DEFAULT_PASS, INNOVATION_TRACK, PASS, PASS_TRACK,
    config_schema,
};
pub use cron::{Cron, CronError};
pub use entry::EntryPoint;
pub use persona::{PROMPT_FILES, Persona, read_personas};
pub use policy::{
    AdvanceOn, AllowedBot, Automation, Branch, Budget, CatchUp, Driver, Gate, KeyLimits, MainRed,
    Merge, Mode, PlanApproval, Policy, Priority, Share, Tier,
};

pub(crate) use lines::duplicate;
pub use read::{is_absent, read};
pub use roster::{Approval, Member, ROLE_LAYERS, Roster};
pub use schema::schema;
pub(crate) use section::join;
pub use suggest::closest;
pub use tracks::DEFAULT_TRACK;

/// The plan's file on the default branch.
pub const SCHEDULES_PATH: &str = ".jules/schedules.toml";
/// The folder of personas on the default branch.
pub const PERSONAS_FOLDER: &str = ".jules/personas";
/// Words that labels and comments use as commands, so that no persona may be called by them.
pub const RESERVED_IDS: [&str; 10] = [
    "hold",
    "retry",
    "approve-plan",
    "merge",
    "pause",
    "run",
    "stop",
    "status",
    "explain",
    "help",
];

/// The layers of the hand-over pipeline, in its order.
pub const LAYERS: [&str; 7] = [
    "narrator",
    "observers",
    "decider",
    "planner",
    "implementer",
    "innovators",
    "integrator",
];

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
