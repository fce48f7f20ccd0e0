//! `phileas pipeline`: checks, writes and archives the artifacts of runs, and shows which agent runs next.

mod check;
mod lessons;
pub(crate) mod runs;
mod status;
mod write;

use std::io::Write;
use std::path::Path;

use phileas_domain::pipeline::{Step, next};

use crate::adapters::pipeline::read_file;
use crate::cli::arguments::{PipelineCommand, RunLocation};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_beside_results;
use crate::cli::terminal::output::Screen;
use runs::open_or_empty_run;

pub(crate) fn run(
    command: &PipelineCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        PipelineCommand::Validate { file, json } => validate_file(file, *json, screen),
        PipelineCommand::Check { run, stage, base } => {
            check::run(run, *stage, base.as_deref(), screen)
        }
        PipelineCommand::Status { issue, place } => status::run(issue.as_ref(), place, screen),
        PipelineCommand::Next { run } => print_next(run, screen),
        PipelineCommand::Write {
            artifact,
            run,
            agent,
            started,
        } => write::run(*artifact, run, agent.clone(), *started, screen),
        PipelineCommand::Archive { run, unfinished } => {
            write::archive_run(run, *unfinished, screen)
        }
        PipelineCommand::Lessons { command } => lessons::run(command, screen),
    }
}

fn validate_file(
    file: &Path,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let reading = read_file(file)?;
    print_beside_results(&reading.diagnostics, json, screen)?;
    if !reading.is_sound() {
        return Ok(Exit::Findings);
    }
    if !json {
        screen.print_line("OK")?;
    }
    Ok(Exit::Done)
}

fn print_next(place: &RunLocation, screen: &mut Screen<impl Write>) -> Result<Exit, CliError> {
    let (runs, run) = open_or_empty_run(place)?;
    let next = next(&run);
    if place.place.json {
        screen.print_line(&next.json(&run).to_string())?;
        return Ok(Exit::Done);
    }
    let rule = next.rule.code();
    let why = &next.why;
    match &next.step {
        Step::Person => screen.print_line(&format!("a person decides: {why} [{rule}]"))?,
        Step::Wait => screen.print_line(&format!("wait: {why} [{rule}]"))?,
        Step::Archive => screen.print_line(&format!(
            "phileas pipeline archive --issue {}: {why} [{rule}]",
            run.issue
        ))?,
        Step::Run(order) => {
            let attempt = order.attempt;
            screen.print_line(&format!("{}, try {attempt}: {why} [{rule}]", order.agent))?;
            let folder = runs.folder().join(run.issue.as_str());
            for name in &order.reads {
                screen.print_line(&format!("  reads  {}", folder.join(name).display()))?;
            }
            screen.print_line(&format!("  writes {}", folder.join(order.writes).display()))?;
            if let Some(said) = &order.instructions {
                screen.print_line(&format!("  told   {said}"))?;
            }
        }
    }
    Ok(Exit::Done)
}
