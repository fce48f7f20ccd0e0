//! `phileas service replay`: runs a delivery again, whatever its result. A running service notices within a second.

use std::io::Write;

use serde_json::json;

use crate::cli::arguments::Replay;
use crate::cli::context::clock::local_now;
use crate::cli::context::service_data::DataDirAccess;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::inbox::{Inbox as _, Replayed};

pub(crate) async fn run(
    arguments: &Replay,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let access = DataDirAccess::open_inbox(&arguments.kept).await?;
    let (guid, option) = (&arguments.guid, access.data_dir_option());
    let now = local_now();
    let replayed = access.inbox.replay_delivery(guid, now).await?;
    let result = match replayed {
        Replayed::Woken(_) => "done",
        Replayed::Suspended(_) => "its repository is suspended",
        Replayed::WakesNoRepository => "it wakes no repository",
        Replayed::Unknown => "unknown",
    };
    access.record_action("replay", guid.as_str(), result, now);
    let (repository, suspended) = match replayed {
        Replayed::Woken(repository) => (repository, false),
        Replayed::Suspended(repository) => (repository, true),
        Replayed::WakesNoRepository => {
            return Err(CliError::usage(format!(
                "{guid} wakes no repository, so that there is nothing to run again"
            )));
        }
        Replayed::Unknown => {
            return Err(CliError::usage(format!(
                "{guid} is not stored; `phileas service deliveries{option}` shows what is, for 30 days"
            )));
        }
    };
    let wake = access.inbox.read_wake(repository).await?;
    let name = wake.and_then(|wake| wake.name).map(|name| name.to_string());
    if arguments.json {
        let said = json!({
            "guid": guid.as_str(), "repository_id": repository.0, "repository": name, "suspended": suspended,
        });
        screen.print_line(&said.to_string())?;
        return Ok(Exit::Done);
    }
    let called = name.unwrap_or_else(|| format!("repository {repository}"));
    if suspended {
        screen.print_line(&format!(
            "{called} is due, but suspended: `phileas service suspended resume {repository}{option}` resumes it"
        ))?;
    } else {
        screen.print_line(&format!("{called} is due now"))?;
    }
    Ok(Exit::Done)
}
