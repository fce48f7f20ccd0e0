//! One request out, one answer back: all that the adapters need of HTTP.
//!
//! The narrow trait lets a whole program run against models of GitHub and Jules in one process. [`HttpTransport`] is
//! the real thing.

mod connector;
mod http;
mod interface;

pub use connector::{Proxies, is_loopback};
pub use http::{HttpTransport, Limits};
pub use interface::{BoxFuture, Transport, TransportError};
