//! Stateful models of GitHub and of Jules, with a maintainer, fault plans and knobs, on virtual time.
//!
//! A [`World`] holds both services and runs on one thread. It is deterministic: the same configuration and the same
//! requests give the same replies, deliveries and books. It shares no type with the program under test.

// Not in tests: a table of cases may be long.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
// The JSON of repositories and pull requests is written as one literal each.
#![recursion_limit = "512"]

pub mod agent;
pub mod books;
mod bounds;
pub mod chance;
pub mod clock;
pub mod control;
pub mod export;
pub mod faults;
pub mod faults_file;
pub mod github;
pub mod http;
pub mod jules;
pub mod knob_uses;
pub mod knobs;
pub mod maintainer;
pub mod seed;
mod world;

pub use books::Books;
pub use faults::{Face, Fault, FaultPlan, FaultRule};
pub use knobs::Knobs;
pub use world::{Answer, Outcome, WebhookDelivery, World, WorldConfig};
