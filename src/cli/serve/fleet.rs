//! The service's own hands: with what it is to GitHub and to Jules.

use std::sync::Arc;

use phileas_domain::model::Holder;
use secrecy::ExposeSecret as _;
use tokio::sync::Notify;

use super::super::connect::{self, entropy, hex, is_set, variable};
use super::super::exit::Stopped;
use crate::adapters::github;
use crate::adapters::jules::{JulesKey, key};
use crate::adapters::pause::SystemPause;
use crate::runtime::driver::{Bounds, Pulse};
use crate::server::Fleet;
use crate::server::app::identity;
use crate::server::config::{Config, secret};
use crate::server::keys::Keys;
use crate::server::metrics::Metrics;
use crate::server::onlooker::Onlooker;
use crate::server::outside::Outside;
use crate::server::repositories::{Repositories, Source};
use crate::server::ticks::Ticks;

/// What ticks the repositories. `None`, with a word in the log, while nobody has said who the service is to GitHub: it
/// accepts deliveries all the same, and ticks what they woke once it is told.
pub(super) fn of(
    config: &Config,
    changed: Arc<Notify>,
    pulse: Arc<Pulse>,
    metrics: &Arc<Metrics>,
    onlookers: Vec<Arc<dyn Onlooker>>,
) -> Result<Option<Fleet<SystemPause>>, Stopped> {
    let Some(repositories) = repositories_by(config, outside()?.counted(metrics), changed)? else {
        tracing::warn!(
            "there is no GitHub credential, so that deliveries are stored and nothing is ticked; set GITHUB_APP_ID and \
             GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN, or make an App with `phileas serve --setup`"
        );
        return Ok(None);
    };
    let entropy = entropy()?;
    let run = format!("serve:{}:{}", std::process::id(), hex(&entropy[..4]));
    let repositories = Arc::new(repositories);
    let ticks = Ticks::new(
        Arc::clone(&repositories),
        run.clone(),
        variable("PHILEAS_PAUSED").filter(|value| is_set(value)),
    );
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

/// The repositories, of which nothing is known yet. `None`: nobody has said who the service is to GitHub.
pub(super) fn repositories(
    config: &Config,
    changed: Arc<Notify>,
) -> Result<Option<Repositories>, Stopped> {
    repositories_by(config, outside()?, changed)
}

/// The same, by a given way out.
fn repositories_by(
    config: &Config,
    outside: Outside,
    changed: Arc<Notify>,
) -> Result<Option<Repositories>, Stopped> {
    let Some(identity) = identity(variable, &config.data_dir)? else {
        return Ok(None);
    };
    let source = Source::new(identity, config.repositories.clone(), &outside);
    let keys = Keys::new(jules_key()?, config.jules_keys_dir.clone());
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
        connect::jules_base()?,
        connect::transport(),
    ))
}

/// The key of all repositories that have none of their own.
fn jules_key() -> Result<Option<JulesKey>, Stopped> {
    for name in [key::VARIABLE, key::OLD_VARIABLE] {
        if let Some(text) = secret(name, variable)? {
            let key = JulesKey::new(text.expose_secret());
            return key
                .map(Some)
                .map_err(|error| Stopped::credential(error.to_string()));
        }
    }
    Ok(None)
}
