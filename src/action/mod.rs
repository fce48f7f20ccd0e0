//! One run of the GitHub Action: is the event for us, and how is what a tick did told to GitHub?
//!
//! Nothing here asks the network or writes a file: texts come in, texts go out. `cli/commands/action.rs` does the rest.
//!
//! | question | file |
//! |---|---|
//! | is this event for us, and what does it ask for? | [`event`] |
//! | what is said to the runner: annotations, masks, silence? | [`command`] |
//! | which outputs does a step get? | [`outputs`] |
//! | which line of a report tells most? | [`telling`] |
//! | what do people read on the page of the run? | [`summary`], [`markdown`] |

pub mod command;
pub mod event;
pub mod markdown;
pub mod outputs;
pub mod summary;
pub mod telling;
