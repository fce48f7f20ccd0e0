//! The pure core of phileas: it decides what should happen next.
//!
//! Nothing in this package performs I/O, reads a clock or draws randomness. Time and entropy arrive as
//! fields of the [`engine::Snapshot`]; bad input becomes a [`Diagnostic`], never an `Err` that stops the rest.
//!
//! | module | question it answers |
//! |---|---|
//! | [`model`] | Which ids and small values do all modules share? |
//! | [`plan`] | What did people configure (`schedules.toml`, personas)? |
//! | [`state`] | What has happened so far (`cycle_state.json`)? |
//! | [`prompt`] | What does phileas send to Jules? |
//! | [`setup`] | What must be installed on Jules' machine? |
//! | [`layers`] | What does each layer get to read, and which roles run? |
//! | [`exchange`] | Which files do the layers hand over, and are they valid? |
//! | [`patch`] | What does a diff of Jules change? |
//! | [`jobs`] | Which sessions are watched for another agent, and which events wake it? |
//! | [`board`] | Which tasks, sprint files and journals do personas keep on the default branch? |
//! | [`pipeline`] | What do the agents of a run hand over, and which agent is next? |
//! | [`work`] | What did earlier pull requests do, and is a new one the same work? |
//! | [`engine`] | What should happen next, and why does everything else wait? |
//! | [`toml_text`] | What does a TOML file say, and where is it wrong? |
//! | [`diagnostic`] | Where is a mistake, and how is it fixed? |

// Not in tests: a table of cases may be long.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod board;
mod conflict;
pub mod diagnostic;
pub mod engine;
pub mod exchange;
pub mod jobs;
mod json;
pub mod layers;
pub mod model;
pub mod patch;
pub mod pipeline;
pub mod plan;
pub mod prompt;
pub mod setup;
pub mod state;
pub mod toml_text;
mod utf8;
pub mod work;
mod yaml;

pub use diagnostic::{Diagnostic, Kind, Severity};
pub use json::{JsonValueError, doubled_keys, read_json_value};
pub use utf8::{NotUtf8, utf8_text};
pub use yaml::{NESTING_LIMIT as YAML_NESTING_LIMIT, too_deep as yaml_too_deep};
