//! `phileas agent monitor`, `watch`, `handle-event`, `events`, `jobs`: use Jules from your own agent.

mod clients;
mod configuration;
mod events;
mod handle_event;
mod list;
mod monitor;
mod watch;

use std::io::ErrorKind;
use std::path::PathBuf;

use crate::adapters::jules;
use crate::cli::arguments::JobFiles;
use crate::cli::context::env_var::env_value;
use crate::cli::exit::CliError;
use crate::cli::exit::paths::{not_a_folder, path_error};
use crate::jobs::{FileProblem, JobPaths, Monitor, StoreError};

/// The name of the service's events file in its data directory.
const EVENTS_FILE: &str = "events.jsonl";
/// The variable with the path of the monitor's memory.
const MONITOR_STATE: &str = "PHILEAS_MONITOR_STATE_PATH";

pub(crate) use events::run as events;
pub(crate) use handle_event::run as handle_event;
pub(crate) use list::run as jobs;
pub(crate) use monitor::run as monitor;
pub(crate) use watch::run as watch;

/// The paths of the files, from the command line, the variables and the configuration.
pub(crate) fn monitored_files(named: &JobFiles) -> Result<JobPaths, CliError> {
    let state = env_value(MONITOR_STATE).map(PathBuf::from);
    Ok(configuration::JobsConfiguration::read_configuration(named, state.as_deref(), None)?.paths)
}

/// A monitor with the keys of the environment, for a program that checks jobs from time to time.
pub(crate) fn monitor_from_environment(
    named: &JobFiles,
) -> Result<Monitor<jules::Client>, CliError> {
    let state = env_value(MONITOR_STATE).map(PathBuf::from);
    let configuration::JobsConfiguration {
        config,
        paths: places,
    } = configuration::JobsConfiguration::read_configuration(named, state.as_deref(), None)?;
    let base = env_value("JULES_API_BASE").or_else(|| config.api_base.clone());
    let folder = env_value("PHILEAS_JULES_KEYS_DIR")
        .or_else(|| config.jules_keys_dir.clone())
        .map(PathBuf::from);
    let accounts = clients::jules_accounts(base.as_deref(), folder.as_deref(), false)?;
    let rhythm = monitor::monitor_rhythm(None, None, &config)?;
    Ok(Monitor::new(places, rhythm, accounts))
}

/// The path for the service's events: from the option, the variable or the configuration, else in its data directory.
/// The working directory of a service is often not its own.
pub(crate) fn service_events_path(
    events: Option<PathBuf>,
    data_dir: &std::path::Path,
) -> Result<PathBuf, CliError> {
    let mut named =
        JobFiles::from_environment().map_err(|error| CliError::usage(error.to_string()))?;
    named.events = events.or(named.events);
    let read = configuration::JobsConfiguration::read_configuration(&named, None, None)?;
    let is_named = named.events.is_some() || read.config.events_path.is_some();
    Ok(if is_named {
        read.paths.events
    } else {
        data_dir.join(EVENTS_FILE)
    })
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        match error.problem {
            FileProblem::System(source) => match source.kind() {
                ErrorKind::AlreadyExists | ErrorKind::NotADirectory => not_a_folder(&error.path),
                _ => path_error(&error.path, &source),
            },
            // The monitor names its own file.
            FileProblem::Corrupt(diagnostic) => Self::corrupt(diagnostic.to_string()),
            FileProblem::TooLarge { .. } => Self::corrupt(error.to_string()),
            FileProblem::Full { .. } | FileProblem::Folder | FileProblem::Link => {
                Self::usage(error.to_string())
            }
        }
    }
}
