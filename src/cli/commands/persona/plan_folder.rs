//! The plan of a folder, and where a persona runs in it.

use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan::{self, Plan, StepKind};

use crate::adapters::files;
use crate::cli::exit::CliError;

pub(crate) fn read_plan(dir: &Path) -> Result<(Tree, Plan, Vec<Diagnostic>), CliError> {
    let tree = files::read_tree(dir)?;
    let (plan, found) = plan::read(&tree);
    Ok((tree, plan, found))
}

/// Where a persona runs by itself: its tracks with the steps' numbers, and its schedule.
pub(crate) fn run_locations(plan: &Plan, id: &PersonaId) -> Vec<String> {
    let kind = StepKind::Persona(id.clone());
    let tracks = plan.tracks.values().flat_map(|track| {
        let steps = track
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| step.kind == kind);
        steps.map(|(index, _)| format!("{}[{index}]", track.name))
    });
    let schedule = plan.schedules.get(id).map(|schedule| match &schedule.cron {
        Some(cron) => format!("`{}` {}", cron.expression(), cron.timezone()),
        None => "manual".to_owned(),
    });
    tracks.chain(schedule).collect()
}
