//! The outside systems, each behind a port of the runtime.

pub mod jules;
pub mod transport;
