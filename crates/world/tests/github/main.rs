//! The model of GitHub, asked in process; over TCP, with git and as an export it is asked in `faces`.

mod graphql;
mod hooks;
mod rest;
mod speed;
mod stage;
