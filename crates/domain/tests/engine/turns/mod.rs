//! Live turns and their sessions.

mod ambiguous;
mod create_answers;
mod endings;
mod inactivity;
mod lookalikes;
mod losses;
mod plans;
mod pull_outcome;
mod questions;
mod reads;
mod recovery;
mod repeated_messages;
mod sessions;
mod unreadable_sessions;
