//! The hand-over between layers.

mod concurrent_changes;
pub(crate) mod hand_over;
mod members;
mod newer_version;
