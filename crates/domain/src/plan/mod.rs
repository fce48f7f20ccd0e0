//! The plan: `.jules/schedules.toml`, `.jlo/config.toml` and the personas, read into one [`Plan`].
//!
//! Reading never fails. A broken entry is left out with a [`Diagnostic`](crate::Diagnostic), and everything else runs.
//!
//! A setting can stand in `[defaults]`, the persona's frontmatter, the track and the step. The last of these that sets it
//! wins. For a schedule these are `[defaults]`, frontmatter and schedule. Every [`Policy`] in the plan is the result. For
//! a requested turn it is what the engine makes of `[defaults]` and the frontmatter.

mod branch;
mod budget;
mod config;
mod constants;
mod cron;
mod document;
mod duration;
mod entry;
pub(crate) mod frontmatter;
mod gate;
mod keywords;
mod known;
mod line_index;
mod novelty;
mod one_line;
mod overrides;
mod path_pattern;
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
mod types;

pub mod persona;

/// The limits of the plan's values. A value outside them is an error.
pub mod limits {
    pub use super::budget::{ACTIVE, DAILY, OPEN_PULLS, REQUESTS, RESERVE};
    pub use super::config::{MAX_CONFIG_BYTES, MAX_ROLES};
    pub use super::constants::PLAN_VERSION;
    pub use super::gate::MAX_GATE_ENTRIES;
    pub use super::novelty::REMEMBER_SECS;
    pub use super::overrides::{ABANDON_AFTER_SECS, NUDGES, REST_AFTER, RETRIES, STUCK_MINUTES};
    pub use super::path_pattern::MAX_PATTERN_BYTES;
    pub use super::persona::{MAX_ID_BYTES, MAX_PERSONAS, MAX_PROMPT_BYTES};
    pub use super::read::MAX_SCHEDULES_BYTES;
    pub use super::schedules::MAX_SCHEDULES;
    pub use super::section::MAX_DIAGNOSTICS;
    pub use super::steps::MAX_STEPS;
    pub use super::tracks::{MAX_TRACK_NAME_BYTES, MAX_TRACKS};
}

pub use branch::is_branch_name;
pub use config::{CONFIG_PATH, DEFAULT_INNOVATION, DEFAULT_PASS, PASS, config_schema};
pub use constants::{
    INNOVATION_TRACK, LAYERS, PASS_TRACK, PERSONAS_FOLDER, RESERVED_IDS, SCHEDULES_PATH,
};
pub use cron::{Cron, CronError};
pub use entry::EntryPoint;
pub(crate) use persona::is_id;
pub use persona::{PROMPT_FILES, Persona, is_persona_id, read_personas};
pub use policy::{
    AdvanceOn, AllowedBot, Automation, Branch, Budget, CatchUp, Driver, Gate, KeyLimits, MainRed,
    Merge, Mode, Novelty, NoveltyMode, PlanApproval, Policy, Priority, RefusalsFor, Share, Tier,
};

pub(crate) use document::Document;
pub(crate) use line_index::duplicate;
pub(crate) use one_line::one_line;
pub use read::{is_absent, may_concern_everything, read};
pub use roster::{Approval, Member, ROLE_LAYERS, Roster};
pub use schema::schema;
pub(crate) use section::{join, kind_of};
pub use suggest::closest;
pub use tracks::DEFAULT_TRACK;
pub use types::{Plan, Schedule, Sprints, Step, StepKind, Track};
