//! `phileas persona`: who there is, and what exactly would be said to Jules.

mod add;
mod journal;
mod plan_folder;
mod roster;

use std::io::Write;
use std::path::Path;

use phileas_domain::model::PersonaId;
use phileas_domain::plan::{PERSONAS_FOLDER, Plan, SCHEDULES_PATH};
use phileas_domain::prompt::{self, RenderError, SourceFiles};
use phileas_domain::{Diagnostic, board};
use serde_json::json;

use super::track::meant;
use crate::adapters::renderer;
use crate::cli::arguments::PersonaCommand;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::sanitize;
use plan_folder::{places, read};

pub(crate) async fn run(
    command: &PersonaCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        PersonaCommand::List { dir, json } => list(dir, *json, screen),
        PersonaCommand::Roster(repository) => roster::run(repository, screen).await,
        PersonaCommand::Add {
            name,
            schedule,
            cycle,
            dir,
            json,
        } => add::run(
            name.as_deref(),
            schedule.as_deref(),
            *cycle,
            dir,
            *json,
            screen,
        ),
        PersonaCommand::Journal {
            id,
            dir,
            lint,
            strict,
            json,
        } => match lint {
            true => journal::lint(id.as_deref(), dir, *strict, *json, screen),
            false => journal::run(id.as_deref(), dir, *json, screen),
        },
        PersonaCommand::Render {
            id,
            dir,
            repo,
            track,
            json,
        } => {
            let (tree, plan, found) = read(dir)?;
            let Some(persona) = plan.personas.get(&PersonaId::from(id.as_str())) else {
                let of_it = format!("{PERSONAS_FOLDER}/{id}/");
                tell(found.iter().filter(|one| one.file.starts_with(&of_it)))?;
                return Err(unknown(&plan, id));
            };
            let request = prompt::Request {
                repository: repo,
                persona,
                tree: &tree,
                track: &track.as_str().into(),
                open_pulls: &[],
                sprint: plan
                    .sprints
                    .is_none()
                    .then(|| board::current_sprint(&tree))
                    .flatten(),
                // The fences of a preview guard nothing, so the same preview may look the same each time.
                entropy: &[0; 32],
                notes: &[],
                subject: None,
            };
            let files_of_it = SourceFiles::of_default_branch(&tree);
            let rendered = prompt::render_by(&request, &files_of_it, &*renderer::shared());
            let rendered = match rendered {
                Ok(rendered) => rendered,
                Err(RenderError::Unavailable(why)) => {
                    return Err(Stopped::fault(format!(
                        "the prompt was not rendered: {why}"
                    )));
                }
                Err(error) => {
                    for one in error.into_diagnostics() {
                        screen.line(&one.to_string())?;
                    }
                    return Ok(Exit::Findings);
                }
            };
            // What only a turn knows stands in angle brackets.
            let title_mark = " [phileas:<turn>.<attempt>]";
            let prompt_mark = format!(
                "phileas-turn: <turn>.<attempt> repository=<id> track={track} seq=<n> slot= persona={id}"
            );
            if *json {
                let document = json!({
                    "title": rendered.title,
                    "prompt": rendered.prompt,
                    "included": rendered.included,
                    "added": { "title": title_mark, "prompt": prompt_mark },
                });
                screen.line(&document.to_string())?;
            } else {
                screen.document(&format!(
                    "{}{title_mark}\n\n{}\n\n{prompt_mark}\n",
                    rendered.title,
                    rendered.prompt.trim_end()
                ))?;
            }
            Ok(Exit::Done)
        }
    }
}

/// Complaints go to standard error.
fn tell<'a>(found: impl Iterator<Item = &'a Diagnostic>) -> Result<(), Stopped> {
    for one in found {
        output::beside(&one.to_string())?;
    }
    Ok(())
}

fn unknown(plan: &Plan, id: &str) -> Stopped {
    let meant = meant(id, plan.personas.keys().map(PersonaId::as_str));
    Stopped::usage(format!(
        "there is no persona `{id}` that can be read{meant}"
    ))
}

/// Who there is. What is wrong with the plan and with the others, and that there is nobody, goes to standard error; a plan
/// or a persona with a mistake is a finding. A folder may have personas and no plan yet.
fn list(dir: &Path, json: bool, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let (tree, plan, mut found) = read(dir)?;
    let lacks_plan = tree.get(SCHEDULES_PATH).is_none();
    let is_of_lacking = |one: &Diagnostic| lacks_plan && one.file == SCHEDULES_PATH;
    let no_plan = found.iter().find(|one| is_of_lacking(one));
    let no_plan = no_plan.map(|one| one.message.clone());
    found.retain(|one| !is_of_lacking(one));
    tell(found.iter())?;
    if plan.personas.is_empty() {
        output::beside(&format!(
            "{}: no persona that can be read; the prompt of one is {PERSONAS_FOLDER}/<id>/prompt.md",
            dir.display()
        ))?;
    }
    if let Some(what) = no_plan {
        output::beside(&format!("{SCHEDULES_PATH}: {what}"))?;
    }
    for persona in plan.personas.values() {
        let places = places(&plan, &persona.id);
        if json {
            let document = json!({
                "id": persona.id.to_string(),
                "emoji": persona.emoji,
                "description": persona.description,
                "path": persona.path,
                "scheduled": persona.scheduled,
                "runs": places,
            });
            screen.line(&document.to_string())?;
        } else {
            let places = if places.is_empty() {
                "only when asked for".to_owned()
            } else {
                places.join(", ")
            };
            screen.line(&format!(
                "{:<3} {:<20} {:<40} {places}",
                sanitize::line(&persona.emoji),
                persona.id.as_str(),
                sanitize::line(&persona.description)
            ))?;
        }
    }
    Ok(if found.iter().any(Diagnostic::is_error) {
        Exit::Findings
    } else {
        Exit::Done
    })
}
