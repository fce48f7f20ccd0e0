//! Serves phileas over the Model Context Protocol, so that the user's own agent can give work to
//! Jules.
//!
//! | file | question it answers |
//! |---|---|
//! | [`server`] | how does the server handle a request of the protocol? |
//! | `revision.rs` | what differs between revisions of the protocol? |
//! | [`line_transport`], [`http`] | how do messages travel? |
//! | [`tool_context`], [`phileas_api`] | what do all tools work with? |
//! | [`policy`] | which actions and repositories are allowed? |
//! | `tools` | which tools are there? A file for each family |
//! | `resources.rs`, `prompts.rs` | which resources and prompts are there? |
//! | [`monitor_files`] | what do the monitor's files say? |
//! | `changes.rs`, `subscriptions.rs`, `watch_files.rs` | which clients are notified of a change, in each revision? |
//! | `tool_definition.rs`, `tool_error.rs` | what makes a function a tool, and how does it report an error? |
//! | `confirm.rs`, `answers.rs` | how does a person confirm an action that cannot be undone? |
//! | `cursor.rs`, `text_limit.rs` | how do replies stay small? |
//! | `view.rs` | how do tools show a job? |
//!
//! The package `rmcp` implements the protocol. phileas does not poll Jules while no tool waits. A
//! tool that waits reads the queue of events, which the monitor fills; without a running monitor
//! the tool checks the jobs itself.

mod answers;
mod changes;
mod confirm;
mod cursor;
pub mod http;
pub mod line_transport;
pub mod monitor_files;
pub mod phileas_api;
pub mod policy;
mod prompts;
mod resources;
mod revision;
pub mod server;
mod subscriptions;
mod text_limit;
pub mod tool_context;
mod tool_definition;
mod tool_error;
mod tools;
mod view;
mod watch_files;

pub use monitor_files::{CheckJobs, MonitorFiles};
pub use phileas_api::{PhileasApi, TickAnswer};
pub use policy::Policy;
pub use server::Server;
pub use tool_context::{MissingKey, ToolContext};
pub use tool_error::{ErrorCause, ToolError};
