//! Observe, decide, commit, execute, and again.

mod edit;
mod execute;
mod handed_over;
mod observe;
mod off_workers;
mod signature;
mod tick;

pub mod driver;
pub mod inbox;
pub mod ports;

pub use edit::{Edit, EditError, edit};
pub(crate) use observe::sources;
pub use observe::{Sight, ledger_of, look, snapshot_of};
pub use signature::{SERVICE, is_of_service, signed};
pub use tick::{Failed, Settings, Tick, TickError, TickReport, explain};
