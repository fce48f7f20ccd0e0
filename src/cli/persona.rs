//! `phileas persona`: who there is, and what exactly would be said to Jules.

use std::io::Write;
use std::path::Path;

use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan::{self, Persona, Plan, StepKind};
use phileas_domain::prompt;
use serde_json::json;

use super::arguments::PersonaCommand;
use super::exit::{Exit, Stopped};
use crate::adapters::files;

pub(super) fn run(command: &PersonaCommand, out: &mut impl Write) -> Result<Exit, Stopped> {
    match command {
        PersonaCommand::List { dir, json } => list(dir, *json, out),
        PersonaCommand::Render {
            id,
            dir,
            repo,
            track,
            json,
        } => {
            let (tree, plan) = read(dir)?;
            let persona = plan
                .personas
                .get(&PersonaId::from(id.as_str()))
                .ok_or_else(|| unknown(&plan, id))?;
            let rendered = prompt::render(&prompt::Request {
                repository: repo,
                persona,
                tree: &tree,
                track: &track.as_str().into(),
                open_pulls: &[],
                sprint: None,
                // The fences of a preview guard nothing, so the same preview may look the same each time.
                entropy: &[0; 32],
                notes: &[],
            });
            let rendered = match rendered {
                Ok(rendered) => rendered,
                Err(diagnostics) => {
                    for one in diagnostics {
                        writeln!(out, "{one}")?;
                    }
                    return Ok(Exit::Findings);
                }
            };
            if *json {
                let document = json!({
                    "title": rendered.title,
                    "prompt": rendered.prompt,
                    "included": rendered.included,
                });
                writeln!(out, "{document}")?;
            } else {
                writeln!(out, "{}\n\n{}", rendered.title, rendered.prompt)?;
            }
            Ok(Exit::Done)
        }
    }
}

fn read(dir: &Path) -> Result<(Tree, Plan), Stopped> {
    let tree = files::read_tree(dir).map_err(|error| Stopped::usage(error.to_string()))?;
    let (plan, _) = plan::read(&tree);
    Ok((tree, plan))
}

fn unknown(plan: &Plan, id: &str) -> Stopped {
    let known: Vec<_> = plan.personas.keys().map(ToString::to_string).collect();
    Stopped::usage(format!(
        "there is no persona `{id}`; there are: {}",
        known.join(", ")
    ))
}

fn list(dir: &Path, json: bool, out: &mut impl Write) -> Result<Exit, Stopped> {
    let (_, plan) = read(dir)?;
    for persona in plan.personas.values() {
        let places = places(&plan, persona);
        if json {
            let document = json!({
                "id": persona.id.to_string(),
                "emoji": persona.emoji,
                "description": persona.description,
                "path": persona.path,
                "scheduled": persona.scheduled,
                "runs": places,
            });
            writeln!(out, "{document}")?;
        } else {
            let places = if places.is_empty() {
                "only when asked for".to_owned()
            } else {
                places.join(", ")
            };
            writeln!(
                out,
                "{:<3} {:<20} {:<40} {places}",
                persona.emoji,
                persona.id.as_str(),
                persona.description
            )?;
        }
    }
    Ok(Exit::Done)
}

/// Where a persona runs by itself: its tracks with the steps' numbers, and its schedule.
fn places(plan: &Plan, persona: &Persona) -> Vec<String> {
    let kind = StepKind::Persona(persona.id.clone());
    let tracks = plan.tracks.values().flat_map(|track| {
        let steps = track
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| step.kind == kind);
        steps.map(|(index, _)| format!("{}[{index}]", track.name))
    });
    let schedule = plan
        .schedules
        .get(&persona.id)
        .map(|schedule| match &schedule.cron {
            Some(cron) => format!("`{}` {}", cron.expression(), cron.timezone()),
            None => "manual".to_owned(),
        });
    tracks.chain(schedule).collect()
}
