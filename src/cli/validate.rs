//! `phileas validate`: the plan and the personas of a folder.

use std::io::Write;

use phileas_domain::model::Tree;
use phileas_domain::plan::{self, Plan, SCHEDULES_PATH, StepKind};
use phileas_domain::{Diagnostic, Severity, prompt};
use serde_json::json;

use super::arguments::Validate;
use super::exit::{Exit, Stopped};
use super::layers;
use super::output::Screen;
use super::words::several;
use crate::adapters::files;

pub(super) fn run(arguments: &Validate, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let tree = files::read_tree(&arguments.dir)?;
    let (plan, found) = check(&tree);
    print(&found, arguments.json, screen)?;
    let errors = found.iter().filter(|one| one.is_error()).count();
    if !arguments.json {
        let steps: usize = plan.tracks.values().map(|track| track.steps.len()).sum();
        screen.line(&format!(
            "{}: {} with {}, {}, {}; {}, {}",
            if errors == 0 { "ok" } else { "not ok" },
            several(plan.tracks.len(), "track"),
            several(steps, "step"),
            several(plan.schedules.len(), "schedule"),
            several(plan.personas.len(), "persona"),
            several(errors, "error"),
            several(found.len() - errors, "warning"),
        ))?;
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// The plan of a tree, and everything that is wrong with it and with its prompts.
pub(super) fn check(tree: &Tree) -> (Plan, Vec<Diagnostic>) {
    let (plan, mut found) = plan::read(tree);
    for persona in plan.personas.values() {
        found.extend(prompt::validate(persona, tree));
    }
    found.extend(prompt::read_orders(tree));
    found.extend(layers::check(tree, &plan));
    let broken = found.iter().any(Diagnostic::is_error);
    if !broken && runnable(&plan, tree) == 0 {
        let warning = Diagnostic::warning(SCHEDULES_PATH, "nothing runs by itself");
        found.push(
            warning.mend("name personas in `cycle`, in `[tracks]` or by a cron in `[schedules]`"),
        );
    }
    found.sort();
    found.dedup();
    (plan, found)
}

/// How many steps and schedules could start a session by themselves.
pub(super) fn runnable(plan: &Plan, tree: &Tree) -> usize {
    let can = |id| {
        let persona = plan.personas.get(id);
        persona.is_some_and(|persona| {
            let sound = || {
                !prompt::validate(persona, tree)
                    .iter()
                    .any(Diagnostic::is_error)
            };
            persona.scheduled && sound()
        })
    };
    let steps = plan.tracks.values().flat_map(|track| &track.steps);
    let in_tracks = steps.filter(|step| match &step.kind {
        StepKind::Persona(id) => can(id),
        StepKind::Layer(layer) => layers::can_run(&plan.roster, layer),
    });
    let by_clock = plan.schedules.values();
    let by_clock = by_clock.filter(|schedule| schedule.cron.is_some() && can(&schedule.persona));
    in_tracks.count() + by_clock.count()
}

/// Diagnostics as people read them, or one JSON object a line.
pub(super) fn print(
    found: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    for one in found {
        if json {
            screen.line(&diagnostic_json(one).to_string())?;
        } else {
            screen.line(&one.to_string())?;
        }
    }
    Ok(())
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
