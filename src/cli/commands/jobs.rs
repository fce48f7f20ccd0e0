//! `phileas agent monitor`, `watch`, `handle-event`, `events`, `jobs`: use Jules from your own agent.

mod clients;
mod configuration;
mod events;
mod handle_event;
mod list;
mod monitor;
mod watch;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use phileas_domain::jobs::Config;

use crate::adapters::jules;
use crate::cli::arguments::JobFiles;
use crate::cli::context::env_var::env_value;
use crate::cli::exit::CliError;
use crate::cli::exit::paths::{not_a_folder, path_error};
use crate::jobs::{FileProblem, JobPaths, Monitor, StoreError};

/// The variable with the path of the monitor's memory.
const MONITOR_STATE: &str = "PHILEAS_MONITOR_STATE_PATH";

use configuration::JobsConfiguration;

pub(crate) use events::run as events;
pub(crate) use handle_event::run as handle_event;
pub(crate) use list::run as jobs;
pub(crate) use monitor::run as monitor;
pub(crate) use watch::run as watch;

/// The files of jobs and events for the tools, and a monitor's settings: from the command line, the variables and the
/// configuration.
pub(crate) struct MonitorConfiguration {
    /// The paths of the files.
    pub(crate) paths: JobPaths,
    /// The folder of the Jules keys.
    keys_dir: Option<PathBuf>,
    config: Config,
}

impl MonitorConfiguration {
    /// The configuration of a program that the working directory belongs to.
    pub(crate) fn read(named: &JobFiles) -> Result<Self, CliError> {
        Self::with_defaults(JobPaths::default(), named)
    }

    /// The configuration of the service: files that nothing names are in its data directory, since the working
    /// directory of a service is often not its own.
    pub(crate) fn of_service(
        events: Option<PathBuf>,
        data_dir: &Path,
        keys_dir: Option<PathBuf>,
    ) -> Result<Self, CliError> {
        let mut named =
            JobFiles::from_environment().map_err(|error| CliError::usage(error.to_string()))?;
        named.events = events.or(named.events);
        let read = Self::with_defaults(JobPaths::in_folder(data_dir), &named)?;
        Ok(Self {
            keys_dir: keys_dir.or(read.keys_dir),
            ..read
        })
    }

    fn with_defaults(usual: JobPaths, named: &JobFiles) -> Result<Self, CliError> {
        let state = env_value(MONITOR_STATE).map(PathBuf::from);
        let read = JobsConfiguration::with_defaults(usual, named, state.as_deref(), None)?;
        let keys_dir = env_value("PHILEAS_JULES_KEYS_DIR")
            .or_else(|| read.config.jules_keys_dir.clone())
            .map(PathBuf::from);
        Ok(Self {
            paths: read.paths,
            keys_dir,
            config: read.config,
        })
    }

    /// A monitor with the keys that there are now, for a program that checks jobs from time to time.
    pub(crate) fn monitor(&self) -> Result<Monitor<jules::Client>, CliError> {
        let base = env_value("JULES_API_BASE").or_else(|| self.config.api_base.clone());
        let accounts = clients::jules_accounts(base.as_deref(), self.keys_dir.as_deref(), false)?;
        let rhythm = monitor::monitor_rhythm(None, None, &self.config)?;
        Ok(Monitor::new(self.paths.clone(), rhythm, accounts))
    }
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
