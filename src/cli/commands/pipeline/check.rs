//! `phileas pipeline check`: checks the invariants between the artifacts of a run.

use std::io::Write;

use phileas_domain::Severity;
use phileas_domain::pipeline::{BrokenInvariant, CheckStage, Stage, check_stage};

use super::runs::{self, open_run};
use crate::cli::arguments::RunLocation;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::Screen;

pub(super) fn run(
    run_place: &RunLocation,
    stage: CheckStage,
    base: Option<&str>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let (runs, run) = open_run(run_place)?;
    let changed = match stage {
        CheckStage::Of(Stage::Implement) => Some(runs::changed_paths(&runs, base)?),
        _ => None,
    };
    let found = check_stage(&run, stage, changed.as_deref());
    let errors = found.iter().filter(|one| one.said.is_error()).count();
    for one in &found {
        if run_place.place.json {
            let mut line = diagnostic_json(&one.said);
            line["check"] = one.check.into();
            screen.print_line(&line.to_string())?;
        } else {
            screen.print_line(&finding_text(one))?;
        }
    }
    if !run_place.place.json {
        if !found.is_empty() {
            screen.print_line("")?;
        }
        screen.print_line(&verdict_text(errors, found.len() - errors, stage))?;
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// `[ERROR] name: file:line:column: what is wrong; how to fix it`
fn finding_text(one: &BrokenInvariant) -> String {
    let said = &one.said;
    let severity = match said.severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
    };
    let line = said.line.map(|line| format!(":{line}")).unwrap_or_default();
    let column = said
        .column
        .map(|column| format!(":{column}"))
        .unwrap_or_default();
    format!(
        "[{severity}] {}: {}{line}{column}: {}; {}",
        one.check, said.file, said.message, said.help
    )
}

fn verdict_text(errors: usize, warnings: usize, stage: CheckStage) -> String {
    match (errors, warnings) {
        (0, 0) => format!(
            "All invariants passed for stage '{}' - PASS",
            stage.as_str()
        ),
        (0, _) => format!("{warnings} warning(s) - PASS with warnings"),
        _ => format!("{errors} error(s), {warnings} warning(s) - FAIL"),
    }
}
