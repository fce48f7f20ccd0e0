//! `phileas task`: lists, creates, claims, moves and checks the tasks that personas leave for each other.

pub(crate) mod check;
pub(super) mod folder;

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use phileas_domain::board::limits::FILE_LIMIT_BYTES;
use phileas_domain::board::{self, Change, Claim, NewTask, Task, TaskError};
use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::{Diagnostic, plan, utf8_text};

use super::track::suggestion_text;
use crate::adapters::files;
use crate::cli::arguments::{BoardFolder, TaskCommand};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::{findings_exit, print_beside_results};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::cli::terminal::table::Table;
use folder::{print_change, read_error, read_folder};

pub(crate) fn run(
    command: &TaskCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        TaskCommand::List {
            dir,
            state,
            persona,
            tag,
            json,
        } => {
            let tree = read_folder(dir)?;
            let tasks = board::list_tasks(&tree);
            let mut chosen: Vec<&Task> = match persona {
                Some(id) => tasks_for_persona(&tree, &tasks, id)?,
                None => tasks.iter().collect(),
            };
            chosen.retain(|task| state.is_none_or(|state| task.state == state));
            chosen.retain(|task| tag.as_ref().is_none_or(|tag| task.has_tag(tag)));
            print_tasks(&chosen, *json, screen)?;
            let unread = board::unread_tasks(&tree).into_iter();
            let unread: Vec<Diagnostic> = unread.map(|(_, wrong)| wrong).collect();
            print_beside_results(&unread, *json, screen)?;
            Ok(findings_exit(&unread))
        }
        TaskCommand::New {
            title,
            persona,
            tags,
            by,
            body,
            place,
        } => {
            let task = NewTask {
                title: title.clone(),
                persona: persona.clone(),
                tags: tags.clone(),
                created_by: by.clone(),
                body: body
                    .as_deref()
                    .map(read_text)
                    .transpose()?
                    .unwrap_or_default(),
            };
            change_task(place, screen, |tree| {
                board::new_task(tree, &task, Timestamp::now())
            })
        }
        TaskCommand::Claim {
            id,
            persona,
            reassign,
            place,
        } => {
            let claim = if *reassign {
                Claim::Reassign
            } else {
                Claim::Free
            };
            change_task(place, screen, |tree| {
                board::claim_task(tree, id, persona, claim)
            })
        }
        TaskCommand::Move { id, state, place } => {
            change_task(place, screen, |tree| board::move_task(tree, id, *state))
        }
        TaskCommand::Check {
            dir,
            fix,
            only,
            strict,
            json,
        } => {
            let what = check::CheckOptions {
                kinds: only.map_or(board::Kind::ALL.to_vec(), |only| vec![only]),
                journals_of: None,
                strict: *strict,
                json: *json,
            };
            check::run(dir, &what, *fix, screen)
        }
    }
}

fn print_tasks(
    tasks: &[&Task],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    if json {
        for task in tasks {
            screen.print_line(&task.to_json().to_string())?;
        }
        return Ok(());
    }
    if !tasks.is_empty() {
        let mut table =
            Table::new(["state", "task", "persona", "tags", "title"]).with_max_width(screen.width);
        for task in tasks {
            table.push_row([
                task.state.to_string(),
                task.id.clone(),
                task.persona.clone().unwrap_or_default(),
                task.tags.join(", "),
                task.title.clone(),
            ]);
        }
        screen.print_lines(&table.table_text())?;
    }
    screen.print_line(&pluralize(tasks.len(), "task"))?;
    Ok(())
}

/// The tasks in a persona's prompt, without the prompt's limits.
fn tasks_for_persona<'t>(
    tree: &Tree,
    tasks: &'t [Task],
    id: &str,
) -> Result<Vec<&'t Task>, CliError> {
    let (personas, _) = plan::read_personas(tree);
    let Some(persona) = personas.get(&PersonaId::from(id)) else {
        let meant = suggestion_text(id, personas.keys().map(PersonaId::as_str));
        let wrong = format!("there is no persona `{id}` that can be read{meant}");
        return Err(CliError::usage(wrong));
    };
    Ok(board::tasks_for(tasks, persona))
}

/// Makes one change under a lock, so that no other process of this machine changes tasks meanwhile.
fn change_task(
    place: &BoardFolder,
    screen: &mut Screen<impl Write>,
    wanted: impl FnOnce(&Tree) -> Result<Change, TaskError>,
) -> Result<Exit, CliError> {
    read_folder(&place.dir)?;
    let _lock = files::board::lock_tasks(&place.dir).map_err(read_error)?;
    let tree = read_folder(&place.dir)?;
    let wanted = wanted(&tree)?;
    files::board::apply_change(&place.dir, &wanted).map_err(read_error)?;
    print_change(&wanted, place.json, screen)?;
    Ok(Exit::Done)
}

/// The text of a file, or of standard input.
fn read_text(path: &Path) -> Result<String, CliError> {
    let failed = |error: &dyn Display| CliError::usage(format!("{}: {error}", path.display()));
    let read = if path == Path::new("-") {
        files::read_limited(std::io::stdin().lock(), FILE_LIMIT_BYTES)
    } else {
        File::open(path).and_then(|file| files::read_limited(file, FILE_LIMIT_BYTES))
    };
    let bytes = read
        .map_err(|error| failed(&error))?
        .ok_or_else(|| failed(&format!("it is larger than {FILE_LIMIT_BYTES} bytes")))?;
    utf8_text(bytes).map_err(|error| failed(&error))
}
