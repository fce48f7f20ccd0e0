//! phileas runs Google's Jules, an asynchronous coding agent, on GitHub repositories on a schedule.
//!
//! It reads a plan of personas, starts the next Jules session when its turn is due, follows it to its outcome, and keeps
//! the ledger in git, on the branch `jules`.
//!
//! # Modules
//!
//! | module | contains |
//! |---|---|
//! | [`phileas_domain`] | the pure core: what is true, and what should happen next |
//! | [`adapters`] | GitHub, Jules, git and files, each behind a port of the runtime |
//! | [`runtime`] | the tick: observe, decide, commit, execute |
//! | [`action`] | the GitHub Action: events in, outputs out |
//! | [`jobs`] | the monitor that wakes another agent for events of Jules sessions |
//! | [`server`] | the service: deliveries, queue, dashboard |
//! | [`mcp`] | the MCP server, by which another agent uses phileas |
//! | [`starter`] | the files that `phileas init` writes |
//! | [`cli`] | the command line |
//! | [`sandbox`] | phileas against models of GitHub and Jules |
//! | [`phileas_world`] | these models; they share no type with the domain |
//!
//! Dependencies point one way. The domain uses nothing of ours. Adapters use the domain and the runtime's ports, and not
//! one another, except for `adapters/repository.rs`, which combines `github` and `ledger`. The runtime uses the domain and
//! its own ports. The command line and the sandbox use everything. A test enforces this.
//!
//! # One tick
//!
//! ```text
//! observe   one GraphQL read of GitHub; of Jules only what the decision still needs
//! decide    pure: one commit, effects, a report, and when to check again
//! commit    compare-and-swap on the head that was read; one commit announces at most three sessions
//! execute   the effects in order; the result of each is an event
//! repeat    decide with these events, until nothing is left to do
//! ```
//!
//! `docs/design/decisions.md` lists the invariants and the decisions behind the design.

// Not in tests: a table of cases may be long.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod action;
pub mod adapters;
pub mod cli;
pub mod jobs;
pub mod mcp;
pub mod runtime;
pub mod sandbox;
pub mod server;
pub mod starter;
