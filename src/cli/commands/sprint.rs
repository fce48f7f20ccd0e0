//! `phileas sprint`: the sprint number in the ledger, and the sprint's files on the default branch.

use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::board::{self, SPRINTS_FOLDER};
use phileas_domain::engine::Ledger;
use phileas_domain::model::{Oid, PersonaId, Tree};
use phileas_domain::plan;
use phileas_domain::state::State;
use serde_json::json;

use super::task::folder::{print_change, read_error, read_folder};
use super::track::suggestion_text;
use crate::adapters::files::{self, FileWrite};
use crate::adapters::github::Client;
use crate::cli::arguments::{BoardFolder, Repository, SprintCommand};
use crate::cli::context::clients;
use crate::cli::context::edit_ledger::edit_ledger;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ledger_of;
use crate::runtime::ports::ReadGitHub as _;

/// How to enable sprints.
const NO_SPRINTS: &str =
    "this plan has no sprints; add the table [sprints] to .jules/schedules.toml to have some";

pub(crate) async fn run(
    command: &SprintCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        SprintCommand::Status(repository) => print_status(repository, screen).await,
        SprintCommand::Advance(repository) => advance_sprint(repository, screen).await,
        SprintCommand::New {
            number,
            personas,
            place,
        } => write_files(*number, personas, place, screen),
    }
}

async fn print_status(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let observation = github.observe_repository().await?;
    let (plan, _) = plan::read(&observation.tree);
    let state = match ledger_of(observation.ledger) {
        Ledger::Present { state, .. } => *state,
        Ledger::Missing { .. } => State::default(),
        Ledger::Corrupt { diagnostics, .. } => {
            let first = diagnostics.first();
            return Err(CliError::corrupt(
                first.map_or_else(String::new, ToString::to_string),
            ));
        }
    };
    let track = plan.sprints.as_ref().map(|sprints| &sprints.track);
    let head = observation.repository.default_head;
    let there = observation.working_folders.contains(SPRINTS_FOLDER);
    let tree = match (state.sprint, &head) {
        (Some(sprint), Some(head)) if there => read_files(&github, head, sprint).await?,
        _ => Tree::new(),
    };
    let files = state
        .sprint
        .map(|sprint| board::sprint_files(&tree, sprint))
        .unwrap_or_default();
    if arguments.json {
        let passes = track.and_then(|track| Some(state.tracks.get(track)?.passes));
        let document = json!({
            "repo": arguments.repo.to_string(),
            "on": track.is_some(),
            "track": track.map(ToString::to_string),
            "sprint": state.sprint,
            "passes": passes,
            "files": files.iter().map(|file| file.path).collect::<Vec<_>>(),
        });
        screen.print_line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    let Some(track) = track else {
        screen.print_line(NO_SPRINTS)?;
        return Ok(Exit::Done);
    };
    match state.sprint {
        Some(sprint) => screen.print_line(&format!(
            "sprint {sprint}, the next one begins when the track `{track}` comes round; {}",
            pluralize(files.len(), "file")
        ))?,
        None => screen.print_line(&format!(
            "the first sprint begins with the next turn; later ones when the track `{track}` comes round"
        ))?,
    }
    for file in files {
        screen.print_line(&format!("  {}", file.path))?;
    }
    Ok(Exit::Done)
}

async fn read_files(github: &Client, head: &Oid, sprint: u64) -> Result<Tree, CliError> {
    let folder = board::sprint_folder(sprint);
    Ok(github.read_folders(head, &[folder.as_str()]).await?)
}

async fn advance_sprint(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let headline = "begin the next sprint by hand";
    let sprint = edit_ledger(&github, headline, |state, observation| {
        let (plan, _) = plan::read(&observation.tree);
        if plan.sprints.is_none() {
            return Err(NO_SPRINTS.to_owned());
        }
        let sprint = state.sprint.map_or(1, |sprint| sprint.saturating_add(1));
        state.sprint = Some(sprint);
        Ok(sprint)
    })
    .await?;
    if arguments.json {
        screen.print_line(&json!({ "sprint": sprint }).to_string())?;
    } else {
        screen.print_line(&format!("this is sprint {sprint} now"))?;
    }
    Ok(Exit::Done)
}

/// Writes the first files of a sprint.
fn write_files(
    number: Option<u64>,
    personas: &[String],
    place: &BoardFolder,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let tree = read_folder(&place.dir)?;
    let (known, _) = plan::read_personas(&tree);
    if let Some(id) = personas.iter().find(|id| !known.contains_key(id.as_str())) {
        let meant = suggestion_text(id, known.keys().map(PersonaId::as_str));
        let wrong = format!("there is no persona `{id}` that can be read{meant}");
        return Err(CliError::usage(wrong));
    }
    let folders = files::board::sprint_folders(&place.dir).map_err(read_error)?;
    let last = folders
        .iter()
        .filter_map(|folder| board::sprint_of(folder))
        .max();
    let sprint = number.unwrap_or_else(|| last.map_or(1, |last| last.saturating_add(1)));
    let plans = personas.iter().collect::<BTreeSet<_>>();
    let plans = plans
        .into_iter()
        .map(|id| board::new_sprint_plan(sprint, id));
    let changes: Vec<_> = std::iter::once(board::new_sprint_readme(sprint))
        .chain(plans)
        .filter(|change| tree.get(&change.to).is_none())
        .collect();
    let wanted = changes
        .iter()
        .map(|change| (change.to.as_str(), FileWrite::New(&change.text)));
    files::change_files(&place.dir, &wanted.collect::<Vec<_>>())?;
    for change in &changes {
        print_change(change, place.json, screen)?;
    }
    if changes.is_empty() && !place.json {
        screen.print_line(&format!(
            "all of it is there already: {}",
            board::sprint_folder(sprint)
        ))?;
    }
    Ok(Exit::Done)
}
