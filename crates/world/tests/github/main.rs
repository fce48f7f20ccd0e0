//! The model of GitHub, asked in process; over TCP, with git and as an export it is asked in `faces`.

#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod graphql;
mod hooks;
mod refs;
mod rest;
mod speed;
mod stage;
