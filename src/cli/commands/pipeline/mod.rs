//! `phileas pipeline`: the artifacts of runs checked, written, put away, and who comes next.

mod check;
mod lessons;
pub(crate) mod place;
mod status;
mod write;

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::pipeline::{Run, Step, next};

use super::validate::diagnostic_json;
use crate::adapters::pipeline::{Runs, RunsError, read_file};
use crate::cli::arguments::{PipelineCommand, RunPlace};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::{self, Screen};

pub(crate) fn run(
    command: &PipelineCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        PipelineCommand::Validate { file, json } => validate(file, *json, screen),
        PipelineCommand::Check { run, stage, base } => {
            check::run(run, stage.0, base.as_deref(), screen)
        }
        PipelineCommand::Status { issue, place } => status::run(issue.as_ref(), place, screen),
        PipelineCommand::Next { run } => who_is_next(run, screen),
        PipelineCommand::Write {
            artifact,
            run,
            agent,
            started,
        } => write::run(artifact.0, run, agent.clone(), *started, screen),
        PipelineCommand::Archive { run, unfinished } => write::archive(run, *unfinished, screen),
        PipelineCommand::Lessons { command } => lessons::run(command, screen),
    }
}

fn validate(file: &Path, json: bool, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let reading = read_file(file)?;
    tell(&reading.found, json, screen)?;
    if !reading.is_sound() {
        return Ok(Exit::Findings);
    }
    if !json {
        screen.line("OK")?;
    }
    Ok(Exit::Done)
}

/// Findings for people beside the result, so that scripts may compare it; for programs one a line.
fn tell(found: &[Diagnostic], json: bool, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
    for one in found {
        if json {
            screen.line(&diagnostic_json(one).to_string())?;
        } else {
            output::beside(&one.to_string())?;
        }
    }
    Ok(())
}

fn who_is_next(place: &RunPlace, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let (runs, run) = begun_or_not(place)?;
    let next = next(&run);
    if place.place.json {
        screen.line(&next.json(&run).to_string())?;
        return Ok(Exit::Done);
    }
    let rule = next.rule.code();
    let why = &next.why;
    match &next.step {
        Step::Person => screen.line(&format!("a person decides: {why} [{rule}]"))?,
        Step::Wait => screen.line(&format!("wait: {why} [{rule}]"))?,
        Step::Archive => screen.line(&format!(
            "phileas pipeline archive --issue {}: {why} [{rule}]",
            run.issue
        ))?,
        Step::Run(order) => {
            let attempt = order.attempt;
            screen.line(&format!("{}, try {attempt}: {why} [{rule}]", order.agent))?;
            let folder = runs.folder().join(run.issue.as_str());
            for name in &order.reads {
                screen.line(&format!("  reads  {}", folder.join(name).display()))?;
            }
            screen.line(&format!("  writes {}", folder.join(order.writes).display()))?;
            if let Some(said) = &order.instructions {
                screen.line(&format!("  told   {said}"))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// The run of an issue.
fn open(place: &RunPlace) -> Result<(Runs, Run), Stopped> {
    let (runs, run) = find(place)?;
    match run {
        Some(run) => Ok((runs, run)),
        None => {
            let folder = runs.folder().join(place.issue.as_str());
            Err(RunsError::NoRun(folder).into())
        }
    }
}

/// The run of an issue, or an empty one: somebody must begin.
fn begun_or_not(place: &RunPlace) -> Result<(Runs, Run), Stopped> {
    let (runs, run) = find(place)?;
    let settings = runs.settings()?;
    let run = run.unwrap_or_else(|| Run::read(place.issue.clone(), &[], settings));
    Ok((runs, run))
}

fn find(place: &RunPlace) -> Result<(Runs, Option<Run>), Stopped> {
    let runs = place::runs(&place.place)?;
    let run = runs.run(&place.issue, runs.settings()?)?;
    if run.is_none() && runs.is_archived(&place.issue)? {
        return Err(Stopped::usage(format!(
            "the run of {} was put away; look in {}",
            place.issue,
            runs.folder().join("completed").display()
        )));
    }
    Ok((runs, run))
}

impl From<RunsError> for Stopped {
    fn from(error: RunsError) -> Self {
        match &error {
            // Scripts know these two from of old as findings.
            RunsError::Unknown(_) | RunsError::NoFile(_) => Self::fault(error.to_string()),
            RunsError::Unsound(_) | RunsError::Trace(_) | RunsError::Taken(_) => {
                Self::fault(error.to_string())
            }
            RunsError::NoRun(_) => Self::usage(format!(
                "{error}; write its first artifact with `phileas pipeline write`"
            )),
            RunsError::Archived { .. }
            | RunsError::Settings(_)
            | RunsError::NotOfARun
            | RunsError::Refused { .. }
            | RunsError::System { .. } => Self::usage(error.to_string()),
        }
    }
}
