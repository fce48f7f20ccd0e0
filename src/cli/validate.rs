//! `phileas validate`: the plan and the personas of a folder.

use std::io::Write;

use phileas_domain::{Diagnostic, Severity, plan, prompt};
use serde_json::json;

use super::arguments::Validate;
use super::exit::{Exit, Stopped};
use crate::adapters::files;

pub(super) fn run(arguments: &Validate, out: &mut impl Write) -> Result<Exit, Stopped> {
    let tree =
        files::read_tree(&arguments.dir).map_err(|error| Stopped::usage(error.to_string()))?;
    let (plan, mut found) = plan::read(&tree);
    for persona in plan.personas.values() {
        found.extend(prompt::validate(persona, &tree));
    }
    found.sort();
    found.dedup();
    for one in &found {
        if arguments.json {
            writeln!(out, "{}", diagnostic_json(one))?;
        } else {
            writeln!(out, "{one}")?;
        }
    }
    let errors = found.iter().filter(|one| one.is_error()).count();
    if !arguments.json {
        let steps: usize = plan.tracks.values().map(|track| track.steps.len()).sum();
        writeln!(
            out,
            "{}: {} tracks with {steps} steps, {} schedules, {} personas; {errors} errors, {} warnings",
            if errors == 0 { "ok" } else { "not ok" },
            plan.tracks.len(),
            plan.schedules.len(),
            plan.personas.len(),
            found.len() - errors
        )?;
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// One diagnostic as programs read it.
#[must_use]
pub(super) fn diagnostic_json(one: &Diagnostic) -> serde_json::Value {
    json!({
        "file": one.file,
        "line": one.line,
        "column": one.column,
        "key": one.key,
        "severity": match one.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": one.message,
        "mend": one.mend,
    })
}
