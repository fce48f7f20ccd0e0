//! Where the list of repositories comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use phileas_domain::model::{RepositoryId, RepositoryName};

use super::super::app::Identity;
use super::super::config::RepositoryEntry;
use super::super::outside::Outside;
use super::Learnt;
use crate::adapters::github::{Account, App, AppClient, Credential, Reached};
use crate::runtime::ports::{Disposition, Failure};

/// Where the list of repositories comes from.
#[derive(Debug)]
pub struct Source {
    kind: Kind,
    /// What `phileas.toml` names; of an App's repositories only these, where it names any.
    named: Vec<RepositoryEntry>,
    /// The numbers of those that it names without one.
    learnt: Learnt,
    /// Those that are not reached and were told of, so that it is said once.
    told: Mutex<BTreeSet<String>>,
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
    pub(super) unasked: Vec<Unasked>,
    /// Entries of `phileas.toml` that the credential does not reach.
    pub(super) unreached: Vec<Unreached>,
}

/// An entry of `phileas.toml` that could not be asked about.
#[derive(Debug, Clone)]
pub(super) struct Unasked {
    pub(super) name: RepositoryName,
    id: Option<RepositoryId>,
    pub(super) failure: Failure,
}

impl Unasked {
    /// Whether it means this repository, whatever that is called by now.
    pub(super) fn is(&self, id: RepositoryId, present: &RepositoryName) -> bool {
        self.id.map_or(self.name == *present, |own| own == id)
    }
}

/// An entry of `phileas.toml` that the credential does not reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreached {
    /// The name that the file says.
    pub name: RepositoryName,
    /// Why, and how to mend it.
    pub because: String,
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
        Self {
            kind,
            named,
            learnt: Learnt::default(),
            told: Mutex::default(),
        }
    }

    /// The App's own client, where it is one.
    #[must_use]
    pub fn app(&self) -> Option<&AppClient> {
        match &self.kind {
            Kind::App { client, .. } => Some(client),
            Kind::Token(_) => None,
        }
    }

    /// The token's account, where it is one.
    #[must_use]
    pub fn token(&self) -> Option<&Account> {
        match &self.kind {
            Kind::App { .. } => None,
            Kind::Token(account) => Some(account),
        }
    }

    /// The numbers of the repositories that `phileas.toml` names without one, as far as GitHub has told them.
    #[must_use]
    pub fn learnt(&self) -> &Learnt {
        &self.learnt
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
        for entry in &self.named {
            let reached = listing.found.iter();
            let mut reached = reached.filter(|one| self.learnt.means(entry, one.id, &one.name));
            if let Some(one) = reached.next() {
                self.found(entry, one.id);
            } else if listing.unread.is_empty() {
                let because = "the App is not installed on it, or it has another name by now";
                listing.unreached.push(self.missed(entry, because));
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
                Ok(one) if self.learnt.meant_by(entry).is_some_and(|id| id != one.id) => {
                    let because = format!(
                        "it is number {} on GitHub, not the one that is meant; it is left alone",
                        one.id.0
                    );
                    listing.unreached.push(self.missed(entry, &because));
                }
                Ok(one) => {
                    self.found(entry, one.id);
                    listing.found.push(Found {
                        id: one.id,
                        name: one.name,
                        account: account.clone(),
                        installation: 0,
                    });
                }
                Err(failure) if failure.disposition == Disposition::NotFound => {
                    let because =
                        format!("it does not exist, or is hidden from the token: {failure}");
                    listing.unreached.push(self.missed(entry, &because));
                }
                Err(failure) => {
                    tracing::warn!("{} cannot be asked about: {failure}", entry.name);
                    listing.unasked.push(Unasked {
                        name: entry.name.clone(),
                        id: self.learnt.meant_by(entry),
                        failure,
                    });
                }
            }
        }
        listing
    }

    /// Whether a repository that the App reaches is one of those that `phileas.toml` names, if it names any.
    fn wants(&self, reached: &Reached) -> bool {
        self.named.is_empty()
            || self
                .named
                .iter()
                .any(|entry| self.learnt.means(entry, reached.id, &reached.name))
    }

    /// An entry's repository is there.
    fn found(&self, entry: &RepositoryEntry, id: RepositoryId) {
        self.learnt.learn(entry, id);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.remove(&entry.name.to_string());
    }

    /// An entry's repository is not, which is said once.
    fn missed(&self, entry: &RepositoryEntry, because: &str) -> Unreached {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(entry.name.to_string()) {
            tracing::error!("{}, which phileas.toml names: {because}", entry.name);
        }
        Unreached {
            name: entry.name.clone(),
            because: because.to_owned(),
        }
    }
}
