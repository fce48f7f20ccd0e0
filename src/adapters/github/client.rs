//! A client of one repository: its settings, and the state that its requests share.

use std::fmt;
use std::sync::Arc;

use phileas_domain::model::RepositoryName;

use super::auth::account::{Account, Credential};
use super::auth::token_source::Tokens;
use super::http::base::Base;
use super::http::budget::{Budget, Face, Quota, Usage};
use super::http::channel::Channel;
use super::http::retry::Backoff;
use super::read::list_sizes::Busy;
use super::read::refusal_cache::Refusals;
use super::repository::Place;
use super::write::opened_issues::Opened;
use crate::adapters::pause::Pause;
use crate::adapters::transport::Transport;

/// The settings of a [`Client`].
pub struct Settings {
    /// The repository.
    pub repository: RepositoryName,
    /// The credential.
    pub credential: Credential,
    /// The addresses of GitHub's API.
    pub base: Base,
    /// Sends the requests.
    pub transport: Arc<dyn Transport>,
    /// Tells the time, and waits.
    pub pause: Arc<dyn Pause>,
    /// Makes waits differ between processes.
    pub seed: u64,
}

/// A client of one repository.
pub struct Client {
    pub(super) rest: Channel,
    pub(super) graph: Channel,
    pub(super) base: Base,
    pub(super) place: Place,
    pub(super) tokens: Arc<Tokens>,
    pub(super) budget: Arc<Budget>,
    pub(super) opened: Arc<Opened>,
    pub(super) busy: Arc<Busy>,
    pub(super) refusals: Arc<Refusals>,
    pub(super) backoff: Backoff,
    pub(super) pause: Arc<dyn Pause>,
    /// Fetches from other hosts, without any credential.
    pub(super) transport: Arc<dyn Transport>,
}

impl Client {
    /// A client that has sent no request yet. Must be created within a Tokio runtime.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings {
            repository,
            credential,
            base,
            transport,
            pause,
            seed,
        } = settings;
        let Account {
            tokens,
            budget,
            opened,
            busy,
            refusals,
        } = Account::new(credential);
        Self {
            rest: Channel::new(Arc::clone(&transport), base.rest()),
            graph: Channel::new(Arc::clone(&transport), base.graphql()),
            base,
            place: Place::new(repository),
            tokens,
            budget,
            opened,
            busy,
            refusals,
            backoff: Backoff::new(seed),
            pause,
            transport,
        }
    }

    /// The requests and points used so far by this client and those that share its account.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.budget.usage()
    }

    /// The primary limit of one API, as GitHub last reported it.
    #[must_use]
    pub fn quota(&self, face: Face) -> Option<Quota> {
        self.budget.quota(face)
    }

    pub(crate) async fn wait(&self, length: std::time::Duration) {
        self.pause.pause(length).await;
    }

    /// The repository's name, as GitHub last reported it.
    #[must_use]
    pub fn repository(&self) -> RepositoryName {
        self.place.name()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("repository", &self.place.name())
            .field("base", &self.base)
            .field("tokens", &self.tokens)
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}
