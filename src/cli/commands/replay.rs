//! `phileas replay`: a delivery is run again, whatever came of it. A running service notices within a second.

use std::io::Write;

use serde_json::json;

use crate::cli::arguments::Replay;
use crate::cli::context::clock::local_now;
use crate::cli::context::service_data::Visit;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::runtime::inbox::{Inbox as _, Replayed};

pub(crate) async fn run(
    arguments: &Replay,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let visit = Visit::begin(&arguments.kept).await?;
    let (guid, option) = (&arguments.guid, visit.option());
    let now = local_now();
    let replayed = visit.inbox.replay(guid, now).await?;
    let result = match replayed {
        Replayed::Woken(_) => "done",
        Replayed::Parked(_) => "its repository is parked",
        Replayed::WakesNobody => "it wakes nobody",
        Replayed::Unknown => "unknown",
    };
    visit.record("replay", guid.as_str(), result, now);
    let (repository, parked) = match replayed {
        Replayed::Woken(repository) => (repository, false),
        Replayed::Parked(repository) => (repository, true),
        Replayed::WakesNobody => {
            return Err(Stopped::usage(format!(
                "{guid} wakes no repository, so that there is nothing to run again"
            )));
        }
        Replayed::Unknown => {
            return Err(Stopped::usage(format!(
                "{guid} is not stored; `phileas deliveries{option}` shows what is, for 30 days"
            )));
        }
    };
    let wake = visit.inbox.look(repository).await?;
    let name = wake.and_then(|wake| wake.name).map(|name| name.to_string());
    if arguments.json {
        let said = json!({
            "guid": guid.as_str(), "repository_id": repository.0, "repository": name, "parked": parked,
        });
        screen.line(&said.to_string())?;
        return Ok(Exit::Done);
    }
    let called = name.unwrap_or_else(|| format!("repository {repository}"));
    if parked {
        screen.line(&format!(
            "{called} is due, but parked: `phileas park resume {repository}{option}` lets it go on"
        ))?;
    } else {
        screen.line(&format!("{called} is due now"))?;
    }
    Ok(Exit::Done)
}
