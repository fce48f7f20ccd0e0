//! `phileas monitor`, `watch`, `handle-event`, `events`, `jobs`: Jules for somebody's own agent.

mod configuration;
mod events;
mod handle;
mod list;
mod monitor;
mod reach;
mod watch;

use std::path::PathBuf;

use crate::adapters::jules;
use crate::cli::arguments::JobPlaces;
use crate::cli::context::env_var::variable;
use crate::cli::exit::{Exit, Stopped};
use crate::jobs::{Monitor, Places, StoreError, Trouble};

/// The service's events file in its data directory.
const EVENTS_FILE: &str = "events.jsonl";
/// What says where the monitor's memory is.
const MONITOR_STATE: &str = "PHILEAS_MONITOR_STATE_PATH";

pub(crate) use events::run as events;
pub(crate) use handle::run as handle_event;
pub(crate) use list::run as jobs;
pub(crate) use monitor::run as monitor;
pub(crate) use watch::run as watch;

/// Where the files are, by the command line, the variables and the configuration.
pub(crate) fn monitored_places(named: &JobPlaces) -> Result<Places, Stopped> {
    let state = variable(MONITOR_STATE).map(PathBuf::from);
    Ok(configuration::Configuration::read(named, state.as_deref(), None)?.places)
}

/// A monitor with the keys of the environment, for a program that checks jobs now and then.
pub(crate) fn monitor_of_environment(named: &JobPlaces) -> Result<Monitor<jules::Client>, Stopped> {
    let state = variable(MONITOR_STATE).map(PathBuf::from);
    let configuration::Configuration { config, places } =
        configuration::Configuration::read(named, state.as_deref(), None)?;
    let base = variable("JULES_API_BASE").or_else(|| config.api_base.clone());
    let folder = variable("PHILEAS_JULES_KEYS_DIR")
        .or_else(|| config.jules_keys_dir.clone())
        .map(PathBuf::from);
    let accounts = reach::accounts(base.as_deref(), folder.as_deref(), false)?;
    let rhythm = monitor::rhythm(None, None, &config)?;
    Ok(Monitor::new(places, rhythm, accounts))
}

/// Where the service writes its events: where the option, the variable or the configuration says, else into its data
/// directory, because the folder in which a service is started is often not its own.
pub(crate) fn events_of_service(
    events: Option<PathBuf>,
    data_dir: &std::path::Path,
) -> Result<PathBuf, Stopped> {
    let mut named =
        JobPlaces::of_environment().map_err(|error| Stopped::usage(error.to_string()))?;
    named.events = events.or(named.events);
    let read = configuration::Configuration::read(&named, None, None)?;
    let is_named = named.events.is_some() || read.config.events_path.is_some();
    Ok(if is_named {
        read.places.events
    } else {
        data_dir.join(EVENTS_FILE)
    })
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        let exit = match &error.trouble {
            Trouble::Corrupt(_) | Trouble::TooLarge { .. } => Exit::Corrupt,
            Trouble::Full { .. } | Trouble::Folder { .. } | Trouble::Link => Exit::Usage,
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
