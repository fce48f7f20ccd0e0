//! Black-box tests: the program and its adapters against the models of GitHub and Jules.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod arrows;
mod branch;
mod checks;
mod cli;
mod commands;
mod dashboard_issue;
mod determinism;
mod docs;
mod exchange;
mod export;
mod fleet;
mod fuzz;
mod github_client;
mod hostile;
mod inbox;
mod jobs;
mod jules_client;
mod kill;
mod labels;
mod layers;
mod mcp;
mod merging;
mod open_pulls;
mod other_programs;
mod outages;
mod packaging;
mod prompt;
mod race;

mod reference;
mod rename;
mod requests;
mod reviews;
mod rounds;
mod scenarios;
mod schedule_edits;
mod secrecy;
mod service;
mod setup;
mod simulation;
mod support;
mod templates;
mod tls;
mod twenty_four;
mod unread;
