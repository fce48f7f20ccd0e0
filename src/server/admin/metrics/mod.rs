//! `GET /metrics` on the admin listener: figures of the service for Prometheus.
//!
//! All labels are our own words. No metric names a repository: names may be private, and ten
//! thousand of them would be ten thousand series. Installations and keys have numbers,
//! [`MAX_SERIES`] of each at most.

mod counts;
mod endpoint;
mod text;
mod transport;

pub use counts::{BOUNDS, MAX_SERIES, Metrics, Target};
pub use endpoint::{MetricsSources, routes};
pub use text::{Kind, Text};
pub use transport::{CountedTransport, count_requests};
