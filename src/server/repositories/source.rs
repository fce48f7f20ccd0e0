//! Lists the repositories of the service: those of an App's installations, or the entries of
//! `phileas.toml`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use phileas_domain::model::{RepositoryId, RepositoryName};

use super::discovered::DiscoveredIds;
use crate::adapters::github::{
    Account, App, AppClient, Credential, Installation, ReachedRepository,
};
use crate::adapters::transport::BoxFuture;
use crate::runtime::ports::{Disposition, Failure};
use crate::server::accounts::app::Identity;
use crate::server::accounts::external_services::ExternalServices;
use crate::server::config::RepositoryEntry;

/// How many installations are listed at a time. Each has limits of its own at GitHub, so this only
/// limits the open connections: a fleet of thousands is not listed one after another.
const AT_A_TIME: usize = 8;

/// How many repositories of a token are read without a pause; each further one waits.
const ASKED_AT_ONCE: usize = 200;
/// The pause between two further ones: 600 a minute, because GitHub allows 900 and ticks send
/// requests, too.
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits>
const BETWEEN: Duration = Duration::from_millis(100);
/// After this many failures in a row the reason is not the repository's own, and the others are
/// skipped. The next listing begins with them.
const MAX_FAILED_IN_A_ROW: usize = 20;

/// The source of the list of repositories.
#[derive(Debug)]
pub struct Source {
    kind: Kind,
    /// The entries of `phileas.toml`; if there are any, of an App's repositories only these count.
    named: Vec<RepositoryEntry>,
    /// The ids of entries without one.
    discovered: DiscoveredIds,
    /// Unreachable repositories that were logged, so that each is logged once.
    reported: Mutex<BTreeSet<String>>,
    /// How many installations or entries the next listing reads last, because this one has read
    /// them.
    first_request: AtomicUsize,
}

#[derive(Debug)]
enum Kind {
    App {
        client: Box<AppClient>,
        app: App,
        /// One account for each installation, kept between listings with its token and its used
        /// limits.
        accounts: Mutex<BTreeMap<u64, Account>>,
    },
    Token(Account),
}

/// A repository that exists.
#[derive(Debug, Clone)]
pub(super) struct FoundRepository {
    pub(super) id: RepositoryId,
    pub(super) name: RepositoryName,
    pub(super) account: Account,
    pub(super) installation: u64,
}

/// The result of a listing.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) repositories: Vec<FoundRepository>,
    /// Installations that could not be listed: what was known of them before still counts.
    pub(super) unread: Vec<u64>,
    /// The failure of the first of them.
    unread_because: Option<Failure>,
    /// Entries of `phileas.toml` that could not be read; what was known of them before still
    /// counts.
    pub(super) unasked: Vec<SkippedEntry>,
    /// Entries of `phileas.toml` that the credential does not reach.
    pub(super) unreached: Vec<UnreachableEntry>,
}

/// An entry of `phileas.toml` that could not be read.
#[derive(Debug, Clone)]
pub(super) struct SkippedEntry {
    pub(super) name: RepositoryName,
    id: Option<RepositoryId>,
    pub(super) failure: Failure,
}

impl SkippedEntry {
    /// Whether it means this repository, also after a rename.
    pub(super) fn is_about(&self, id: RepositoryId, present: &RepositoryName) -> bool {
        self.id.map_or(self.name == *present, |own| own == id)
    }
}

/// An entry of `phileas.toml` that the credential does not reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreachableEntry {
    /// The name in the file.
    pub name: RepositoryName,
    /// The reason, and how to fix it.
    pub because: String,
}

impl Listing {
    /// Whether everything could be read.
    pub(super) fn is_whole(&self) -> bool {
        self.unread.is_empty() && self.unasked.is_empty()
    }
}

/// A running listing.
pub(super) struct ListingProgress<'a> {
    source: &'a Source,
    external: &'a ExternalServices,
    waiting: VecDeque<Installation>,
    requests: FuturesUnordered<BoxFuture<'a, Answered>>,
    listing: Listing,
    failed_in_a_row: usize,
}

/// The repositories of one installation.
struct Answered {
    installation: u64,
    account: Account,
    reached: Result<Vec<ReachedRepository>, Failure>,
}

