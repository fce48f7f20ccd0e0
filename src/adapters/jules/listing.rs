//! Reads sessions from a listing of a whole account, whose order is not documented.
//!
//! Jules lists the newest sessions first but does not promise so, and another orchestrator was hurt by relying on it.
//! A listing that must reach back only some time stops early as long as all pages were in this order. A listing that
//! must prove an absence always reads to the end. If the limit of pages cuts it off, it claims no more than was read.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::ListingNeed;

use super::account_listing::{AccountListing, Reach, RepositoryListing, day_before};
use super::client::Client;
use super::error::ApiError;
use super::listing_cache::{LONGEST_REST, MAX_KEPT};
use super::query::{PageQuery, PageSize};
use super::recent::lock_mutex;
use super::translate::{self, Repository};
use crate::runtime::ports::Disposition;

/// How many pages, of at most 100 sessions, are read of one listing.
pub const MAX_PAGES: usize = 50;

/// The filter that shows archived sessions, and only those.
const ARCHIVED: &str = "archived = true";

impl Client {
    /// A repository's sessions, as far as needed, from the shared listing if the key's repositories share one.
    pub(super) async fn sessions_of(
        &self,
        repository: &Repository,
        need: &ListingNeed,
        now: Timestamp,
        heard: Option<Duration>,
    ) -> Result<RepositoryListing, ApiError> {
        let Some(cache) = &self.listing_cache else {
            return Ok(self.read_account(need, now).await?.sessions_of(repository));
        };
        let came = self.stopwatch.elapsed();
        let mut cached = cache.listing.lock().await;
        let elapsed = self.stopwatch.elapsed();
        if !cached.is_sufficient(need, cache.written_at(&repository.name), heard, elapsed) {
            // Callers that waited during a failure get the same answer: repeating the call for each would flood
            // Jules.
            if let Some((at, until, error)) = &cached.failed
                && (*at >= came || elapsed < *until)
            {
                return Err(error.after_a_wait(elapsed.saturating_sub(*at)));
            }
            match self.read_account(need, now).await {
                Ok(account) => {
                    cached.failed = None;
                    let listed = account.sessions_of(repository);
                    let cut = account.len() > MAX_KEPT;
                    cached.kept = Some((elapsed, account.keep_newest(MAX_KEPT)));
                    if cut {
                        return Ok(listed);
                    }
                }
                Err(error) => {
                    let at = self.stopwatch.elapsed();
                    let rest = match error.disposition() {
                        Disposition::Retry { after: Some(after) } => after.min(LONGEST_REST),
                        _ => Duration::ZERO,
                    };
                    cached.failed = Some((at, at + rest, error.clone()));
                    return Err(error);
                }
            }
        }
        let Some((begun, account)) = &mut cached.kept else {
            // The listing was stored above, or was already sufficient.
            return Ok(self.read_account(need, now).await?.sessions_of(repository));
        };
        for (at, session) in lock_mutex(&cache.created).iter() {
            if at >= begun {
                account.add_session(session);
            }
        }
        Ok(account.sessions_of(repository))
    }

    /// Lists the account's sessions as far as needed.
    pub(super) async fn read_account(
        &self,
        need: &ListingNeed,
        now: Timestamp,
    ) -> Result<AccountListing, ApiError> {
        let mut account = AccountListing {
            sessions: Vec::new(),
            reach: Reach::All,
            archived: !matches!(need, ListingNeed::Since(_)),
            now,
        };
        // The key's usage is counted over a day, so a listing reaches back at least that far.
        let stop_at = match need {
            ListingNeed::Since(since) => Some(day_before(now).min(*since)),
            ListingNeed::CompleteSince(_) | ListingNeed::Everything => None,
        };
        account.reach = self.walk_pages(&mut account, None, stop_at).await?;
        if account.archived {
            // Read archived sessions second: one that is archived meanwhile is then seen twice instead of never.
            match self.walk_pages(&mut account, Some(ARCHIVED), None).await {
                Ok(second) => account.reach = account.reach.combined_with(second),
                Err(error) if error.is_status(400) => {
                    tracing::warn!("Jules refuses to list archived sessions");
                    account.archived = false;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(account)
    }

    async fn walk_pages(
        &self,
        account: &mut AccountListing,
        filter: Option<&str>,
        stop_at: Option<Timestamp>,
    ) -> Result<Reach, ApiError> {
        let mut order = ListingOrder::default();
        let mut tokens = BTreeSet::new();
        let mut token = String::new();
        let mut size = PageSize::default();
        for _ in 0..MAX_PAGES {
            let query = PageQuery {
                filter,
                page_size: Some(size.get()),
                page_token: (!token.is_empty()).then_some(&token),
            };
            let page = match self.list_sessions(query).await {
                Err(error) if size.shrink_on(&error) => continue,
                page => page?,
            };
            size.grow_back();
            let mut newest = None;
            for mut session in page.sessions {
                let created = translate::created_at(&session);
                order.add_time(created);
                newest = newest.max(created);
                session.archived |= filter.is_some();
                session.drop_patches();
                account.sessions.push(session);
            }
            token = page.next_page_token;
            if token.is_empty() {
                return Ok(Reach::All);
            }
            if let Some(stop_at) = stop_at
                && order.holds
                && newest.is_some_and(|newest| newest < stop_at)
            {
                return Ok(Reach::Since(stop_at));
            }
            if !tokens.insert(token.clone()) {
                tracing::warn!("Jules' listing of sessions repeats its pages");
                return Ok(Reach::Since(account.now));
            }
        }
        tracing::warn!(
            pages = MAX_PAGES,
            "Jules' listing of sessions is longer than the limit"
        );
        // Just after the oldest session, because others of the same instant may be on the next page.
        let oldest = order.oldest.filter(|_| order.holds);
        let reached = oldest.and_then(|at| at.checked_add(SignedDuration::from_nanos(1)).ok());
        Ok(Reach::Since(reached.unwrap_or(account.now)))
    }
}

/// Whether the sessions came newest first.
struct ListingOrder {
    holds: bool,
    oldest: Option<Timestamp>,
}

impl Default for ListingOrder {
    fn default() -> Self {
        Self {
            holds: true,
            oldest: None,
        }
    }
}

impl ListingOrder {
    fn add_time(&mut self, created: Option<Timestamp>) {
        match (created, self.oldest) {
            (Some(created), Some(oldest)) if created > oldest => self.holds = false,
            (Some(created), _) => self.oldest = Some(created),
            (None, _) => self.holds = false,
        }
    }
}
