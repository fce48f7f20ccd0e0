//! The parts of the service for its operators: dashboard, metrics, audit log, set-up page,
//! self-check.

pub mod audit;
pub mod check;
pub mod dashboard;
pub mod feed;
pub mod metrics;
pub mod setup;