impl<'a> ListingProgress<'a> {
    /// Returns the repositories of the next installation; `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<&[FoundRepository]> {
        if self.failed_in_a_row >= MAX_FAILED_IN_A_ROW {
            self.leave_the_rest();
        }
        while self.requests.len() < AT_A_TIME
            && let Some(installation) = self.waiting.pop_front()
        {
            if let Some(account) = self.source.installation_account(installation.id) {
                self.requests
                    .push(ask_next(installation, account, self.external));
            }
        }
        let answered = self.requests.next().await?;
        let before = self.listing.repositories.len();
        match answered.reached {
            Ok(reached) => {
                self.failed_in_a_row = 0;
                let wanted = reached.into_iter().filter(|one| self.source.is_wanted(one));
                self.listing
                    .repositories
                    .extend(wanted.map(|one| FoundRepository {
                        id: one.id,
                        name: one.name,
                        account: answered.account.clone(),
                        installation: answered.installation,
                    }));
            }
            Err(failure) => {
                self.failed_in_a_row += 1;
                self.listing.unread.push(answered.installation);
                self.listing.unread_because.get_or_insert(failure);
            }
        }
        Some(&self.listing.repositories[before..])
    }

    /// Skips the remaining installations.
    fn leave_the_rest(&mut self) {
        let asked = self.listing.unread.len() + self.requests.len();
        if !self.waiting.is_empty() {
            self.source
                .first_request
                .fetch_add(asked, Ordering::Relaxed);
        }
        let rest = self.waiting.drain(..).map(|one| one.id);
        self.listing.unread.extend(rest);
    }

    /// Returns the result, after the last installation.
    pub(super) fn into_listing(self) -> Listing {
        let (source, mut listing) = (self.source, self.listing);
        if let (Some(first), Some(failure)) = (listing.unread.first(), &listing.unread_because) {
            tracing::warn!(
                installations = listing.unread.len(),
                "the repositories of an installation ({first}){} cannot be listed: {failure}",
                and_more(listing.unread.len(), "installation")
            );
        }
        if source.app_client().is_none() {
            source.log_unreached(&listing.unreached);
            return listing;
        }
        for entry in &source.named {
            let reached = listing.repositories.iter();
            let mut reached =
                reached.filter(|one| source.discovered.matches_entry(entry, one.id, &one.name));
            if let Some(one) = reached.next() {
                source.record_reached(entry, one.id);
            } else if listing.unread.is_empty() {
                let because = "the App is not installed on it, or it has been renamed";
                listing.unreached.push(unreachable_entry(entry, because));
            }
        }
        source.log_unreached(&listing.unreached);
        listing
    }
}

fn ask_next(
    installation: Installation,
    account: Account,
    outside: &ExternalServices,
) -> BoxFuture<'_, Answered> {
    // A listing is of the whole installation; the name is only for messages.
    let of = RepositoryName {
        owner: installation.account,
        name: "*".to_owned(),
    };
    let client = outside.github_client(of, &account);
    Box::pin(async move {
        Answered {
            installation: installation.id,
            account,
            reached: client.list_reached().await,
        }
    })
}

