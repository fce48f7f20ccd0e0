//! Clients from the environment. Secrets are read from variables only, so that they never stand in arguments.

use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::engine::Ask;
use phileas_domain::model::{Holder, RepositoryName, parse_switch};
use phileas_domain::plan::Driver;
use secrecy::{ExposeSecret as _, SecretString};

use crate::adapters::github::{self, App, Credential, SystemPause, Token};
use crate::adapters::jules::{self, JulesKey, RepositoryJules};
use crate::adapters::renderer;
use crate::adapters::stopwatch::SystemStopwatch;
use crate::adapters::transport::{HttpTransport, Limits, Proxies, Transport};
use crate::cli::exit::Stopped;
use crate::cli::terminal::decision_line::Cost;
use crate::runtime::Settings;
use crate::runtime::ports::{Disposition, Failure};
use crate::server::app::{APP_ID, APP_KEY, OTHER_TOKEN, TOKEN, is_app_id};
use crate::server::config::{origin, secret};

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
    pub(crate) fn settings(&self, ask: Ask) -> Result<Settings, Stopped> {
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
pub(crate) fn settings(ask: Ask) -> Result<Settings, Stopped> {
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

/// The Jules key of the environment.
pub(crate) fn jules_key() -> Result<JulesKey, Stopped> {
    let refused = |error: jules::key::KeyError| Stopped::credential(error.to_string());
    if let Some(key) = jules_key_of_file()? {
        return JulesKey::new(key.expose_secret()).map_err(refused);
    }
    let (key, warning) = JulesKey::from_variables(variable).map_err(refused)?;
    warn(warning);
    Ok(key)
}

/// The Jules key, where a file holds it that `JULES_API_KEY_FILE` names.
pub(crate) fn jules_key_of_file() -> Result<Option<SecretString>, Stopped> {
    if variable(&format!("{}_FILE", jules::key::VARIABLE)).is_none() {
        return Ok(None);
    }
    secret(jules::key::VARIABLE, variable).map_err(|error| Stopped::credential(error.to_string()))
}

/// Whether a variable holds a credential of GitHub.
pub(crate) fn has_github_credential() -> bool {
    [APP_ID, APP_KEY, TOKEN, OTHER_TOKEN]
        .into_iter()
        .any(has_secret)
}

/// Whether a variable holds a Jules key.
pub(crate) fn has_jules_key() -> bool {
    has_secret(jules::key::VARIABLE) || variable(jules::key::OLD_VARIABLE).is_some()
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

/// Randomness for one run.
pub(crate) fn entropy() -> Result<[u8; 32], Stopped> {
    let mut entropy = [0; 32];
    getrandom::fill(&mut entropy).map_err(|error| Stopped::fault(error.to_string()))?;
    Ok(entropy)
}

/// The name of this run, for what it writes by hand.
pub(crate) fn this_run() -> Result<Holder, Stopped> {
    Ok(holder(&entropy()?))
}

/// The person who runs this, as far as GitHub says so. The name of a local account is nobody's business: the ledger
/// may be public.
pub(crate) fn actor() -> Option<String> {
    variable("GITHUB_ACTOR")
}

/// The present time of this machine. Decisions use GitHub's.
pub(crate) fn local_now() -> Timestamp {
    Timestamp::now()
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// Whether a variable that stops something says so. A word that is neither on nor off, such as a reason, stops it: a
/// person who writes one wants that.
pub(crate) fn is_set(value: &str) -> bool {
    parse_switch(value).unwrap_or(true)
}

fn warn(warning: Option<String>) {
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
}

/// Who this process is to GitHub. Each secret may stand in a file that its variable with `_FILE` names.
pub(crate) fn credential() -> Result<Credential, Stopped> {
    let refused = |name: &str, error: github::CredentialError| {
        Stopped::credential(format!("{}: {error}", origin(name, variable)))
    };
    let half = |set: &str, missing: &str| {
        Stopped::credential(format!(
            "{set} is set and {missing} is not; set both ({APP_KEY}_FILE names a file with the key), or neither of them \
             and GITHUB_TOKEN"
        ))
    };
    match (variable(APP_ID), secret(APP_KEY, variable)?) {
        (Some(id), Some(key)) => {
            if !is_app_id(id.trim()) {
                return Err(Stopped::credential(format!(
                    "{APP_ID} is neither an App's number nor its client id (`Iv…`); both stand on the App's page on GitHub"
                )));
            }
            let app = App::new(&id, key.expose_secret());
            return app
                .map(Credential::App)
                .map_err(|error| refused(APP_KEY, error));
        }
        (Some(_), None) => return Err(half(APP_ID, APP_KEY)),
        (None, Some(_)) => return Err(half(&name_of(APP_KEY), APP_ID)),
        (None, None) => {}
    }
    for name in [TOKEN, OTHER_TOKEN] {
        let Some(token) = secret(name, variable)? else {
            continue;
        };
        let token = Token::new(token.expose_secret()).map_err(|error| refused(name, error))?;
        let in_workflow = variable("GITHUB_ACTIONS").is_some();
        return Ok(if in_workflow {
            Credential::WorkflowToken(token)
        } else {
            Credential::Token(token)
        });
    }
    Err(Stopped::credential(
        "there is no GitHub credential; set GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY (or the same names \
         with _FILE, for files with these secrets)",
    ))
}

/// The variable of a secret that is set: its own, or the one with `_FILE`.
fn name_of(name: &str) -> String {
    let file = format!("{name}_FILE");
    if variable(&file).is_some() {
        file
    } else {
        name.to_owned()
    }
}

fn has_secret(name: &str) -> bool {
    variable(name).is_some() || variable(&format!("{name}_FILE")).is_some()
}

/// The variables that the GitHub credential came from.
pub(crate) fn github_variables() -> String {
    if variable(APP_ID).is_some() {
        format!("{APP_ID} and {}", name_of(APP_KEY))
    } else if has_secret(TOKEN) {
        name_of(TOKEN)
    } else {
        name_of(OTHER_TOKEN)
    }
}

/// How a person mends a Jules key that is refused.
pub(crate) fn mend_of_jules_key() -> String {
    let name = if has_secret(jules::key::VARIABLE) {
        name_of(jules::key::VARIABLE)
    } else {
        jules::key::OLD_VARIABLE.to_owned()
    };
    format!(
        "the Jules key came from {name}; make a new one at jules.google.com/settings#api, and set it there"
    )
}

/// How a person mends a call that failed for its credential, or because what it names is not to be seen.
pub(crate) fn mend_of(failure: &Failure) -> Option<String> {
    let of_github = failure.detail.starts_with("GitHub");
    match failure.disposition {
        Disposition::Denied if of_github => Some(format!(
            "the credential came from {}; set one that is valid and may read and write contents and issues of the repository",
            github_variables()
        )),
        Disposition::Denied => Some(mend_of_jules_key()),
        Disposition::NotFound if of_github => Some(format!(
            "either the repository's name is wrong, or the credential from {} may not see it",
            github_variables()
        )),
        _ => None,
    }
}

fn driver() -> Driver {
    if variable("GITHUB_ACTIONS").is_some() {
        Driver::Action
    } else {
        Driver::Any
    }
}

/// A name that no other run bears: where it runs, and eight random digits.
fn holder(entropy: &[u8; 32]) -> Holder {
    let random = hex(&entropy[28..]);
    let run = variable("GITHUB_RUN_ID").map(|id| {
        let attempt = variable("GITHUB_RUN_ATTEMPT").unwrap_or_else(|| "1".to_owned());
        format!("action:{id}/{attempt}")
    });
    Holder::new(format!(
        "{}:{random}",
        run.unwrap_or_else(|| format!("cli:{}", std::process::id()))
    ))
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn seed() -> Result<u64, Stopped> {
    getrandom::u64().map_err(|error| Stopped::fault(error.to_string()))
}
