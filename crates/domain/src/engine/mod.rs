//! What should happen next, and why everything else waits.
//!
//! `decide` looks at one [`Snapshot`] and the [`Event`]s that followed it, and answers with a [`Decision`]: one
//! commit to make, effects to carry out after it, a report of everything that does and does not happen, and the time
//! at which looking again is worth while. It performs no I/O, reads no clock, draws no randomness and cannot fail.

mod decision;
mod effect;
mod event;
mod needs;
mod report;
mod snapshot;

pub use decision::{Change, Decision};
pub use effect::{CreateSession, Effect, MakeBranch, NoticeKey};
pub use event::{CreateFailure, Event};
pub use needs::{ListingNeed, Needs};
pub use report::{Line, Reason, Report, Verdict};
pub use snapshot::{
    Activity, ActivityKind, Ask, Checks, KeyUse, Ledger, Listing, Notice, Outage, Pull, PullState,
    Repository, Session, SessionState, Sessions, Snapshot,
};
