//! Adapters to external systems, each behind a port of the runtime.

pub mod entropy;
pub mod files;
pub mod github;
pub mod inbox;
pub mod jules;
pub mod ledger;
#[cfg(test)]
pub(crate) mod log_capture;
pub mod pause;
pub mod pipeline;
pub mod renderer;
pub mod repository;
pub mod stopwatch;
pub mod transport;
pub mod trust;
