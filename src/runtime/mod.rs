//! Observe, decide, commit, execute, and again.

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

pub mod driver;
pub mod inbox;
pub mod ports;

pub use edit::{Edit, EditError, edit};
pub(crate) use observe::sources;
pub use observe::{Observation, ledger_of, observe_repository, snapshot_of};
pub use report::{FailedEffect, TickReport};
pub use settings::Settings;
pub use signature::{SERVICE, is_of_service, signed};
pub use tick::{Tick, TickError, explain};
