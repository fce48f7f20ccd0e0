//! Clients with the credentials and addresses of the environment.

use std::sync::Arc;

use phileas_domain::engine::RunRequest;
use phileas_domain::model::RepositoryName;

use super::credentials::{github_credential, jules_key, log_warning};
use super::env_var::{env_value, pausing_value};
use super::run_identity::{holder_name, random_bytes, random_seed, run_driver};
use crate::adapters::github::{self, App, SystemPause};
use crate::adapters::jules::{self, JulesKey, RepositoryJules};
use crate::adapters::renderer;
use crate::adapters::stopwatch::SystemStopwatch;
use crate::adapters::transport::{HttpTransport, Limits, Proxies, Transport};
use crate::cli::deadline::Deadline;
use crate::cli::exit::CliError;
use crate::cli::terminal::decision_line::Cost;
use crate::runtime::{self, Observation, Settings, Tick, TickReport};

/// The clients of one repository.
pub(crate) struct Connection {
    pub(crate) repository: RepositoryName,
    pub(crate) github: github::Client,
    pub(crate) jules: RepositoryJules,
    pub(crate) jules_client: Arc<jules::Client>,
    pub(crate) stopwatch: SystemStopwatch,
}

impl Connection {
    /// Clients with the credentials and addresses of the environment. Must be called within a Tokio runtime.
    pub(crate) fn from_environment(repository: &RepositoryName) -> Result<Self, CliError> {
        let transport = http_transport();
        let github = github_through(Arc::clone(&transport), repository, random_seed()?)?;
        let stopwatch = SystemStopwatch::default();
        let jules_client = Arc::new(jules_from_environment(transport, stopwatch.clone())?);
        let jules = RepositoryJules::new(Arc::clone(&jules_client), repository.clone());
        Ok(Self {
            repository: repository.clone(),
            github,
            jules,
            jules_client,
            stopwatch,
        })
    }

    /// Runs a tick, which stops when the deadline is near.
    pub(crate) async fn run_tick(
        &self,
        settings: &Settings,
        deadline: Option<Deadline>,
    ) -> Result<TickReport, CliError> {
        let tick = Tick {
            github: &self.github,
            jules: &self.jules,
            stopwatch: &self.stopwatch,
        };
        let stop = || Deadline::is_near(deadline);
        Ok(tick.run_until(settings, &stop).await?)
    }

    /// Decides as a tick does, and writes nothing.
    pub(crate) async fn explain(
        &self,
        ask: RunRequest,
    ) -> Result<(TickReport, Observation), CliError> {
        let (github, jules, settings) = (&self.github, &self.jules, run_settings(ask)?);
        Ok(runtime::explain_repository(github, jules, &self.stopwatch, &settings).await?)
    }

    /// Reads the facts that a tick reads.
    pub(crate) async fn observe(&self) -> Result<Observation, CliError> {
        let (github, jules) = (&self.github, &self.jules);
        let settings = run_settings(RunRequest::Due)?;
        Ok(runtime::observe_repository(github, jules, &self.stopwatch, &settings).await?)
    }

    /// The requests so far.
    pub(crate) fn client_cost(&self) -> Cost {
        let usage = self.github.usage();
        Cost {
            github_requests: usage.requests,
            github_points: usage.points,
            jules_requests: self.jules_client.request_count(),
        }
    }
}

/// The identity of this run, and its request.
pub(crate) fn run_settings(ask: RunRequest) -> Result<Settings, CliError> {
    let entropy = random_bytes()?;
    Ok(Settings {
        holder: holder_name(&entropy),
        driver: run_driver(),
        ask,
        entropy,
        paused_by_variable: pausing_value(),
        previous_tick: None,
        renderer: renderer::shared_renderer(),
    })
}

/// A client for GitHub only, for commands that do not use Jules. Must be called within a Tokio runtime.
pub(crate) fn github_client(repository: &RepositoryName) -> Result<github::Client, CliError> {
    github_through(http_transport(), repository, random_seed()?)
}

/// A client of the App itself. Must be called within a Tokio runtime.
pub(crate) fn app_client(app: App) -> Result<github::AppClient, CliError> {
    let pause = Arc::new(SystemPause);
    let base = github_base()?;
    Ok(github::AppClient::new(
        app,
        base,
        http_transport(),
        pause,
        random_seed()?,
    ))
}

/// A Jules client without a repository. Must be called within a Tokio runtime.
pub(crate) fn jules_client() -> Result<jules::Client, CliError> {
    jules_from_environment(http_transport(), SystemStopwatch::default())
}

/// A client for Jules only, for commands that also work without a key. Must be called within a Tokio runtime.
pub(crate) fn repository_jules(repository: &RepositoryName) -> Result<RepositoryJules, CliError> {
    let client = jules_from_environment(http_transport(), SystemStopwatch::default())?;
    Ok(RepositoryJules::new(Arc::new(client), repository.clone()))
}

fn jules_from_environment(
    transport: Arc<dyn Transport>,
    stopwatch: SystemStopwatch,
) -> Result<jules::Client, CliError> {
    jules_through(transport, jules_key()?, random_seed()?, stopwatch)
}

fn jules_through(
    transport: Arc<dyn Transport>,
    key: JulesKey,
    seed: u64,
    stopwatch: SystemStopwatch,
) -> Result<jules::Client, CliError> {
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

/// The address of Jules.
pub(crate) fn jules_base() -> Result<jules::Base, CliError> {
    let Some(text) = env_value("JULES_API_BASE") else {
        return Ok(jules::Base::default());
    };
    let (base, warning) =
        jules::Base::parse(&text).map_err(|error| CliError::usage(error.to_string()))?;
    log_warning(warning);
    Ok(base)
}

/// The HTTP transport, with the proxies of the environment.
pub(crate) fn http_transport() -> Arc<dyn Transport> {
    Arc::new(HttpTransport::new(Limits::default(), Proxies::from_env()))
}

fn github_through(
    transport: Arc<dyn Transport>,
    repository: &RepositoryName,
    seed: u64,
) -> Result<github::Client, CliError> {
    let base = github_base()?;
    Ok(github::Client::new(github::Settings {
        repository: repository.clone(),
        credential: github_credential()?,
        base,
        transport,
        pause: Arc::new(SystemPause),
        seed,
    }))
}

fn github_base() -> Result<github::Base, CliError> {
    let api = env_value("GITHUB_API_URL");
    let graphql = env_value("GITHUB_GRAPHQL_URL");
    github::Base::from_values(api.as_deref(), graphql.as_deref())
        .map_err(|error| CliError::usage(error.to_string()))
}

/// Whether the API is that of github.com itself, and not a model or a proxy.
pub(crate) fn is_real_github() -> Result<bool, CliError> {
    Ok(github_base()? == github::Base::default())
}
