//! `phileas pipeline write` and `archive`.

use std::io::Write;

use jiff::Timestamp;
use phileas_domain::pipeline::limits::ARTIFACT_LIMIT_BYTES;
use phileas_domain::pipeline::{Artifact, Made};
use phileas_domain::{Diagnostic, utf8_text};
use serde_json::json;

use super::runs::{self, open_run};
use crate::adapters::files::read_limited;
use crate::adapters::pipeline::RunsError;
use crate::cli::arguments::RunLocation;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_beside_results;
use crate::cli::terminal::output::Screen;

/// How diagnostics name standard input.
const INPUT: &str = "standard input";

pub(super) fn run(
    artifact: Artifact,
    run_place: &RunLocation,
    agent: Option<String>,
    started_at: Option<Timestamp>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let runs = runs::open_runs(&run_place.place)?;
    let settings = runs.read_settings()?;
    let json = run_place.place.json;
    let text = read_input(json, screen)?;
    let made = Made {
        at: Timestamp::now(),
        started_at,
        agent,
    };
    let written = match runs.write_artifact(&run_place.issue, artifact, &text, settings, &made) {
        Ok(written) => written,
        Err(error @ RunsError::Unsound(_)) => {
            print_beside_results(error.findings(), json, screen)?;
            return Err(error.into());
        }
        Err(error) => return Err(error.into()),
    };
    print_beside_results(&written.reading.diagnostics, json, screen)?;
    let path = written.path.display().to_string();
    if json {
        screen.print_line(&json!({ "written": path }).to_string())?;
    } else {
        screen.print_line(&format!("wrote {path}"))?;
    }
    Ok(Exit::Done)
}

/// Reads standard input, up to the limit of an artifact. Prints what is wrong with it.
fn read_input(json: bool, screen: &mut Screen<impl Write>) -> Result<String, CliError> {
    let wrong = |text: String, help: &str| Diagnostic::error(INPUT, text).help(help);
    let limit = ARTIFACT_LIMIT_BYTES;
    let read = read_limited(std::io::stdin().lock(), limit as u64)?;
    let bytes = read.ok_or_else(|| wrong(format!("it is larger than {limit} bytes"), "shorten it"));
    let text = bytes.and_then(|bytes| {
        utf8_text(bytes).map_err(|error| wrong(error.to_string(), "write it in UTF-8"))
    });
    match text {
        Ok(text) => Ok(text),
        Err(wrong) => {
            print_beside_results(&[wrong], json, screen)?;
            Err(CliError::finding("nothing was written"))
        }
    }
}

pub(super) fn archive_run(
    run_place: &RunLocation,
    unfinished: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let (runs, run) = open_run(run_place)?;
    let finished = run.reading(Artifact::Git).is_some_and(|git| git.is_sound());
    if !finished && !unfinished {
        return Err(CliError::finding(format!(
            "git-result.json of the run of {} is missing or has mistakes, so the run is not finished; archive it all the same with --unfinished",
            run.issue
        )));
    }
    let to = runs.archive_run(&run_place.issue)?.display().to_string();
    if run_place.place.json {
        screen.print_line(&json!({ "archived": to }).to_string())?;
    } else {
        screen.print_line(&format!("archived as {to}"))?;
    }
    Ok(Exit::Done)
}
