//! The service's own hands: with what it is to GitHub and to Jules.

use std::sync::Arc;

use phileas_domain::model::Holder;
use secrecy::ExposeSecret as _;
use tokio::sync::Notify;

use crate::adapters::github;
use crate::adapters::jules::{JulesKey, key};
use crate::adapters::pause::SystemPause;
use crate::cli::context::clients;
use crate::cli::context::env_var::{is_set, variable};
use crate::cli::context::run_identity::{entropy, hex};
use crate::cli::exit::Stopped;
use crate::runtime::SERVICE;
use crate::runtime::driver::{Bounds, Pulse};
use crate::server::Fleet;
use crate::server::accounts::app::{APP_FILE, identity, named_by};
use crate::server::accounts::external_services::Outside;
use crate::server::accounts::keys::Keys;
use crate::server::admin::feed::Feed;
use crate::server::admin::metrics::{Metrics, count_requests};
use crate::server::config::{Config, origin, secret};
use crate::server::repositories::{Repositories, Source};
use crate::server::worker::tick_observer::Onlooker;
use crate::server::worker::ticks::Ticks;

/// What ticks the repositories. `None`, with a word in the log, while nobody has said who the service is to GitHub: it
/// accepts deliveries all the same, and ticks what they woke once it is told.
pub(super) fn of(
    config: &Config,
    changed: Arc<Notify>,
    pulse: Arc<Pulse>,
    metrics: &Arc<Metrics>,
    onlookers: Vec<Arc<dyn Onlooker>>,
    feed: Option<Arc<Feed>>,
) -> Result<Option<Fleet<SystemPause>>, Stopped> {
    if let Some(name) = passed_over(config) {
        tracing::warn!(
            "{APP_FILE} in the data directory keeps an App, and {name} counts before it; unset {name} to be that App"
        );
    }
    // First, so that a key that cannot be read is told whoever the service is.
    let key = jules_key()?.map(|(_, key)| key);
    let outside = count_requests(outside()?, metrics);
    let Some(repositories) = repositories(config, outside, changed, key)? else {
        tracing::warn!(
            "there is no GitHub credential, so that deliveries are stored and nothing is ticked; set GITHUB_APP_ID and \
             GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN, or make an App with `phileas serve --setup`"
        );
        return Ok(None);
    };
    if repositories.source().app().is_none() && config.repositories.is_empty() {
        tracing::warn!(
            "a plain token looks after the repositories that phileas.toml names, and it names none, so that nothing is \
             ticked; add `[[repository]]` entries with `name = \"owner/name\"`"
        );
    }
    let entropy = entropy()?;
    let run = format!("{SERVICE}{}:{}", std::process::id(), hex(&entropy[..4]));
    let repositories = Arc::new(repositories);
    let ticks = Ticks::new(
        Arc::clone(&repositories),
        run.clone(),
        variable("PHILEAS_PAUSED").filter(|value| is_set(value)),
    )
    .feeding(feed);
    let ticks = onlookers.into_iter().fold(ticks, Ticks::seen_by);
    Ok(Some(Fleet {
        ticks: Arc::new(ticks),
        repositories,
        clock: Arc::new(SystemPause),
        holder: Holder::new(run),
        bounds: Bounds::default(),
        pulse,
    }))
}

/// The variable that counts before the App which set-up has kept, where both are there.
pub(super) fn passed_over(config: &Config) -> Option<String> {
    let kept = config.data_dir.join(APP_FILE).is_file();
    named_by(variable).filter(|_| kept)
}

/// The repositories, of which nothing is known yet, with the key of those that have none of their own. `None`: nobody has
/// said who the service is to GitHub.
pub(super) fn repositories(
    config: &Config,
    outside: Outside,
    changed: Arc<Notify>,
    key: Option<JulesKey>,
) -> Result<Option<Repositories>, Stopped> {
    let Some(identity) = identity(variable, &config.data_dir)? else {
        return Ok(None);
    };
    let source = Source::new(identity, config.repositories.clone(), &outside);
    let keys = Keys::new(key, config.jules_keys_dir.clone());
    Ok(Some(Repositories::new(source, keys, outside, changed)))
}

/// The world, at the addresses of the environment.
pub(super) fn outside() -> Result<Outside, Stopped> {
    let api = variable("GITHUB_API_URL");
    let graphql = variable("GITHUB_GRAPHQL_URL");
    let github = github::Base::from_values(api.as_deref(), graphql.as_deref())
        .map_err(|error| Stopped::usage(error.to_string()))?;
    Ok(Outside::real(
        github,
        clients::jules_base()?,
        clients::transport(),
    ))
}

/// The key of all repositories that have none of their own, and where it comes from.
pub(super) fn jules_key() -> Result<Option<(String, JulesKey)>, Stopped> {
    for name in [key::VARIABLE, key::OLD_VARIABLE] {
        if let Some(text) = secret(name, variable)? {
            let key = JulesKey::new(text.expose_secret());
            let name = origin(name, variable);
            return key
                .map(|key| Some((name.clone(), key)))
                .map_err(|error| Stopped::credential(format!("{name}: {error}")));
        }
    }
    Ok(None)
}
