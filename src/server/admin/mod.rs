//! What the operators of the service use: dashboard, metrics, audit log, set-up page, self-check.

pub mod audit;
pub mod check;
pub mod dashboard;
pub mod feed;
pub mod metrics;
pub mod setup;
