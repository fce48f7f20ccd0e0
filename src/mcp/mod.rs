//! phileas as a server of the Model Context Protocol, so that the user's own agent can give work to Jules.
//!
//! | file | question it answers |
//! |---|---|
//! | [`server`] | how is a request of the protocol answered? |
//! | `revision.rs` | who are we to a client of this revision, and what may be said to it? |
//! | [`line_transport`], [`http`] | how does what is said travel? |
//! | [`tool_context`], [`phileas_api`] | what is worked with? |
//! | [`policy`] | what may be done here? |
//! | `tools` | which tools are there? A file for each family |
//! | `resources.rs`, `prompts.rs` | what else is there to read? |
//! | [`monitor_files`] | what has the monitor seen? |
//! | `changes.rs`, `subscriptions.rs` | which clients are notified of a change, in each revision of the protocol? |
//! | `offer.rs`, `trouble.rs` | what makes a function a tool, and what does it say when it cannot? |
//! | `confirm.rs` | how is a person asked before something is done that cannot be taken back? |
//! | `cursor.rs`, `cut.rs` | how do answers stay small? |
//! | `view.rs` | how is a job shown? |
//!
//! The protocol itself is `rmcp`'s. Jules is not polled while no tool waits: a tool that waits reads the queue of events,
//! which the monitor fills. Where no monitor runs, the tool checks the jobs itself.

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
pub use phileas_api::PhileasApi;
pub use policy::Policy;
pub use server::Server;
pub use tool_context::ToolContext;
pub use tool_error::ToolError;
