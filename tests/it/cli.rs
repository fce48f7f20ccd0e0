//! The command line as people and scripts meet it: words, exit codes, JSON, colours.

mod deadline;
mod exits;
mod misplaced;
mod output_format;
mod plan;
mod switches;
mod usage;
mod values;

use serde_json::Value;

use crate::support::child::Ended;
use crate::support::folder::fixture;
use crate::support::{Folder, Phileas};

fn phileas(arguments: &[&str]) -> Ended {
    Phileas::new(arguments).run()
}

/// The plan of twenty-four personas, with their prompts.
fn fixture_repository() -> Folder {
    let plan = fixture("plan/schedules.toml");
    let table: toml::Table = toml::from_str(&plan).unwrap();
    let paths = table["cycle"].as_array().unwrap();
    let ids: Vec<&str> = paths
        .iter()
        .map(|path| path.as_str().unwrap().split('/').nth(1).unwrap())
        .collect();
    Folder::repository(&plan, &ids)
}

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}
