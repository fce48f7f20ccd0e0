//! `phileas pipeline status`: shows all runs, or one.

use std::io::Write;

use phileas_domain::pipeline::{IssueId, Run, next, run_overview};

use super::runs::{self, open_run};
use crate::cli::arguments::{RunLocation, RunsLocation};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::cli::terminal::table::Table;

pub(super) fn run(
    issue: Option<&IssueId>,
    place: &RunsLocation,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match issue {
        Some(issue) => {
            let place = RunLocation {
                issue: issue.clone(),
                place: place.clone(),
            };
            let (_, run) = open_run(&place)?;
            if place.place.json {
                screen.print_line(&run_overview(&run).to_string())?;
            } else {
                print_run(&run, screen)?;
            }
        }
        None => print_all(place, screen)?,
    }
    Ok(Exit::Done)
}

fn print_all(place: &RunsLocation, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    let runs = runs::open_runs(place)?;
    let settings = runs.read_settings()?;
    let (issues, completed) = runs.list_issues()?;
    let mut table = Table::new(["issue", "attempts", "next", "rule"]).with_figures([1]);
    for issue in &issues {
        let Some(run) = runs.run(issue, settings)? else {
            continue;
        };
        if place.json {
            screen.print_line(&run_overview(&run).to_string())?;
        }
        let next = next(&run);
        let json = next.json(&run);
        let who = json["agent"].as_str().or_else(|| json["action"].as_str());
        table.push_row([
            issue.to_string(),
            run.attempts().len().to_string(),
            who.unwrap_or_default().to_owned(),
            next.rule.code().to_owned(),
        ]);
    }
    if !place.json {
        if !issues.is_empty() {
            screen.print_lines(&table.table_text())?;
        }
        screen.print_line(&format!(
            "{}, {} archived",
            pluralize(issues.len(), "run"),
            completed.len()
        ))?;
    }
    Ok(())
}

fn print_run(run: &Run, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    let mut table = Table::new(["stage", "tier", "outcome"]);
    for attempt in run.attempts() {
        table.push_row([
            attempt.stage.to_string(),
            attempt.tier.to_string(),
            attempt.outcome.as_str().to_owned(),
        ]);
    }
    screen.print_lines(&table.table_text())?;
    for reading in run.readings() {
        let state = if reading.is_sound() {
            "no mistakes"
        } else {
            "it has mistakes, which `phileas pipeline validate` names"
        };
        screen.print_line(&format!("{}: {state}", reading.file))?;
    }
    let next = next(run);
    screen.print_line(&format!("next: {} [{}]", next.why, next.rule.code()))?;
    Ok(())
}
