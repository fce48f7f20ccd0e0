//! A state out of Jules' own listing and the pull requests, for a ledger that is lost altogether.
//!
//! A session of ours is known by the marker in its prompt's last line, or else in its title. The nonce of the lost
//! ledger cannot be found again; a new one makes new turn ids, while sessions of the past keep theirs in the history.

mod catch_up;
mod facts;
mod from_sessions;

pub use catch_up::catch_up;
pub use facts::{Ending, PullFate, Rebuilt, SessionEnd, SessionFact};
pub use from_sessions::rebuild;

#[cfg(test)]
mod tests;
