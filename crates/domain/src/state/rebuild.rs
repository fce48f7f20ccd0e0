//! Rebuilds a lost ledger's state from Jules' session listing and the pull requests.
//!
//! A session of phileas is identified by the marker in its prompt's last line, or else in its title. The nonce of the lost
//! ledger is lost, too. A new one gives new turn ids, and past sessions keep theirs in the history.

mod catch_up;
mod facts;
mod from_sessions;

pub use catch_up::catch_up;
pub use facts::{PullOutcome, RebuildProposal, SessionEnd, SessionFact, SessionResult};
pub use from_sessions::rebuild;

#[cfg(test)]
mod tests;
