//! Clients for jobs: a Jules client for each key, and GitHub if there is a credential.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use phileas_domain::model::RepositoryName;

use super::configuration;
use crate::adapters::github;
use crate::adapters::jules::{self, JulesKey, SystemPause};
use crate::adapters::stopwatch::SystemStopwatch;
use crate::cli::context::{clients, credentials, run_identity};
use crate::cli::exit::CliError;
use crate::jobs::monitor::DEFAULT_ACCOUNT;
use crate::runtime::ports::{Disposition, Failure};

/// The largest file of a key, in bytes.
const MAX_KEY_BYTES: usize = 4 << 10;
/// The most files that are read in a folder of keys.
const MAX_KEYS: usize = 1_000;

/// A client for each Jules key, by the lower-case name of its file. The key of the environment is the default.
///
/// `patient`: whether a failed call is retried after a pause.
pub(super) fn jules_accounts(
    base: Option<&str>,
    folder: Option<&Path>,
    patient: bool,
) -> Result<BTreeMap<String, jules::Client>, CliError> {
    let base = match base {
        Some(text) => {
            let (base, warning) =
                jules::Base::parse(text).map_err(|error| CliError::usage(error.to_string()))?;
            if let Some(warning) = warning {
                tracing::warn!("{warning}");
            }
            base
        }
        None => jules::Base::default(),
    };
    let mut keys: BTreeMap<String, JulesKey> = BTreeMap::new();
    if let Some(folder) = folder {
        let wrong = |error: std::io::Error| {
            CliError::usage(format!(
                "{}: {error}; name a folder with a file for each Jules key",
                folder.display()
            ))
        };
        for entry in std::fs::read_dir(folder).map_err(wrong)?.take(MAX_KEYS) {
            let path = entry.map_err(wrong)?.path();
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().to_lowercase());
            // Orchestrators keep hidden folders beside the mounted files.
            let Some(name) = name.filter(|name| !name.starts_with('.') && path.is_file()) else {
                continue;
            };
            let text = configuration::read_text(&path, MAX_KEY_BYTES)?.unwrap_or_default();
            let key = JulesKey::new(&text)
                .map_err(|error| CliError::credential(format!("{}: {error}", path.display())))?;
            keys.insert(name, key);
        }
    }
    match credentials::jules_key() {
        Ok(key) => {
            keys.insert(DEFAULT_ACCOUNT.to_owned(), key);
        }
        Err(_) if !keys.is_empty() => {}
        Err(stopped) => return Err(stopped),
    }
    let transport = clients::http_transport();
    let mut accounts = BTreeMap::new();
    for (name, key) in keys {
        let settings = jules::Settings {
            base: base.clone(),
            seed: run_identity::random_seed()?,
            patient,
            ..jules::Settings::new(key)
        };
        let stopwatch = Arc::new(SystemStopwatch::default());
        let client = jules::Client::new(
            settings,
            Arc::clone(&transport),
            stopwatch,
            Arc::new(SystemPause),
        );
        accounts.insert(name, client);
    }
    Ok(accounts)
}

/// A GitHub client for any repository, if there is a credential.
pub(super) fn github_clients() -> Option<impl Fn(&RepositoryName) -> Result<github::Client, Failure>>
{
    credentials::has_github_credential().then_some(|repository: &RepositoryName| {
        clients::github_client(repository).map_err(|stopped| Failure {
            disposition: Disposition::Denied,
            detail: stopped.message,
        })
    })
}
