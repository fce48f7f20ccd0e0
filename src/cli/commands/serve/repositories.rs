//! The service's repositories, with its identity on GitHub and its Jules keys.

use std::sync::Arc;

use secrecy::ExposeSecret as _;
use tokio::sync::Notify;

use crate::adapters::github;
use crate::adapters::jules::{JulesKey, key};
use crate::cli::context::clients;
use crate::cli::context::env_var::env_value;
use crate::cli::context::run_identity::{hex_text, random_bytes};
use crate::cli::exit::CliError;
use crate::runtime::SERVICE;
use crate::server::accounts::app::{APP_FILE, named_by, read_identity};
use crate::server::accounts::external_services::ExternalServices;
use crate::server::accounts::keys::Keys;
use crate::server::admin::metrics::{Metrics, count_requests};
use crate::server::config::{Config, read_secret, secret_origin};
use crate::server::repositories::{Repositories, Source};

/// The repositories, which count their requests. `None`, with a warning in the log, if there is no GitHub identity: the
/// service still stores deliveries, and ticks their repositories once it has one.
pub(super) fn connect_repositories(
    config: &Config,
    changed: Arc<Notify>,
    metrics: &Arc<Metrics>,
) -> Result<Option<Repositories>, CliError> {
    if let Some(name) = ignored_app_variable(config) {
        tracing::warn!(
            "{APP_FILE} in the data directory keeps an App, and {name} counts before it; unset {name} to be that App"
        );
    }
    // Read the key first, so that an unreadable key is reported with or without an identity.
    let key = default_jules_key()?.map(|(_, key)| key);
    let outside = count_requests(external_services()?, metrics);
    let Some(repositories) = build_repositories(config, outside, changed, key)? else {
        tracing::warn!(
            "there is no GitHub credential, so that deliveries are stored and nothing is ticked; set GITHUB_APP_ID and \
             GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN, or make an App with `phileas serve --setup`"
        );
        return Ok(None);
    };
    if repositories.source().app_client().is_none() && config.repositories.is_empty() {
        tracing::warn!(
            "a plain token looks after the repositories that phileas.toml names, and it names none, so that nothing is \
             ticked; add `[[repository]]` entries with `name = \"owner/name\"`"
        );
    }
    Ok(Some(repositories))
}

/// The name of this process in leases and decisions.
pub(super) fn process_name() -> Result<String, CliError> {
    let random = hex_text(&random_bytes()?[..4]);
    Ok(format!("{SERVICE}{}:{random}", std::process::id()))
}

/// The variable that overrides the stored App, if both exist.
pub(super) fn ignored_app_variable(config: &Config) -> Option<String> {
    let kept = config.data_dir.join(APP_FILE).is_file();
    named_by(env_value).filter(|_| kept)
}

/// The repositories, with the default Jules key. `None` if there is no GitHub identity.
pub(super) fn build_repositories(
    config: &Config,
    outside: ExternalServices,
    changed: Arc<Notify>,
    key: Option<JulesKey>,
) -> Result<Option<Repositories>, CliError> {
    let Some(identity) = read_identity(env_value, &config.data_dir)? else {
        return Ok(None);
    };
    let source = Source::new(identity, config.repositories.clone(), &outside);
    let keys = Keys::new(key, config.jules_keys_dir.clone());
    Ok(Some(Repositories::new(source, keys, outside, changed)))
}

/// The external services, at the addresses of the environment.
pub(super) fn external_services() -> Result<ExternalServices, CliError> {
    let api = env_value("GITHUB_API_URL");
    let graphql = env_value("GITHUB_GRAPHQL_URL");
    let github = github::Base::from_values(api.as_deref(), graphql.as_deref())
        .map_err(|error| CliError::usage(error.to_string()))?;
    Ok(ExternalServices::over_transport(
        github,
        clients::jules_base()?,
        clients::http_transport(),
    ))
}

/// The Jules key of all repositories without their own, and its source.
pub(super) fn default_jules_key() -> Result<Option<(String, JulesKey)>, CliError> {
    for name in [key::VARIABLE, key::OLD_VARIABLE] {
        if let Some(text) = read_secret(name, env_value)? {
            let key = JulesKey::new(text.expose_secret());
            let name = secret_origin(name, env_value);
            return key
                .map(|key| Some((name.clone(), key)))
                .map_err(|error| CliError::credential(format!("{name}: {error}")));
        }
    }
    Ok(None)
}
