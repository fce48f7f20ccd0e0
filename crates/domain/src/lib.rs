//! The pure core of phileas: what is true, and what should happen next.
//!
//! Nothing in this package performs I/O, reads a clock or draws randomness. Time and entropy arrive as
//! fields of the [`engine::Snapshot`]; bad input becomes a [`Diagnostic`], never an `Err` that stops the rest.
//!
//! | room | question it answers |
//! |---|---|
//! | [`model`] | which small values does everybody share? |
//! | [`plan`] | what did people ask for (`schedules.toml`, personas)? |
//! | [`state`] | what has happened so far (`cycle_state.json`)? |
//! | [`prompt`] | what exactly is said to Jules? |
//! | [`setup`] | what must be installed on the machine on which Jules works? |
//! | [`layers`] | what is each layer told, and who works in it? |
//! | [`exchange`] | what do the layers hand to one another, and is it sound? |
//! | [`patch`] | what does a diff of Jules change? |
//! | [`jobs`] | which sessions are watched for somebody's own agent, and what is it woken for? |
//! | [`board`] | what do personas leave for one another on the default branch: tasks, sprint papers, journals? |
//! | [`pipeline`] | what do the agents of a run hand to one another, and who comes next? |
//! | [`fleet`] | what does it cost to look after many repositories? |
//! | [`engine`] | what should happen next, and why does everything else wait? |
//! | [`toml_text`] | what does a file of settings say, and where is it wrong? |
//! | [`diagnostic`] | where is the mistake, and how is it mended? |

pub mod board;
mod conflict;
pub mod diagnostic;
pub mod engine;
pub mod exchange;
pub mod fleet;
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
mod yaml;

pub use diagnostic::{Diagnostic, Kind, Severity};
pub use json::doubled_keys;
pub use yaml::{NESTING_LIMIT as YAML_NESTING_LIMIT, too_deep as yaml_too_deep};
