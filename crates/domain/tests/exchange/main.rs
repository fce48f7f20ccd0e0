//! Tests the exchange through its public API: each check, with what triggers it and what does not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod across;
mod checks;
mod drift;
mod every_check;
mod examples;
mod import;
mod limits;
mod older;
mod quarantine;
mod schemas;
mod streams;
mod work_item_issues;
