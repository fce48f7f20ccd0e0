//! The outside systems, each behind a port of the runtime.

pub mod files;
pub mod github;
pub mod inbox;
pub mod jules;
pub mod ledger;
pub mod pause;
pub mod repository;
pub mod stopwatch;
pub mod transport;
