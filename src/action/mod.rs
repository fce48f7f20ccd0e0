//! One run of the GitHub Action: whether the event matters, and how the run reports to GitHub.
//!
//! Nothing here sends a request or writes a file: texts come in, texts go out. `cli/commands/action.rs` does the rest.
//!
//! | question | file |
//! |---|---|
//! | does phileas act on this event, and what does it ask for? | [`event`] |
//! | what does the run tell the runner: annotations, masks, silence? | [`command`] |
//! | which outputs does a step get? | [`outputs`] |
//! | which line of a report is the main one? | [`main_line`] |
//! | what do people read on the page of the run? | [`summary`], [`markdown`] |

pub mod command;
pub mod event;
pub mod main_line;
pub mod markdown;
pub mod outputs;
pub mod summary;
