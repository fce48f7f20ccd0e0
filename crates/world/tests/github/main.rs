//! The model of GitHub, asked from outside: over its faces, by the real git, and by what it exports.

#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod git;
mod graphql;
mod hooks;
mod rest;
mod speed;
mod stage;
