//! Where the list of repositories comes from.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use phileas_domain::model::{RepositoryId, RepositoryName};

use super::super::app::Identity;
use super::super::config::RepositoryEntry;
use super::super::outside::Outside;
use crate::adapters::github::{Account, App, AppClient, Credential, Reached};
use crate::runtime::ports::{Disposition, Failure};

/// Where the list of repositories comes from.
#[derive(Debug)]
pub struct Source {
    kind: Kind,
    /// What `phileas.toml` names; of an App's repositories only these, where it names any.
    named: Vec<RepositoryEntry>,
}

#[derive(Debug)]
enum Kind {
    App {
        client: Box<AppClient>,
        app: App,
        /// One for each installation, kept from listing to listing: with its token, and what it has spent.
        accounts: Mutex<BTreeMap<u64, Account>>,
    },
    Token(Account),
}

/// A repository that is there.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) id: RepositoryId,
    pub(super) name: RepositoryName,
    pub(super) account: Account,
    pub(super) installation: u64,
}

/// One listing.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) found: Vec<Found>,
    /// Installations that could not be listed: what was known of them before still holds.
    pub(super) unread: Vec<u64>,
    /// Entries of `phileas.toml` that could not be asked about; the same holds.
    pub(super) unasked: Vec<RepositoryName>,
}

impl Listing {
    /// Whether everything could be read.
    pub(super) fn is_whole(&self) -> bool {
        self.unread.is_empty() && self.unasked.is_empty()
    }
}

impl Source {
    /// The source of an identity. Must be made within a Tokio runtime.
    #[must_use]
    pub fn new(identity: Identity, named: Vec<RepositoryEntry>, outside: &Outside) -> Self {
        let kind = match identity {
            Identity::App(app) => Kind::App {
                client: Box::new(outside.app_client(app.clone())),
                app,
                accounts: Mutex::default(),
            },
            Identity::Token(token) => Kind::Token(Account::new(Credential::Token(token))),
        };
        Self { kind, named }
    }

    /// The App's own client, where it is one.
    #[must_use]
    pub fn app(&self) -> Option<&AppClient> {
        match &self.kind {
            Kind::App { client, .. } => Some(client),
            Kind::Token(_) => None,
        }
    }

    /// What `phileas.toml` names.
    #[must_use]
    pub fn named(&self) -> &[RepositoryEntry] {
        &self.named
    }

    /// Lists all repositories.
    pub(super) async fn list(&self, outside: &Outside) -> Result<Listing, Failure> {
        match &self.kind {
            Kind::App {
                client,
                app,
                accounts,
            } => self.of_app(client, app, accounts, outside).await,
            Kind::Token(account) => Ok(self.of_token(account, outside).await),
        }
    }

    async fn of_app(
        &self,
        client: &AppClient,
        app: &App,
        accounts: &Mutex<BTreeMap<u64, Account>>,
        outside: &Outside,
    ) -> Result<Listing, Failure> {
        let installations = client.installations().await?;
        let mut listing = Listing::default();
        for installation in installations.iter().filter(|one| !one.suspended) {
            let account = {
                let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
                let account = accounts
                    .entry(installation.id)
                    .or_insert_with(|| Account::of_installation(app.clone(), installation.id));
                account.clone()
            };
            // A listing is of the installation; the name only stands in messages.
            let of = RepositoryName {
                owner: installation.account.clone(),
                name: "*".to_owned(),
            };
            match outside.client(of, &account).reached().await {
                Ok(reached) => {
                    listing
                        .found
                        .extend(
                            reached
                                .into_iter()
                                .filter(|one| self.wants(one))
                                .map(|one| Found {
                                    id: one.id,
                                    name: one.name,
                                    account: account.clone(),
                                    installation: installation.id,
                                }),
                        )
                }
                Err(failure) => {
                    tracing::warn!(
                        installation = installation.id,
                        "an installation's repositories cannot be listed: {failure}"
                    );
                    listing.unread.push(installation.id);
                }
            }
        }
        accounts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|id, _| installations.iter().any(|one| one.id == *id));
        Ok(listing)
    }

    async fn of_token(&self, account: &Account, outside: &Outside) -> Listing {
        let mut listing = Listing::default();
        for entry in &self.named {
            let client = outside.client(entry.name.clone(), account);
            match client.own_repository().await {
                Ok(one) if entry.id.is_some_and(|id| id != one.id) => tracing::error!(
                    "{} is number {} on GitHub, not the one that phileas.toml means; it is left alone",
                    entry.name,
                    one.id.0
                ),
                Ok(one) => listing.found.push(Found {
                    id: one.id,
                    name: one.name,
                    account: account.clone(),
                    installation: 0,
                }),
                Err(failure) if failure.disposition == Disposition::NotFound => tracing::error!(
                    "{} does not exist, or is hidden from the token: {failure}",
                    entry.name
                ),
                Err(failure) => {
                    tracing::warn!("{} cannot be asked about: {failure}", entry.name);
                    listing.unasked.push(entry.name.clone());
                }
            }
        }
        listing
    }

    /// Whether a repository that the App reaches is one of those that `phileas.toml` names, if it names any.
    fn wants(&self, reached: &Reached) -> bool {
        self.named.is_empty()
            || self.named.iter().any(|entry| match entry.id {
                Some(id) => id == reached.id,
                None => entry.name == reached.name,
            })
    }
}
