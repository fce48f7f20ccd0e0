//! The exchange from outside: every check with what makes it speak and what does not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod checks;
mod examples;
mod import;
mod quarantine;
mod schemas;
mod streams;
