//! Clients from the environment. Secrets are read from variables only, so that they never stand in arguments.

use std::sync::Arc;

use phileas_domain::engine::RunRequest;
use phileas_domain::model::RepositoryName;

use super::credentials::{credential, jules_key, warn};
use super::env_var::{is_set, variable};
use super::run_identity::{driver, entropy, holder, seed};
use crate::adapters::github::{self, App, SystemPause};
use crate::adapters::jules::{self, JulesKey, RepositoryJules};
use crate::adapters::renderer;
use crate::adapters::stopwatch::SystemStopwatch;
use crate::adapters::transport::{HttpTransport, Limits, Proxies, Transport};
use crate::cli::exit::Stopped;
use crate::cli::terminal::decision_line::Cost;
use crate::runtime::Settings;

/// Clients of one repository.
pub(crate) struct Connection {
    pub(crate) repository: RepositoryName,
    pub(crate) github: github::Client,
    pub(crate) jules: RepositoryJules,
    pub(crate) jules_client: Arc<jules::Client>,
    pub(crate) stopwatch: SystemStopwatch,
}

impl Connection {
    /// Clients with the credentials and addresses of the environment. Must be called within a Tokio runtime.
    pub(crate) fn from_environment(repository: &RepositoryName) -> Result<Self, Stopped> {
        let transport = transport();
        let github = github_through(Arc::clone(&transport), repository, seed()?)?;
        let stopwatch = SystemStopwatch::default();
        let jules_client = Arc::new(jules_of_environment(transport, stopwatch.clone())?);
        let jules = RepositoryJules::new(Arc::clone(&jules_client), repository.clone());
        Ok(Self {
            repository: repository.clone(),
            github,
            jules,
            jules_client,
            stopwatch,
        })
    }

    /// What this run is, and what it was asked to do.
    pub(crate) fn settings(&self, ask: RunRequest) -> Result<Settings, Stopped> {
        settings(ask)
    }

    /// What the clients have used so far.
    pub(crate) fn cost(&self) -> Cost {
        let usage = self.github.usage();
        Cost {
            github_requests: usage.requests,
            github_points: usage.points,
            jules_requests: self.jules_client.requests(),
        }
    }
}

/// What this run is, and what it was asked to do.
pub(crate) fn settings(ask: RunRequest) -> Result<Settings, Stopped> {
    let entropy = entropy()?;
    Ok(Settings {
        holder: holder(&entropy),
        driver: driver(),
        ask,
        entropy,
        paused_by_variable: variable("PHILEAS_PAUSED").filter(|value| is_set(value)),
        previous_tick: None,
        renderer: renderer::shared(),
    })
}

/// GitHub alone, for commands that have nothing to ask Jules. Must be called within a Tokio runtime.
pub(crate) fn github(repository: &RepositoryName) -> Result<github::Client, Stopped> {
    github_through(transport(), repository, seed()?)
}

/// An App, asking about itself. Must be called within a Tokio runtime.
pub(crate) fn app(app: App) -> Result<github::AppClient, Stopped> {
    let pause = Arc::new(SystemPause);
    let base = github_base()?;
    Ok(github::AppClient::new(
        app,
        base,
        transport(),
        pause,
        seed()?,
    ))
}

/// Jules without a repository. Must be called within a Tokio runtime.
pub(crate) fn jules_client() -> Result<jules::Client, Stopped> {
    jules_of_environment(transport(), SystemStopwatch::default())
}

/// Jules alone, for whoever can do without: there may be no key. Must be called within a Tokio runtime.
pub(crate) fn jules(repository: &RepositoryName) -> Result<RepositoryJules, Stopped> {
    let client = jules_of_environment(transport(), SystemStopwatch::default())?;
    Ok(RepositoryJules::new(Arc::new(client), repository.clone()))
}

fn jules_of_environment(
    transport: Arc<dyn Transport>,
    stopwatch: SystemStopwatch,
) -> Result<jules::Client, Stopped> {
    jules_through(transport, jules_key()?, seed()?, stopwatch)
}

/// Jules with another key than the environment's.
pub(crate) fn jules_with(key: JulesKey) -> Result<jules::Client, Stopped> {
    jules_through(transport(), key, seed()?, SystemStopwatch::default())
}

fn jules_through(
    transport: Arc<dyn Transport>,
    key: JulesKey,
    seed: u64,
    stopwatch: SystemStopwatch,
) -> Result<jules::Client, Stopped> {
    let base = jules_base()?;
    Ok(jules::Client::new(
        jules::Settings {
            base,
            seed,
            ..jules::Settings::new(key)
        },
        transport,
        Arc::new(stopwatch),
        Arc::new(SystemPause),
    ))
}

/// Where Jules is.
pub(crate) fn jules_base() -> Result<jules::Base, Stopped> {
    let Some(text) = variable("JULES_API_BASE") else {
        return Ok(jules::Base::default());
    };
    let (base, warning) =
        jules::Base::parse(&text).map_err(|error| Stopped::usage(error.to_string()))?;
    warn(warning);
    Ok(base)
}

/// The way out, with the proxies of the environment.
pub(crate) fn transport() -> Arc<dyn Transport> {
    Arc::new(HttpTransport::new(Limits::default(), Proxies::from_env()))
}

fn github_through(
    transport: Arc<dyn Transport>,
    repository: &RepositoryName,
    seed: u64,
) -> Result<github::Client, Stopped> {
    let base = github_base()?;
    Ok(github::Client::new(github::Settings {
        repository: repository.clone(),
        credential: credential()?,
        base,
        transport,
        pause: Arc::new(SystemPause),
        seed,
    }))
}

fn github_base() -> Result<github::Base, Stopped> {
    let api = variable("GITHUB_API_URL");
    let graphql = variable("GITHUB_GRAPHQL_URL");
    github::Base::from_values(api.as_deref(), graphql.as_deref())
        .map_err(|error| Stopped::usage(error.to_string()))
}

/// Whether the API that is asked is that of github.com itself, and not a model or a proxy.
pub(crate) fn is_real_github() -> Result<bool, Stopped> {
    Ok(github_base()? == github::Base::default())
}
