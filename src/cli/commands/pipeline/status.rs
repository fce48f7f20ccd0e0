//! `phileas pipeline status`.

use std::io::Write;

use phileas_domain::pipeline::{IssueId, Run, next, overview};

use super::place::{self, open};
use crate::cli::arguments::{RunPlace, RunsPlace};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::cli::terminal::table::Table;

pub(super) fn run(
    issue: Option<&IssueId>,
    place: &RunsPlace,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match issue {
        Some(issue) => {
            let place = RunPlace {
                issue: issue.clone(),
                place: place.clone(),
            };
            let (_, run) = open(&place)?;
            if place.place.json {
                screen.line(&overview(&run).to_string())?;
            } else {
                one(&run, screen)?;
            }
        }
        None => all(place, screen)?,
    }
    Ok(Exit::Done)
}

fn all(place: &RunsPlace, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
    let runs = place::runs(place)?;
    let settings = runs.settings()?;
    let (issues, completed) = runs.issues()?;
    let mut table = Table::new(["ISSUE", "ATTEMPTS", "NEXT", "RULE"]).figures([1]);
    for issue in &issues {
        let Some(run) = runs.run(issue, settings)? else {
            continue;
        };
        if place.json {
            screen.line(&overview(&run).to_string())?;
        }
        let next = next(&run);
        let json = next.json(&run);
        let who = json["agent"].as_str().or_else(|| json["action"].as_str());
        table.row([
            issue.to_string(),
            run.attempts().len().to_string(),
            who.unwrap_or_default().to_owned(),
            next.rule.code().to_owned(),
        ]);
    }
    if !place.json {
        if !issues.is_empty() {
            screen.lines(&table.text())?;
        }
        screen.line(&format!(
            "{}, {} put away",
            several(issues.len(), "run"),
            completed.len()
        ))?;
    }
    Ok(())
}

fn one(run: &Run, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
    let mut table = Table::new(["STAGE", "TIER", "OUTCOME"]);
    for attempt in run.attempts() {
        table.row([
            attempt.stage.to_string(),
            attempt.tier.to_string(),
            attempt.outcome.as_str().to_owned(),
        ]);
    }
    screen.lines(&table.text())?;
    for reading in run.readings() {
        let state = if reading.is_sound() {
            "sound"
        } else {
            "not sound"
        };
        screen.line(&format!("{}: {state}", reading.file))?;
    }
    let next = next(run);
    screen.line(&format!("next: {} [{}]", next.why, next.rule.code()))?;
    Ok(())
}
