//! What the internet reaches: the webhook and the health addresses.

pub mod counters;
pub mod health;
pub mod listen;
pub mod webhook;
