//! `phileas sprint`: the number in the ledger, and the papers on the default branch.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::board::{self, SPRINTS_FOLDER};
use phileas_domain::engine::Ledger;
use phileas_domain::model::{Oid, PersonaId, Tree};
use phileas_domain::plan;
use phileas_domain::state::State;
use serde_json::json;

use super::task::folder::{read, refused, tell};
use super::track::meant;
use crate::adapters::files::{self, Wanted};
use crate::adapters::github::Client;
use crate::cli::arguments::{BoardPlace, Repository, SprintCommand};
use crate::cli::context::{clients, run_identity};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::runtime::ports::ReadGitHub as _;
use crate::runtime::{Edit, edit, ledger_of};

/// How sprints are turned on.
const TURN_ON: &str =
    "this plan has no sprints; add the table [sprints] to .jules/schedules.toml to have some";

pub(crate) async fn run(
    command: &SprintCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        SprintCommand::Status(repository) => status(repository, screen).await,
        SprintCommand::Advance(repository) => advance(repository, screen).await,
        SprintCommand::New {
            number,
            personas,
            place,
        } => begin(*number, personas, place, screen),
    }
}

async fn status(arguments: &Repository, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let github = clients::github(&arguments.repo)?;
    let observation = github.observe().await?;
    let (plan, _) = plan::read(&observation.tree);
    let state = match ledger_of(observation.ledger) {
        Ledger::Present { state, .. } => *state,
        Ledger::Missing { .. } => State::default(),
        Ledger::Corrupt { diagnostics, .. } => {
            let first = diagnostics.first();
            return Err(Stopped::corrupt(
                first.map_or_else(String::new, ToString::to_string),
            ));
        }
    };
    let track = plan.sprints.as_ref().map(|sprints| &sprints.track);
    let head = observation.repository.default_head;
    let there = observation.papers.contains(SPRINTS_FOLDER);
    let tree = match (state.sprint, &head) {
        (Some(sprint), Some(head)) if there => papers(&github, head, sprint).await?,
        _ => Tree::new(),
    };
    let papers = state
        .sprint
        .map(|sprint| board::papers(&tree, sprint))
        .unwrap_or_default();
    if arguments.json {
        let passes = track.and_then(|track| Some(state.tracks.get(track)?.passes));
        let document = json!({
            "repo": arguments.repo.to_string(),
            "on": track.is_some(),
            "track": track.map(ToString::to_string),
            "sprint": state.sprint,
            "passes": passes,
            "papers": papers.iter().map(|paper| paper.path).collect::<Vec<_>>(),
        });
        screen.line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    let Some(track) = track else {
        screen.line(TURN_ON)?;
        return Ok(Exit::Done);
    };
    match state.sprint {
        Some(sprint) => screen.line(&format!(
            "sprint {sprint}, the next one begins when the track `{track}` comes round; {}",
            several(papers.len(), "paper")
        ))?,
        None => screen.line(&format!(
            "the first sprint begins with the next turn; later ones when the track `{track}` comes round"
        ))?,
    }
    for paper in papers {
        screen.line(&format!("  {}", paper.path))?;
    }
    Ok(Exit::Done)
}

async fn papers(github: &Client, head: &Oid, sprint: u64) -> Result<Tree, Stopped> {
    let folder = board::sprint_folder(sprint);
    Ok(github.read_folders(head, &[folder.as_str()]).await?)
}

async fn advance(arguments: &Repository, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let github = clients::github(&arguments.repo)?;
    let holder = run_identity::this_run()?;
    let wish = Edit {
        headline: "begin the next sprint by hand",
        holder: &holder,
        moves_pointer_of: None,
    };
    let next = Cell::new(0);
    edit(&github, &wish, |state, observation| {
        let (plan, _) = plan::read(&observation.tree);
        if plan.sprints.is_none() {
            return Err(TURN_ON.to_owned());
        }
        let sprint = state.sprint.map_or(1, |sprint| sprint.saturating_add(1));
        state.sprint = Some(sprint);
        next.set(sprint);
        Ok(())
    })
    .await?;
    let sprint = next.get();
    if arguments.json {
        screen.line(&json!({ "sprint": sprint }).to_string())?;
    } else {
        screen.line(&format!("this is sprint {sprint} now"))?;
    }
    Ok(Exit::Done)
}

/// Writes the papers that a sprint begins with.
fn begin(
    number: Option<u64>,
    personas: &[String],
    place: &BoardPlace,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let tree = read(&place.dir)?;
    let (known, _) = plan::read_personas(&tree);
    if let Some(id) = personas.iter().find(|id| !known.contains_key(id.as_str())) {
        let meant = meant(id, known.keys().map(PersonaId::as_str));
        let wrong = format!("there is no persona `{id}` that can be read{meant}");
        return Err(Stopped::usage(wrong));
    }
    let folders = files::board::sprint_folders(&place.dir).map_err(refused)?;
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
        .map(|change| (change.to.as_str(), Wanted::New(&change.text)));
    files::change_together(&place.dir, &wanted.collect::<Vec<_>>())?;
    for change in &changes {
        tell(change, place.json, screen)?;
    }
    if changes.is_empty() && !place.json {
        screen.line(&format!(
            "all of it is there already: {}",
            board::sprint_folder(sprint)
        ))?;
    }
    Ok(Exit::Done)
}
