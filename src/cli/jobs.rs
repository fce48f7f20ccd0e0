//! `phileas monitor`, `watch`, `handle-event`, `events`, `jobs`: Jules for somebody's own agent.

mod configuration;
mod events;
mod handle;
mod list;
mod monitor;
mod reach;
mod watch;

use super::arguments::JobPlaces;
use super::exit::{Exit, Stopped};
use crate::jobs::{Places, StoreError, Trouble};

pub(super) use events::run as events;
pub(super) use handle::run as handle_event;
pub(super) use list::run as jobs;
pub(super) use monitor::run as monitor;
pub(super) use watch::run as watch;

/// Where the files are, by the command line, the variables and the configuration.
pub(super) fn places(named: &JobPlaces) -> Result<Places, Stopped> {
    Ok(configuration::Configuration::read(named, None, None)?.places)
}

/// Where the files are, by the variables and the configuration, with the events file that was named.
pub(super) fn places_of_environment(events: Option<std::path::PathBuf>) -> Result<Places, Stopped> {
    let mut named =
        JobPlaces::of_environment().map_err(|error| Stopped::usage(error.to_string()))?;
    named.events = events.or(named.events);
    places(&named)
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        let exit = match &error.trouble {
            Trouble::Corrupt(_) | Trouble::TooLarge { .. } => Exit::Corrupt,
            Trouble::Full { .. } | Trouble::Folder { .. } => Exit::Usage,
            Trouble::System(_) => Exit::Findings,
        };
        let message = match error.trouble {
            // It names its file itself.
            Trouble::Corrupt(diagnostic) => diagnostic.to_string(),
            _ => error.to_string(),
        };
        Self { exit, message }
    }
}
