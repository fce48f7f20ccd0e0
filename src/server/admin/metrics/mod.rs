//! `GET /metrics` on the admin listener: figures of the service for Prometheus.
//!
//! Labels are words of our own only. No metric names a repository: their names may be private, and ten thousand of them
//! would be ten thousand series. Installations and keys are told apart by number, [`MAX_SERIES`] of each at most.

mod counts;
mod endpoint;
mod text;
mod transport;

pub use counts::{BOUNDS, MAX_SERIES, Metrics, Target};
pub use endpoint::{MetricsSources, routes};
pub use text::{Kind, Text};
pub use transport::{CountedTransport, count_requests};
