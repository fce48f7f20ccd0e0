//! Watches Jules for the user's own agent, and wakes the agent only when it has something to do.
//!
//! | file | question it answers |
//! |---|---|
//! | [`files`] | how is a file replaced whole, by one process at a time? |
//! | [`registry`] | which jobs are there, and how is one registered or retired? |
//! | [`events`] | how is an event written once, and which are acknowledged? |
//! | `json_lines` | what are the lines of a file, however long one is? |
//! | [`tail`] | what is the next whole line of a file that others append to, rotate and truncate? |
//! | [`monitor`] | what has happened to the jobs since the last check? |
//! | [`settle`] | what happens to a job when its pull request is merged or closed? |
//! | [`watcher`], [`command`] | which handler gets an event, and what happens if it fails? |
//! | [`handler`] | what does phileas do about an event, and what does an agent read? |
//! | [`mcp_command`] | what does the MCP server of a configuration say about an event's job? |
//! | [`paths`] | where are the files, and which paths may a caller name? |
//!
//! The jobs file and the events file are the whole interface. Any program that can write a line can
//! register a job, and any program that can read a line can be woken. [`phileas_domain::jobs`]
//! makes all decisions.

pub mod command;
pub mod events;
pub mod files;
pub mod handler;
mod json_lines;
pub mod mcp_command;
pub mod monitor;
pub mod paths;
pub mod registry;
pub mod settle;
pub mod tail;
pub mod watcher;

pub use events::{EventsFile, Page};
pub use files::{FileProblem, StoreError};
pub use monitor::{Cycle, Monitor, MonitorSettings, SkippedAccount};
pub use paths::JobPaths;
pub use registry::{JobsFile, Registered};
pub use watcher::{Handler, WatchPass, Watcher};
