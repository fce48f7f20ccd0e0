//! The model of GitHub, asked from outside: over its faces, by the real git, and by what it exports.

mod git;
mod graphql;
mod hooks;
mod rest;
mod speed;
mod stage;
