//! Watches Jules for the user's own agent, which is woken only when there is something to do.
//!
//! | file | question it answers |
//! |---|---|
//! | [`files`] | how is a file written whole, by one writer at a time? |
//! | [`registry`] | which jobs are there, and how does one join or leave? |
//! | [`events`] | how does an event get into its file once, and who has read it? |
//! | `json_lines` | what are the lines of a file, however long one is? |
//! | [`tail`] | what is the next whole line of a file that others append to, rotate and cut? |
//! | [`monitor`] | what has happened to the jobs since the last check? |
//! | [`settle`] | what is done when a pull request is merged or closed? |
//! | [`watcher`], [`command`] | who is given an event, and what if he fails? |
//! | [`handler`] | what is done about an event, and what does an agent read? |
//! | [`mcp_command`] | what does the MCP server of a configuration say of an event's job? |
//! | [`paths`] | where are the files, and which may a caller name? |
//!
//! The jobs file and the events file are the whole interface: a program that can write a line can register a job, and one that can
//! read a line can be woken. All of what is decided is in [`phileas_domain::jobs`].

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
