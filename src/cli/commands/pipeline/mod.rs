//! `phileas pipeline`: the artifacts of runs checked, written, put away, and who comes next.

mod check;
mod lessons;
pub(crate) mod place;
mod status;
mod write;

use std::io::Write;
use std::path::Path;

use phileas_domain::pipeline::{Step, next};

use crate::adapters::pipeline::read_file;
use crate::cli::arguments::{PipelineCommand, RunPlace};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::diagnostics::tell;
use crate::cli::terminal::output::Screen;
use place::begun_or_not;

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
