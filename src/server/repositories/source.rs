//! Where the list of repositories comes from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use phileas_domain::model::{RepositoryId, RepositoryName};

use super::super::app::Identity;
use super::super::config::RepositoryEntry;
use super::super::outside::Outside;
use super::Learnt;
use crate::adapters::github::{Account, App, AppClient, Credential, Installation, Reached};
use crate::adapters::transport::BoxFuture;
use crate::runtime::ports::{Disposition, Failure};

/// How many installations are listed at a time. Each has limits of its own at GitHub, so that this bounds only how many
/// connections are open: a fleet of thousands is not listed one after another.
const AT_A_TIME: usize = 8;

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

/// A listing under way.
pub(super) struct Reading<'a> {
    source: &'a Source,
    outside: &'a Outside,
    waiting: VecDeque<Installation>,
    asked: FuturesUnordered<BoxFuture<'a, Answered>>,
    listing: Listing,
}

/// What an installation reaches.
struct Answered {
    installation: u64,
    account: Account,
    reached: Result<Vec<Reached>, Failure>,
}

impl<'a> Reading<'a> {
    /// What was found of one more installation; `None`: all have been asked.
    pub(super) async fn next(&mut self) -> Option<&[Found]> {
        while self.asked.len() < AT_A_TIME
            && let Some(installation) = self.waiting.pop_front()
        {
            if let Some(account) = self.source.account(installation.id) {
                self.asked.push(ask(installation, account, self.outside));
            }
        }
        let answered = self.asked.next().await?;
        let before = self.listing.found.len();
        match answered.reached {
            Ok(reached) => {
                let wanted = reached.into_iter().filter(|one| self.source.wants(one));
                self.listing.found.extend(wanted.map(|one| Found {
                    id: one.id,
                    name: one.name,
                    account: answered.account.clone(),
                    installation: answered.installation,
                }));
            }
            Err(failure) => {
                tracing::warn!(
                    installation = answered.installation,
                    "an installation's repositories cannot be listed: {failure}"
                );
                self.listing.unread.push(answered.installation);
            }
        }
        Some(&self.listing.found[before..])
    }

    /// The listing, when all have been asked.
    pub(super) fn whole(self) -> Listing {
        let (source, mut listing) = (self.source, self.listing);
        if source.app().is_none() {
            return listing;
        }
        for entry in &source.named {
            let reached = listing.found.iter();
            let mut reached = reached.filter(|one| source.learnt.means(entry, one.id, &one.name));
            if let Some(one) = reached.next() {
                source.found(entry, one.id);
            } else if listing.unread.is_empty() {
                let because = "the App is not installed on it, or it has another name by now";
                listing.unreached.push(source.missed(entry, because));
            }
        }
        listing
    }
}

fn ask(installation: Installation, account: Account, outside: &Outside) -> BoxFuture<'_, Answered> {
    // A listing is of the installation; the name only stands in messages.
    let of = RepositoryName {
        owner: installation.account,
        name: "*".to_owned(),
    };
    let client = outside.client(of, &account);
    Box::pin(async move {
        Answered {
            installation: installation.id,
            account,
            reached: client.reached().await,
        }
    })
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

    /// Begins to list all repositories.
    pub(super) async fn list<'a>(&'a self, outside: &'a Outside) -> Result<Reading<'a>, Failure> {
        let mut reading = Reading {
            source: self,
            outside,
            waiting: VecDeque::new(),
            asked: FuturesUnordered::new(),
            listing: Listing::default(),
        };
        match &self.kind {
            Kind::App {
                client, accounts, ..
            } => {
                let installations = client.installations().await?;
                let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
                accounts.retain(|id, _| installations.iter().any(|one| one.id == *id));
                let live = installations.into_iter().filter(|one| !one.suspended);
                reading.waiting = live.collect();
            }
            Kind::Token(account) => reading.listing = self.of_token(account, outside).await,
        }
        Ok(reading)
    }

    /// The account of an installation.
    fn account(&self, installation: u64) -> Option<Account> {
        let Kind::App { app, accounts, .. } = &self.kind else {
            return None;
        };
        let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts
            .entry(installation)
            .or_insert_with(|| Account::of_installation(app.clone(), installation));
        Some(account.clone())
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
