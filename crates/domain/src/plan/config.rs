//! `.jlo/config.toml`: the roles of the layers, and when they run. It gives the roster and two tracks.
//!
//! | key | meaning | default |
//! |---|---|---|
//! | `version` | the version of the format | 1 |
//! | `workflow.enabled` | whether the layers run by themselves | `true` |
//! | `workflow.cron` | when a pass through the layers begins | [`DEFAULT_PASS`] |
//! | `workflow.timezone` | the zone of both crons | that of `[defaults]` in `schedules.toml` |
//! | `workflow.layers` | the layers of a pass, in order | [`PASS`] |
//! | `workflow.labels` | the labels whose work items go to an implementer without a request | all |
//! | `workflow.approval` | who lets a work item through to an implementer: `"auto"`, or `"human"` by a label | `"auto"` |
//! | `workflow.entry_point` | where a pass begins; layers before it are left out | `"narrator"` |
//! | `observers.roles`, `innovators.roles` | roles: `"docs"` or `{ name, enabled, sensitive }` | the usual ones |
//! | `innovators.cron` | when a round of innovators begins | [`DEFAULT_INNOVATION`] |
//!
//! The pass is the track `layers`, the innovators' round the track `innovators`. A track of the same name in
//! `schedules.toml` replaces it. Keys of `jlo` that phileas does not use get a warning.

mod keys;
mod members;
mod read;
mod schema;
#[cfg(test)]
mod tests;

pub use keys::{CONFIG_PATH, DEFAULT_INNOVATION, DEFAULT_PASS, MAX_CONFIG_BYTES, MAX_ROLES, PASS};
pub(super) use read::{is_there, read};
pub use schema::schema as config_schema;
