//! Observe, decide, commit, execute.

pub mod ports;
