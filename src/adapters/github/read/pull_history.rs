//! Reads the pull requests that Jules has opened in a repository, a page at a time.

use phileas_domain::work::PastPull;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::PULL_HISTORY;
use crate::adapters::github::http::error::is_too_slow;
use crate::adapters::github::wire::pull_history::{ListedPull, Repository};
use crate::runtime::ports::Failure;

/// How many pull requests a page holds: as many as GitHub allows.
pub(crate) const HISTORY_PAGE: usize = 100;
/// How many it holds where GitHub does not answer in time.
const SMALL_PAGE: usize = 20;

/// A page of the listing, the oldest first.
#[derive(Debug)]
pub(crate) struct HistoryPage {
    /// Those that Jules' bot opened.
    pub(crate) pulls: Vec<PastPull>,
    /// How many a person opened from a branch that Jules has named.
    pub(crate) by_people: usize,
    /// How many the page shows, by any author.
    pub(crate) seen: usize,
    /// Where the next page begins, if there is one.
    pub(crate) next: Option<String>,
}

impl Client {
    /// The page behind a cursor. `size` becomes smaller where GitHub does not answer in time, and should be kept for the
    /// next page.
    pub(crate) async fn pull_history_page(
        &self,
        after: Option<&str>,
        size: &mut usize,
    ) -> Result<HistoryPage, Failure> {
        let mut reply = self.history_query(after, *size).await;
        if *size > SMALL_PAGE && reply.as_ref().is_err_and(is_too_slow) {
            *size = SMALL_PAGE;
            reply = self.history_query(after, *size).await;
        }
        let found = reply?;
        let next = found.pull_requests.next();
        let listed: Vec<ListedPull> = found.pull_requests.into_iter().collect();
        Ok(HistoryPage {
            seen: listed.len(),
            by_people: listed.iter().filter(|pull| pull.looks_like_jules()).count(),
            pulls: listed
                .into_iter()
                .filter(ListedPull::is_of_jules)
                .map(PastPull::from)
                .collect(),
            next,
        })
    }

    async fn history_query(&self, after: Option<&str>, size: usize) -> Result<Repository, Failure> {
        let mut variables = self.repository_variables();
        variables["first"] = size.into();
        variables["after"] = after.into();
        self.query_repository("PullHistory", PULL_HISTORY, &variables, |_| false)
            .await
    }
}
