//! `phileas task`: what personas hand to one another as tasks, listed, written down, taken, moved and checked.

pub(super) mod folder;
pub(crate) mod lint;

use std::fs::File;
use std::io::{Read as _, Write};
use std::path::Path;

use jiff::Timestamp;
use phileas_domain::board::limits::PAPER_LIMIT_BYTES;
use phileas_domain::board::{self, Change, Claim, NewTask, Task, TaskError};
use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan;

use super::track::meant;
use crate::adapters::files;
use crate::cli::arguments::{BoardPlace, TaskCommand};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::cli::terminal::table::Table;
use folder::{read, refused, tell};

pub(crate) fn run(command: &TaskCommand, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    match command {
        TaskCommand::List {
            dir,
            state,
            persona,
            tag,
            json,
        } => {
            let tree = read(dir)?;
            let tasks = board::tasks(&tree);
            let mut chosen: Vec<&Task> = match persona {
                Some(id) => waiting_for(&tree, &tasks, id)?,
                None => tasks.iter().collect(),
            };
            chosen.retain(|task| state.is_none_or(|state| task.state == state.0));
            chosen.retain(|task| tag.as_ref().is_none_or(|tag| task.has_tag(tag)));
            show(&chosen, *json, screen)
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
                    .map(text_of)
                    .transpose()?
                    .unwrap_or_default(),
            };
            change(place, screen, |_| board::new_task(&task, Timestamp::now()))
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
            change(place, screen, |tree| {
                board::claimed(tree, id, persona, claim)
            })
        }
        TaskCommand::Move { id, state, place } => {
            change(place, screen, |tree| board::moved(tree, id, state.0))
        }
        TaskCommand::Lint {
            dir,
            fix,
            only,
            strict,
            json,
        } => {
            let what = lint::What {
                kinds: only.map_or(board::Kind::ALL.to_vec(), |only| vec![only.0]),
                journals_of: None,
                strict: *strict,
                json: *json,
            };
            lint::run(dir, &what, *fix, screen)
        }
    }
}

fn show(tasks: &[&Task], json: bool, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    if json {
        for task in tasks {
            screen.line(&task.json().to_string())?;
        }
        return Ok(Exit::Done);
    }
    if !tasks.is_empty() {
        let mut table =
            Table::new(["STATE", "TASK", "PERSONA", "TAGS", "TITLE"]).within(screen.width);
        for task in tasks {
            table.row([
                task.state.to_string(),
                task.id.clone(),
                task.persona.clone().unwrap_or_default(),
                task.tags.join(", "),
                task.title.clone(),
            ]);
        }
        screen.lines(&table.text())?;
    }
    screen.line(&several(tasks.len(), "task"))?;
    Ok(Exit::Done)
}

/// The tasks that a persona's prompt would show, without its limits.
fn waiting_for<'t>(tree: &Tree, tasks: &'t [Task], id: &str) -> Result<Vec<&'t Task>, Stopped> {
    let (personas, _) = plan::read_personas(tree);
    let Some(persona) = personas.get(&PersonaId::from(id)) else {
        let meant = meant(id, personas.keys().map(PersonaId::as_str));
        let wrong = format!("there is no persona `{id}` that can be read{meant}");
        return Err(Stopped::usage(wrong));
    };
    Ok(board::tasks_for(tasks, persona))
}

/// Makes one change, while nobody else of this machine makes another.
fn change(
    place: &BoardPlace,
    screen: &mut Screen<impl Write>,
    wanted: impl FnOnce(&Tree) -> Result<Change, TaskError>,
) -> Result<Exit, Stopped> {
    read(&place.dir)?;
    let _lock = files::board::lock_tasks(&place.dir).map_err(refused)?;
    let tree = read(&place.dir)?;
    let wanted = wanted(&tree).map_err(|error| Stopped::usage(error.to_string()))?;
    files::board::carry_out(&place.dir, &wanted).map_err(refused)?;
    tell(&wanted, place.json, screen)?;
    Ok(Exit::Done)
}

/// The text of a file, or of standard input.
fn text_of(path: &Path) -> Result<String, Stopped> {
    let mut bytes = Vec::new();
    let limit = PAPER_LIMIT_BYTES + 1;
    let failed = |error| Stopped::usage(format!("{}: {error}", path.display()));
    if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(limit).read_to_end(&mut bytes)
    }
    .map_err(failed)?;
    if bytes.len() as u64 == limit {
        let wrong = format!(
            "{}: it is larger than {PAPER_LIMIT_BYTES} bytes",
            path.display()
        );
        return Err(Stopped::usage(wrong));
    }
    String::from_utf8(bytes)
        .map_err(|_| Stopped::usage(format!("{}: it is not text in UTF-8", path.display())))
}
