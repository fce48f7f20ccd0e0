//! Runs ticks: observes a repository, decides, commits and executes, and repeats that until nothing
//! is left to do.

mod edit;
mod exchange_reads;
mod execute;
mod observe;
mod off_workers;
mod report;
mod settings;
mod signature;
mod tick;
pub(crate) mod time;
mod work_reads;

pub mod driver;
pub mod inbox;
pub mod ports;

pub use edit::{Edit, EditError, edit_state};
pub(crate) use observe::read_prompt_sources;
pub use observe::{Observation, ledger_of, observe_repository, snapshot_of};
pub use report::{FailedEffect, TickReport};
pub use settings::Settings;
pub use signature::{SERVICE, commit_trailers, is_of_service};
pub use tick::{Tick, TickError, explain_repository};
