//! `phileas persona roster`: shows each persona with its last outcome and its results.

use std::io::Write;

use phileas_domain::engine::{Ledger, PersonaStatus, RunRequest, persona_statuses};
use phileas_domain::plan::Driver;
use serde_json::{Value, json};

use crate::adapters::renderer;
use crate::cli::arguments::Repository;
use crate::cli::commands::status::yield_json;
use crate::cli::context::{clients, run_identity};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table::Table;
use crate::runtime::ports::ReadGitHub as _;
use crate::runtime::{Settings, snapshot_of};

pub(super) async fn run(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let observation = github.observe_repository().await?;
    let settings = Settings {
        holder: run_identity::run_holder()?,
        driver: Driver::Any,
        ask: RunRequest::Due,
        // This command decides nothing.
        entropy: [0; 32],
        paused_by_variable: None,
        previous_tick: None,
        renderer: renderer::shared_renderer(),
    };
    let snapshot = snapshot_of(observation, &settings);
    if let Ledger::Corrupt { diagnostics, .. } = &snapshot.ledger {
        let first = diagnostics.first();
        return Err(CliError::corrupt(
            first.map_or_else(String::new, ToString::to_string),
        ));
    }
    let standings = persona_statuses(&snapshot);
    if arguments.json {
        for one in &standings {
            screen.print_line(&standing_json(one).to_string())?;
        }
        return Ok(Exit::Done);
    }
    if standings.is_empty() {
        screen.print_line("there is no persona; add one with phileas persona add")?;
        return Ok(Exit::Done);
    }
    let headings = [
        "persona",
        "last",
        "when (UTC)",
        "streak",
        "sessions",
        "merged",
        "rejected",
        "empty",
        "",
    ];
    let mut table = Table::new(headings)
        .with_figures([4, 5, 6, 7])
        .with_max_width(screen.width);
    for one in &standings {
        let figures = &one.yields;
        let empty = figures.no_output + figures.no_op + figures.failed + figures.stuck;
        table.push_row([
            one.persona.to_string(),
            last_outcome(one),
            rest_text(one),
            streak_text(one),
            figures.sessions.to_string(),
            figures.merged.to_string(),
            (figures.rejected + figures.repeated + figures.superseded).to_string(),
            empty.to_string(),
            remark_text(one),
        ]);
    }
    screen.print_lines(&table.table_text())?;
    Ok(Exit::Done)
}

fn last_outcome(one: &PersonaStatus) -> String {
    let Some(last) = &one.last else {
        return "-".to_owned();
    };
    let word = last
        .outcome
        .as_ref()
        .map_or_else(|| "under way".to_owned(), ToString::to_string);
    match last.pull {
        Some(pull) => format!("{word} #{pull}"),
        None => word,
    }
}

fn rest_text(one: &PersonaStatus) -> String {
    let at = one.last.as_ref().and_then(|last| last.at);
    at.map(short_time).unwrap_or_default()
}

/// `3 in a row`, if it is more than one.
fn streak_text(one: &PersonaStatus) -> String {
    match one.streak {
        0 | 1 => String::new(),
        many => format!("{many} in a row"),
    }
}

fn remark_text(one: &PersonaStatus) -> String {
    let mut said = Vec::new();
    if !one.known {
        said.push("it has no prompt any more".to_owned());
    }
    if one.unwanted > 0 {
        said.push(format!("{} unwanted in a row", one.unwanted));
    }
    if let Some(until) = one.yields.resting_until {
        let until = short_time(until);
        said.push(match one.yields.resting_text() {
            None => format!("rests until {until}"),
            Some(change) => format!("rests until {change}, at the latest {until}"),
        });
    }
    said.join(", ")
}

fn standing_json(one: &PersonaStatus) -> Value {
    json!({
        "persona": one.persona.to_string(),
        "known": one.known,
        "last": one.last.as_ref().map(|last| json!({
            "outcome": last.outcome.as_ref().map(ToString::to_string),
            "at": last.at.map(|at| at.to_string()),
            "track": last.track.to_string(),
            "pr_number": last.pull.map(|pull| pull.0),
        })),
        "streak": one.streak,
        "unwanted": one.unwanted,
        "yield": yield_json(&one.yields),
    })
}
