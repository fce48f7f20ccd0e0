//! `phileas pipeline write` and `archive`.

use std::io::{Read as _, Write};

use jiff::Timestamp;
use phileas_domain::pipeline::limits::ARTIFACT_LIMIT_BYTES;
use phileas_domain::pipeline::{Artifact, Made};
use serde_json::json;

use super::runs::{self, open_run};
use crate::adapters::pipeline::RunsError;
use crate::cli::arguments::RunLocation;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_beside_results;
use crate::cli::terminal::output::Screen;

pub(super) fn run(
    artifact: Artifact,
    run_place: &RunLocation,
    agent: Option<String>,
    started_at: Option<Timestamp>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let runs = runs::open_runs(&run_place.place)?;
    let settings = runs.read_settings()?;
    let text = read_input()?;
    let made = Made {
        at: Timestamp::now(),
        started_at,
        agent,
    };
    let json = run_place.place.json;
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

/// Standard input, up to the limit of an artifact.
fn read_input() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let limit = ARTIFACT_LIMIT_BYTES as u64 + 1;
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::finding(format!(
            "standard input: byte {at} is no UTF-8; nothing was written"
        ))
    })
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
