//! The routes that are reachable from the internet: the webhook and the health checks.

pub mod counters;
pub mod health;
pub mod listen;
pub mod webhook;
