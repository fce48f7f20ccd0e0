//! `phileas service suspended`: lists repositories that keep failing through their own fault, and resumes them.

use std::io::Write;

use jiff::Timestamp;
use phileas_domain::model::{RepositoryId, RepositoryName};
use serde_json::{Value, json};

use crate::cli::arguments::{SuspendedCommand, SuspendedRepositories};
use crate::cli::context::clock::local_now;
use crate::cli::context::service_data::DataDirAccess;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::cli::terminal::table::Table;
use crate::runtime::inbox::{Inbox, Wake};

/// How many characters of a reason the table shows.
const REASON_CHARS: usize = 80;

pub(crate) async fn run(
    command: &SuspendedCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        SuspendedCommand::List(arguments) => {
            let access = DataDirAccess::open_inbox(&arguments.kept).await?;
            list_suspended(&access.inbox, arguments, screen).await
        }
        SuspendedCommand::Resume {
            repository,
            arguments,
        } => {
            let access = DataDirAccess::open_inbox(&arguments.kept).await?;
            resume_repository(&access, repository, local_now(), arguments, screen).await
        }
    }
}

async fn list_suspended(
    inbox: &impl Inbox,
    arguments: &SuspendedRepositories,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let suspended = inbox.suspended_repositories().await?;
    if arguments.json {
        for wake in &suspended {
            screen.print_line(&wake_json(wake).to_string())?;
        }
        return Ok(Exit::Done);
    }
    if suspended.is_empty() {
        screen.print_line("no repository is suspended")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new([
        "repository",
        "suspended (UTC)",
        "tried next (UTC)",
        "because",
    ]);
    for wake in &suspended {
        let Some(why) = &wake.suspended else { continue };
        table.push_row([
            display_name(wake),
            short_time(why.at),
            short_time(why.probe_at),
            sanitize(&why.because, REASON_CHARS),
        ]);
    }
    screen.print_lines(&table.table_text())?;
    Ok(Exit::Done)
}

async fn resume_repository(
    access: &DataDirAccess,
    repository: &str,
    now: Timestamp,
    arguments: &SuspendedRepositories,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let suspended = access.inbox.suspended_repositories().await?;
    let wake = suspended
        .iter()
        .find(|wake| is_named(wake, repository))
        .ok_or_else(|| {
            CliError::usage(format!(
                "{repository} is not suspended; `phileas service suspended list{}` shows which repositories are",
                access.data_dir_option()
            ))
        })?;
    let resumed = access.inbox.resume_repository(wake.repository, now).await?;
    let result = if resumed { "done" } else { "was not suspended" };
    access.record_action("resume", &wake.repository.to_string(), result, now);
    if arguments.json {
        let said = json!({"repository_id": wake.repository.0, "resumed": resumed});
        screen.print_line(&said.to_string())?;
    } else {
        screen.print_line(&format!("{} resumes", display_name(wake)))?;
    }
    Ok(Exit::Done)
}

/// Whether the typed text names a repository: by its name, or its id.
fn is_named(wake: &Wake, typed: &str) -> bool {
    let by_id = typed
        .parse()
        .is_ok_and(|id| wake.repository == RepositoryId(id));
    let by_name = typed
        .parse::<RepositoryName>()
        .is_ok_and(|name| wake.name.as_ref() == Some(&name));
    by_id || by_name
}

fn display_name(wake: &Wake) -> String {
    match &wake.name {
        Some(name) => name.to_string(),
        None => wake.repository.to_string(),
    }
}

fn wake_json(wake: &Wake) -> Value {
    json!({
        "repository_id": wake.repository.0,
        "repository": wake.name.as_ref().map(ToString::to_string),
        "suspended_at": wake.suspended.as_ref().map(|why| why.at.to_string()),
        "because": wake.suspended.as_ref().map(|why| &why.because),
        "tried_next_at": wake.suspended.as_ref().map(|why| why.probe_at.to_string()),
    })
}
