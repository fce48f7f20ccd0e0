//! Sends HTTP requests: one request, one answer.
//!
//! The narrow trait lets a whole program run against models of GitHub and Jules in one process. [`HttpTransport`]
//! uses the network.

mod connector;
mod http;
mod interface;

pub use connector::{Proxies, excessive_port, is_loopback};
pub use http::{HttpTransport, Limits};
pub use interface::{BoxFuture, Transport, TransportError};
