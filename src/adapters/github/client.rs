//! A client of one repository: its settings, and the state that its requests share.

use std::fmt;
use std::sync::Arc;

use phileas_domain::model::{RepositoryId, RepositoryName};

use super::auth::account::{Account, Credential};
use super::auth::token_source::TokenSource;
use super::http::answer::Answer;
use super::http::api_url::Base;
use super::http::budget::{Budget, Usage};
use super::http::channel::Channel;
use super::http::error;
use super::http::retry::Backoff;
use super::read::list_sizes::BusyRepositories;
use super::read::refusal_cache::RefusalCache;
use super::repository::RepositoryAddress;
use super::write::opened_issues::OpenedIssues;
use crate::adapters::pause::Pause;
use crate::adapters::transport::Transport;
use crate::runtime::ports::{Disposition, Failure};

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
    pub(super) address: RepositoryAddress,
    pub(super) tokens: Arc<TokenSource>,
    pub(super) budget: Arc<Budget>,
    pub(super) opened_issues: Arc<OpenedIssues>,
    pub(super) busy_repositories: Arc<BusyRepositories>,
    pub(super) refusal_cache: Arc<RefusalCache>,
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
            opened_issues,
            busy_repositories,
            refusal_cache,
        } = Account::new(credential);
        Self {
            rest: Channel::new(Arc::clone(&transport), base.rest_address()),
            graph: Channel::new(Arc::clone(&transport), base.graphql_address()),
            base,
            address: RepositoryAddress::new(repository),
            tokens,
            budget,
            opened_issues,
            busy_repositories,
            refusal_cache,
            backoff: Backoff::new(seed),
            pause,
            transport,
        }
    }

    /// The same for the repository with this id. Reads fail as not found while another repository has the name.
    #[must_use]
    pub fn with_id(self, id: RepositoryId) -> Self {
        self.address.require_id(id);
        self
    }

    /// The requests and points used so far by this client and those that share its account.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.budget.usage()
    }

    /// Notes the id and present name in an answer, or fails if they are another repository's: a name that a repository
    /// has lost is free for others.
    pub(super) fn confirm_identity(
        &self,
        what: &str,
        answer: &Answer,
        id: RepositoryId,
        name: &RepositoryName,
    ) -> Result<(), Failure> {
        if self.address.set_identity(id, name) {
            return Ok(());
        }
        let said = format!("{name} is another repository now, with the id {id}");
        let gone = Disposition::NotFound;
        Err(error::failure_saying(what, answer, gone, &said))
    }

    pub(crate) async fn wait_for(&self, length: std::time::Duration) {
        self.pause.pause_for(length).await;
    }

    /// The repository's name, as GitHub last reported it.
    #[must_use]
    pub fn repository_name(&self) -> RepositoryName {
        self.address.current_name()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("repository", &self.address.current_name())
            .field("base", &self.base)
            .field("tokens", &self.tokens)
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}
