//! Tests of the model of GitHub in process; `faces` tests it over TCP, with git and as an export.

#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod graphql;
mod hooks;
mod refs;
mod rest;
mod speed;
mod stage;
