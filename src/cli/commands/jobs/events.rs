//! `phileas agent events`: prints the events, and follows the file.

use std::io::Write;
use std::time::Duration;

use phileas_domain::jobs::{Event, EventId};

use super::configuration::JobsConfiguration;
use super::monitor::event_line;
use crate::cli::arguments::Events as Arguments;
use crate::cli::context::shutdown_signal::shutdown_signal;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::jobs::events::MAX_PAGE;

/// The interval between two reads.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) async fn run(
    arguments: &Arguments,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let JobsConfiguration { paths: places, .. } =
        JobsConfiguration::read_configuration(&arguments.files, None, None)?;
    let file = places.events_file();
    if let Some(id) = arguments.acknowledge {
        let id = EventId(id);
        if file.get(id)?.is_none() {
            return Err(CliError::usage(format!("there is no event {id}")));
        }
        let new = file.record_acknowledged(id)?;
        let word = if new { "is" } else { "was" };
        screen.print_line(&format!("event {id} {word} taken note of"))?;
        return Ok(Exit::Done);
    }
    let mut end = std::pin::pin!(shutdown_signal()?);
    let mut cursor = EventId(arguments.after);
    let mut length = None;
    loop {
        let now = std::fs::metadata(file.path()).ok().map(|known| known.len());
        // A file that has not grown contains nothing new.
        if length.is_none() || now != length {
            length = Some(now.unwrap_or_default());
            loop {
                let (noted, handed_on) = (file.read_acknowledged()?, file.handed_on()?);
                let wanted = |event: &Event| {
                    let of_job = arguments.job.is_none() || event.job_id == arguments.job;
                    let of_kind = arguments.kind.is_none() || event.event_kind() == arguments.kind;
                    let is_noted = |id| noted.contains(id) || handed_on.contains(id);
                    let known = event.id.is_some_and(is_noted);
                    of_job && of_kind && !(arguments.unread && known)
                };
                let page = file.read_after(cursor, MAX_PAGE, wanted)?;
                cursor = page.cursor;
                for event in &page.events {
                    if arguments.json {
                        screen.print_line(event.render().trim_end())?;
                    } else {
                        screen.print_line(&event_line(event))?;
                    }
                }
                if !page.more {
                    break;
                }
            }
            screen.flush()?;
        }
        if !arguments.follow {
            return Ok(Exit::Done);
        }
        tokio::select! {
            () = &mut end => return Ok(Exit::Done),
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}
