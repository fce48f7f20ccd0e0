//! What holds for the commands about jobs: a flag, then its variable, then the configuration, then what is usual.

use std::path::{Path, PathBuf};

use phileas_domain::jobs::Config;

use crate::cli::arguments::JobPlaces;
use crate::cli::context::env_var::variable;
use crate::cli::exit::Stopped;
use crate::jobs::{Places, files};

/// The variables that name the configuration, beside ours: those of the first monitor and of its successor.
const OLD_VARIABLES: [&str; 2] = ["ZAI_JULES_CONFIG", "JULES_CONFIG"];
/// Where the first monitor had its configuration.
const OLD_CONFIG: &str = "zai-jules-manager/config.json";
/// Where ours is.
const CONFIG: &str = ".phileas/config.json";
/// The largest configuration that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The configuration, and where it says that the files are.
pub(super) struct Configuration {
    pub(super) config: Config,
    pub(super) places: Places,
}

impl Configuration {
    /// Reads what the command line names, or what is found where it usually is. Without any everything is usual.
    pub(super) fn read(
        named: &JobPlaces,
        monitor: Option<&Path>,
        watcher: Option<&Path>,
    ) -> Result<Self, Stopped> {
        let config = match file(named)? {
            Some((path, text)) => {
                let told = Config::parse(&path.to_string_lossy(), &text);
                let (config, found) = told.map_err(|found| {
                    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
                    Stopped::usage(found.join("\n"))
                })?;
                for diagnostic in found {
                    tracing::warn!("{diagnostic}");
                }
                config
            }
            None => Config::default(),
        };
        let usual = Places::default();
        let pick = |named: Option<&Path>, told: Option<&String>, usual: PathBuf| {
            let told = told.map(PathBuf::from);
            named.map(Path::to_owned).or(told).unwrap_or(usual)
        };
        let places = Places {
            jobs: pick(named.jobs.as_deref(), config.jobs_path.as_ref(), usual.jobs),
            events: pick(
                named.events.as_deref(),
                config.events_path.as_ref(),
                usual.events,
            ),
            monitor: pick(monitor, config.monitor_state_path.as_ref(), usual.monitor),
            watcher: pick(watcher, config.watcher_state_path.as_ref(), usual.watcher),
        };
        Ok(Self { config, places })
    }
}

fn file(named: &JobPlaces) -> Result<Option<(PathBuf, String)>, Stopped> {
    let old = || {
        OLD_VARIABLES
            .into_iter()
            .find_map(variable)
            .map(PathBuf::from)
    };
    if let Some(path) = named.config.clone().or_else(old) {
        let text = files::read(&path, MAX_BYTES)?.ok_or_else(|| {
            Stopped::usage(format!(
                "{}: there is no such file; name the configuration with --config, or leave it out",
                path.display()
            ))
        })?;
        return Ok(Some((path, text)));
    }
    for path in [CONFIG, OLD_CONFIG] {
        let path = PathBuf::from(path);
        if let Some(text) = files::read(&path, MAX_BYTES)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}
