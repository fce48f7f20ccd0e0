//! `phileas park`: repositories that keep failing through their own fault, and letting them go on.

use std::io::Write;

use jiff::Timestamp;
use phileas_domain::model::{RepositoryId, RepositoryName};
use serde_json::{Value, json};

use crate::cli::arguments::{Park, ParkCommand};
use crate::cli::context::clock::local_now;
use crate::cli::context::service_data::Visit;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::plain;
use crate::cli::terminal::table::Table;
use crate::runtime::inbox::{Inbox, Wake};

/// How much of a reason stands in the table, in characters.
const REASON_CHARS: usize = 80;

pub(crate) async fn run(
    command: &ParkCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        ParkCommand::List(park) => {
            let visit = Visit::begin(&park.kept).await?;
            list(&visit.inbox, park, screen).await
        }
        ParkCommand::Resume { repository, park } => {
            let visit = Visit::begin(&park.kept).await?;
            resume(&visit, repository, local_now(), park, screen).await
        }
    }
}

async fn list(
    inbox: &impl Inbox,
    park: &Park,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let parked = inbox.parked().await?;
    if park.json {
        for wake in &parked {
            screen.line(&document(wake).to_string())?;
        }
        return Ok(Exit::Done);
    }
    if parked.is_empty() {
        screen.line("no repository is parked")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["repository", "parked (UTC)", "tried next (UTC)", "because"]);
    for wake in &parked {
        let Some(why) = &wake.parked else { continue };
        table.row([
            name(wake),
            short(why.at),
            short(why.probe_at),
            plain(&why.because, REASON_CHARS),
        ]);
    }
    screen.lines(&table.text())?;
    Ok(Exit::Done)
}

async fn resume(
    visit: &Visit,
    repository: &str,
    now: Timestamp,
    park: &Park,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let parked = visit.inbox.parked().await?;
    let wake = parked
        .iter()
        .find(|wake| is_called(wake, repository))
        .ok_or_else(|| {
            Stopped::usage(format!(
                "{repository} is not parked; `phileas park list{}` shows which repositories are",
                visit.option()
            ))
        })?;
    let resumed = visit.inbox.resume(wake.repository, now).await?;
    let result = if resumed { "done" } else { "was not parked" };
    visit.record("resume", &wake.repository.to_string(), result, now);
    if park.json {
        let said = json!({"repository_id": wake.repository.0, "resumed": resumed});
        screen.line(&said.to_string())?;
    } else {
        screen.line(&format!("{} goes on", name(wake)))?;
    }
    Ok(Exit::Done)
}

/// Whether a repository is meant by what was typed: its name, or its id.
fn is_called(wake: &Wake, typed: &str) -> bool {
    let by_id = typed
        .parse()
        .is_ok_and(|id| wake.repository == RepositoryId(id));
    let by_name = typed
        .parse::<RepositoryName>()
        .is_ok_and(|name| wake.name.as_ref() == Some(&name));
    by_id || by_name
}

fn name(wake: &Wake) -> String {
    match &wake.name {
        Some(name) => name.to_string(),
        None => wake.repository.to_string(),
    }
}

fn document(wake: &Wake) -> Value {
    json!({
        "repository_id": wake.repository.0,
        "repository": wake.name.as_ref().map(ToString::to_string),
        "parked_at": wake.parked.as_ref().map(|why| why.at.to_string()),
        "because": wake.parked.as_ref().map(|why| &why.because),
        "tried_next_at": wake.parked.as_ref().map(|why| why.probe_at.to_string()),
    })
}
