//! `phileas persona`: lists the personas, and prints their prompts as Jules gets them.

mod add;
mod journal;
mod plan_folder;
mod roster;

use std::io::Write;
use std::path::Path;

use phileas_domain::model::{PersonaId, RepositoryName};
use phileas_domain::plan::{self, PERSONAS_FOLDER, Plan, SCHEDULES_PATH, closest};
use phileas_domain::prompt::{self, RenderError, SourceFiles};
use phileas_domain::{Diagnostic, board};
use serde_json::json;

use super::track::suggestion_text;
use crate::adapters::renderer;
use crate::cli::arguments::PersonaCommand;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::{findings_exit, print_to_stderr};
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::table::Table;
use plan_folder::{read_plan, run_locations};

pub(crate) async fn run(
    command: &PersonaCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        PersonaCommand::List { dir, json } => list_personas(dir, *json, screen),
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
            dir,
            persona,
            check,
            strict,
            json,
        } => match check {
            true => journal::check_journals(persona.as_deref(), dir, *strict, *json, screen),
            false => journal::run(persona.as_deref(), dir, *json, screen),
        },
        PersonaCommand::Render {
            id,
            dir,
            repo,
            track,
            json,
        } => render(id, dir, repo, track, *json, screen),
    }
}

/// What the prompt of a session has and a preview cannot have.
const LEFT_OUT: &str = "note: left out is what a session's prompt gets from GitHub and the ledger: earlier work, open \
     pull requests and notes on earlier turns; `phileas session show SESSION --json` shows the prompt of a session";

/// Whether a folder has a persona of this name, readable or not.
pub(super) fn has_persona(dir: &Path, name: &str) -> Result<bool, CliError> {
    let (tree, plan, _) = read_plan(dir)?;
    let folder = format!("{PERSONAS_FOLDER}/{name}");
    Ok(plan.personas.contains_key(&PersonaId::from(name)) || tree.is_folder(&folder))
}

/// The persona of a folder whose id is closest to a mistyped one.
pub(super) fn closest_persona(dir: &Path, name: &str) -> Result<Option<String>, CliError> {
    let (_, plan, _) = read_plan(dir)?;
    let ids = plan.personas.keys().map(PersonaId::as_str);
    Ok(closest(name, ids).map(str::to_owned))
}

/// Prints the title and prompt of a persona.
pub(super) fn render(
    id: &str,
    dir: &Path,
    repo: &RepositoryName,
    track: &str,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let (tree, plan, found) = read_plan(dir)?;
    let Some(persona) = plan.personas.get(&PersonaId::from(id)) else {
        let of_it = format!("{PERSONAS_FOLDER}/{id}/");
        let mistakes: Vec<Diagnostic> = found
            .into_iter()
            .filter(|one| one.file.starts_with(&of_it))
            .collect();
        print_to_stderr(&mistakes, false)?;
        return match findings_exit(&mistakes) {
            Exit::Done => Err(unknown_persona(&plan, id)),
            findings => Ok(findings),
        };
    };
    let request = prompt::Request {
        repository: repo,
        persona,
        tree: &tree,
        track: &track.into(),
        open_pulls: &[],
        sprint: plan
            .sprints
            .is_none()
            .then(|| board::current_sprint(&tree))
            .flatten(),
        // The fences of a preview protect nothing, so every preview may use the same ones.
        entropy: &[0; 32],
        notes: &[],
        work: &[],
        subject: None,
    };
    let files_of_it = SourceFiles::of_default_branch(&tree);
    let rendered = prompt::render_by(&request, &files_of_it, &*renderer::shared_renderer());
    let rendered = match rendered {
        Ok(rendered) => rendered,
        Err(RenderError::Unavailable(why)) => {
            return Err(CliError::fault(format!(
                "the prompt was not rendered: {why}"
            )));
        }
        Err(error) => {
            for one in error.into_diagnostics() {
                screen.print_line(&one.to_string())?;
            }
            return Ok(Exit::Findings);
        }
    };
    // Angle brackets stand for values that only a turn has.
    let title_mark = " [phileas:<turn>.<attempt>]";
    let prompt_mark = format!(
        "phileas-turn: <turn>.<attempt> repository=<id> track={track} seq=<n> slot= persona={id}"
    );
    if json {
        let document = json!({
            "title": rendered.title,
            "prompt": rendered.prompt,
            "included": rendered.included,
            "added": { "title": title_mark, "prompt": prompt_mark },
        });
        screen.print_line(&document.to_string())?;
    } else {
        screen.print_document(&format!(
            "{}{title_mark}\n\n{}\n\n{prompt_mark}\n",
            rendered.title,
            rendered.prompt.trim_end()
        ))?;
        output::print_error(LEFT_OUT)?;
    }
    Ok(Exit::Done)
}

fn unknown_persona(plan: &Plan, id: &str) -> CliError {
    let meant = suggestion_text(id, plan.personas.keys().map(PersonaId::as_str));
    CliError::usage(format!(
        "there is no persona `{id}` that can be read{meant}"
    ))
}

/// Lists the personas. Diagnostics, and the note that there is no persona, go to standard error. A mistake in the plan
/// or a persona is a finding. A folder may have personas and no plan yet.
fn list_personas(
    dir: &Path,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let (tree, plan, mut found) = read_plan(dir)?;
    let lacks_plan = plan::is_absent(&tree);
    let is_of_lacking = |one: &Diagnostic| lacks_plan && one.file == SCHEDULES_PATH;
    let no_plan = found.iter().find(|one| is_of_lacking(one));
    let no_plan = no_plan.map(|one| one.message.clone());
    found.retain(|one| !is_of_lacking(one));
    print_to_stderr(&found, false)?;
    if plan.personas.is_empty() {
        output::print_error(&format!(
            "{}: no persona that can be read; the prompt of one is {PERSONAS_FOLDER}/<id>/prompt.md",
            dir.display()
        ))?;
    }
    if let Some(what) = no_plan {
        output::print_error(&format!("{SCHEDULES_PATH}: {what}"))?;
    }
    let mut table = Table::new(["", "persona", "description", "runs"]).with_max_width(screen.width);
    for persona in plan.personas.values() {
        let places = run_locations(&plan, &persona.id);
        if json {
            let document = json!({
                "id": persona.id.to_string(),
                "emoji": persona.emoji,
                "description": persona.description,
                "path": persona.path,
                "scheduled": persona.scheduled,
                "runs": places,
            });
            screen.print_line(&document.to_string())?;
        } else {
            let places = if places.is_empty() {
                "only when asked for".to_owned()
            } else {
                places.join(", ")
            };
            table.push_row([
                persona.emoji.clone(),
                persona.id.to_string(),
                persona.description.clone(),
                places,
            ]);
        }
    }
    if !json && !plan.personas.is_empty() {
        screen.print_lines(&table.table_text())?;
    }
    Ok(findings_exit(&found))
}
