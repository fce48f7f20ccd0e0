//! The inbox in PostgreSQL: the suite of every inbox, and services beside one another. It needs PostgreSQL's programs,
//! which `scripts/test` installs from Debian; so plain `cargo test` leaves it out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod busy;
mod clocks;
mod database;
mod durable;
#[expect(
    dead_code,
    reason = "it is shared with the tests that need no database"
)]
mod fleet;
mod inbox;
mod replicas;
mod server;
mod services;
mod silent;
mod stalled;
mod suspended;
mod tables;

#[path = "../it/support/mod.rs"]
#[expect(
    dead_code,
    reason = "it is shared with the tests that need no database"
)]
mod support;
