//! The invariants of every state, and of every step from one state to the next.
//!
//! [`check_state`] runs on every load and before every write, [`check_step`] before every write. They keep a fault of
//! phileas out of the ledger.

mod state_rules;
mod step_rules;
mod violation;

pub use state_rules::check_state;
pub use step_rules::{check_step, check_track_set};
pub use violation::Violation;

#[cfg(test)]
mod tests;
