//! The configuration of the job commands: a flag, then its variable, then the configuration file, then the default.

use std::path::{Path, PathBuf};

use phileas_domain::jobs::Config;

use crate::cli::arguments::JobFiles;
use crate::cli::context::env_var::env_value;
use crate::cli::exit::{CliError, Exit};
use crate::jobs::{JobPaths, files};

/// Other variables that name the configuration: those of the first monitor and of its successor.
const OLD_VARIABLES: [&str; 2] = ["ZAI_JULES_CONFIG", "JULES_CONFIG"];
/// The default path of the first monitor's configuration.
const OLD_CONFIG_PATH: &str = "zai-jules-manager/config.json";
/// The default path of the configuration.
const CONFIG_PATH: &str = ".phileas/config.json";
/// The largest configuration that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The configuration, and the paths of the files.
pub(super) struct JobsConfiguration {
    pub(super) config: Config,
    pub(super) paths: JobPaths,
}

impl JobsConfiguration {
    /// Reads the file that the command line names, or the one at the default path. Without a file all values are
    /// defaults.
    pub(super) fn read_configuration(
        named: &JobFiles,
        monitor: Option<&Path>,
        watcher: Option<&Path>,
    ) -> Result<Self, CliError> {
        Self::with_defaults(JobPaths::default(), named, monitor, watcher)
    }

    /// The same with other default paths.
    pub(super) fn with_defaults(
        usual: JobPaths,
        named: &JobFiles,
        monitor: Option<&Path>,
        watcher: Option<&Path>,
    ) -> Result<Self, CliError> {
        let config = match read_config_file(named)? {
            Some((path, text)) => {
                let configured = Config::parse(&path.to_string_lossy(), &text);
                let (config, found) = configured.map_err(|found| {
                    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
                    CliError::usage(found.join("\n"))
                })?;
                for diagnostic in found {
                    tracing::warn!("{diagnostic}");
                }
                config
            }
            None => Config::default(),
        };
        let pick = |named: Option<&Path>, configured: Option<&String>, usual: PathBuf| {
            let configured = configured.map(PathBuf::from);
            named.map(Path::to_owned).or(configured).unwrap_or(usual)
        };
        let places = JobPaths {
            jobs: pick(named.jobs.as_deref(), config.jobs_path.as_ref(), usual.jobs),
            events: pick(
                named.events.as_deref(),
                config.events_path.as_ref(),
                usual.events,
            ),
            monitor: pick(monitor, config.monitor_state_path.as_ref(), usual.monitor),
            watcher: pick(watcher, config.watcher_state_path.as_ref(), usual.watcher),
        };
        Ok(Self {
            config,
            paths: places,
        })
    }
}

fn read_config_file(named: &JobFiles) -> Result<Option<(PathBuf, String)>, CliError> {
    let old = || {
        OLD_VARIABLES
            .into_iter()
            .find_map(env_value)
            .map(PathBuf::from)
    };
    if let Some(path) = named.config.clone().or_else(old) {
        let text = read_text(&path, MAX_BYTES)?.ok_or_else(|| {
            CliError::usage(format!(
                "{}: there is no such file; name the configuration with --config, or leave it out",
                path.display()
            ))
        })?;
        return Ok(Some((path, text)));
    }
    for path in [CONFIG_PATH, OLD_CONFIG_PATH] {
        let path = PathBuf::from(path);
        if let Some(text) = read_text(&path, MAX_BYTES)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

/// Reads a configuration or a key, which is no state file: one that cannot be read is a mistake of the user.
pub(super) fn read_text(path: &Path, limit: usize) -> Result<Option<String>, CliError> {
    files::read_limited(path, limit).map_err(|error| match CliError::from(error) {
        stopped if stopped.exit == Exit::Corrupt => CliError::usage(stopped.message),
        stopped => stopped,
    })
}