impl Source {
    /// Creates the source of an identity. Must be called within a Tokio runtime.
    #[must_use]
    pub fn new(
        identity: Identity,
        named: Vec<RepositoryEntry>,
        outside: &ExternalServices,
    ) -> Self {
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
            discovered: DiscoveredIds::default(),
            reported: Mutex::default(),
            first_request: AtomicUsize::new(0),
        }
    }

    /// The App's own client, if the identity is an App.
    #[must_use]
    pub fn app_client(&self) -> Option<&AppClient> {
        match &self.kind {
            Kind::App { client, .. } => Some(client),
            Kind::Token(_) => None,
        }
    }

    /// The ids of entries without one, as far as GitHub has shown them.
    #[must_use]
    pub fn discovered_ids(&self) -> &DiscoveredIds {
        &self.discovered
    }

    /// The entries of `phileas.toml`.
    #[must_use]
    pub fn named_entries(&self) -> &[RepositoryEntry] {
        &self.named
    }

    /// Begins to list all repositories.
    pub(super) async fn begin_listing<'a>(
        &'a self,
        outside: &'a ExternalServices,
    ) -> Result<ListingProgress<'a>, Failure> {
        let mut reading = ListingProgress {
            source: self,
            external: outside,
            waiting: VecDeque::new(),
            requests: FuturesUnordered::new(),
            listing: Listing::default(),
            failed_in_a_row: 0,
        };
        match &self.kind {
            Kind::App {
                client, accounts, ..
            } => {
                let installations = client.list_installations().await?;
                let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
                accounts.retain(|id, _| installations.iter().any(|one| one.id == *id));
                let live = installations.into_iter().filter(|one| !one.suspended);
                reading.waiting = live.collect();
                let count = reading.waiting.len();
                reading.waiting.rotate_left(self.rotate_start(count));
            }
            Kind::Token(account) => reading.listing = self.of_token(account, outside).await,
        }
        Ok(reading)
    }

    /// The account of an installation.
    fn installation_account(&self, installation: u64) -> Option<Account> {
        let Kind::App { app, accounts, .. } = &self.kind else {
            return None;
        };
        let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts
            .entry(installation)
            .or_insert_with(|| Account::for_installation(app.clone(), installation));
        Some(account.clone())
    }

    async fn of_token(&self, account: &Account, outside: &ExternalServices) -> Listing {
        let mut listing = Listing::default();
        let begin = self.rotate_start(self.named.len());
        let (end, first) = self.named.split_at(begin);
        let mut failed_in_a_row = 0;
        let mut left = None;
        for (asked, entry) in first.iter().chain(end).enumerate() {
            if failed_in_a_row >= MAX_FAILED_IN_A_ROW {
                left = Some(asked);
                break;
            }
            if asked >= ASKED_AT_ONCE {
                outside.pause.pause_for(BETWEEN).await;
            }
            let client = outside.github_client(entry.name.clone(), account);
            match client.own_repository().await {
                Ok(one)
                    if self
                        .discovered
                        .resolve_id(entry)
                        .is_some_and(|id| id != one.id) =>
                {
                    let because = format!(
                        "its number on GitHub is {}, another one than in phileas.toml, so phileas ignores it",
                        one.id.0
                    );
                    failed_in_a_row = 0;
                    listing.unreached.push(unreachable_entry(entry, &because));
                }
                Ok(one) => {
                    failed_in_a_row = 0;
                    self.record_reached(entry, one.id);
                    listing.repositories.push(FoundRepository {
                        id: one.id,
                        name: one.name,
                        account: account.clone(),
                        installation: 0,
                    });
                }
                Err(failure) if failure.disposition == Disposition::NotFound => {
                    let because =
                        format!("it does not exist, or is hidden from the token: {failure}");
                    failed_in_a_row = 0;
                    listing.unreached.push(unreachable_entry(entry, &because));
                }
                Err(failure) => {
                    failed_in_a_row += 1;
                    listing.unasked.push(self.skip_entry(entry, failure));
                }
            }
        }
        if let Some(asked) = left {
            self.skip_rest(first.iter().chain(end).skip(asked), asked, &mut listing);
        }
        if let Some(first) = listing.unasked.first() {
            tracing::warn!(
                repositories = listing.unasked.len(),
                "{}{} cannot be read: {}",
                first.name,
                and_more(listing.unasked.len(), "repository"),
                first.failure
            );
        }
        listing
    }

    /// Skips these entries for the same failure as the last one.
    fn skip_rest<'a>(
        &self,
        rest: impl Iterator<Item = &'a RepositoryEntry>,
        asked: usize,
        listing: &mut Listing,
    ) {
        let Some(failure) = listing.unasked.last().map(|last| last.failure.clone()) else {
            return;
        };
        self.first_request.fetch_add(asked, Ordering::Relaxed);
        let rest = rest.map(|entry| self.skip_entry(entry, failure.clone()));
        listing.unasked.extend(rest);
    }

    /// Rotates the start of a listing by the entries that the last one has read.
    fn rotate_start(&self, count: usize) -> usize {
        self.first_request
            .load(Ordering::Relaxed)
            .checked_rem(count)
            .unwrap_or(0)
    }

    fn skip_entry(&self, entry: &RepositoryEntry, failure: Failure) -> SkippedEntry {
        SkippedEntry {
            name: entry.name.clone(),
            id: self.discovered.resolve_id(entry),
            failure,
        }
    }

    /// Whether `phileas.toml` names a repository that the App reaches, or names none at all.
    fn is_wanted(&self, reached: &ReachedRepository) -> bool {
        self.named.is_empty()
            || self.named.iter().any(|entry| {
                self.discovered
                    .matches_entry(entry, reached.id, &reached.name)
            })
    }

    /// Records that an entry's repository exists.
    fn record_reached(&self, entry: &RepositoryEntry, id: RepositoryId) {
        self.discovered.record_id(entry, id);
        let mut told = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        told.remove(&entry.name.to_string());
    }

    /// Logs unreachable entries, each once, all new ones in one line.
    fn log_unreached(&self, unreached: &[UnreachableEntry]) {
        let mut told = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<&UnreachableEntry> = unreached
            .iter()
            .filter(|one| told.insert(one.name.to_string()))
            .collect();
        if let Some(first) = new.first() {
            tracing::error!(
                repositories = new.len(),
                "{}{}, which phileas.toml names: {}",
                first.name,
                and_more(new.len(), "repository"),
                first.because
            );
        }
    }
}

fn unreachable_entry(entry: &RepositoryEntry, because: &str) -> UnreachableEntry {
    UnreachableEntry {
        name: entry.name.clone(),
        because: because.to_owned(),
    }
}

/// Names how many more there are than the first one.
fn and_more(count: usize, noun: &str) -> String {
    match count.saturating_sub(1) {
        0 => String::new(),
        1 => format!(" and 1 more {noun}"),
        more => match noun.strip_suffix('y') {
            Some(stem) => format!(" and {more} more {stem}ies"),
            None => format!(" and {more} more {noun}s"),
        },
    }
}

#[cfg(test)]
mod tests;
