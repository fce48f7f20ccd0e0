//! Lists the repositories that a credential can access.

use std::collections::{BTreeMap, BTreeSet};

use phileas_domain::model::{RepositoryId, RepositoryName};
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::{error, routes};
use crate::runtime::ports::{Disposition, Failure};

/// The most pages of 100 repositories that are read of one installation.
pub(crate) const MAX_PAGES: usize = 200;
/// The largest page that GitHub gives.
pub(crate) const PAGE: usize = 100;

/// How often a listing is read again that changed while its pages were read.
pub(crate) const MAX_READINGS: u32 = 3;

/// A repository, as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedRepository {
    /// Its id on GitHub.
    pub id: RepositoryId,
    /// Its present name.
    pub name: RepositoryName,
    /// Whether it is archived, and so read-only.
    pub archived: bool,
    /// Whether the token may push to it, if GitHub says so.
    pub push: Option<bool>,
}

#[derive(Deserialize)]
struct Page {
    /// The number of repositories on all pages.
    total_count: Option<usize>,
    repositories: Vec<ListedRepository>,
}

#[derive(Deserialize)]
struct ListedRepository {
    id: u64,
    full_name: String,
    #[serde(default)]
    archived: bool,
    permissions: Option<Permissions>,
}

#[derive(Deserialize)]
struct Permissions {
    push: Option<bool>,
}

impl Client {
    /// The repositories that this client's installation can access, in GitHub's order. Entries with an unusable name
    /// are left out.
    ///
    /// When a repository disappears while pages are read, later ones move up and one of them appears on no page. All
    /// pages are read again if GitHub's total differs between pages, or from the number of repositories read.
    ///
    /// # Errors
    ///
    /// When they cannot all be read: a partial list would look as if the others had been removed.
    pub async fn list_reached(&self) -> Result<Vec<ReachedRepository>, Failure> {
        for _ in 0..MAX_READINGS {
            if let Some(all) = self.reached_once().await? {
                return Ok(all);
            }
        }
        let said = "the list of repositories changes while it is read";
        let again = Disposition::Retry { after: None };
        Err(error::local_failure(routes::LIST_REACHED, said, again))
    }

    /// Reads all pages once; `None`: the list changed meanwhile.
    async fn reached_once(&self) -> Result<Option<Vec<ReachedRepository>>, Failure> {
        let route = routes::LIST_REACHED;
        let mut all = BTreeMap::new();
        let mut counts = BTreeSet::new();
        let mut order = Vec::new();
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page={PAGE}&page={page}");
            let answer = require_success(route, self.read_route(route, &[], &query).await?)?;
            let page: Page = self.parse(route, &answer)?;
            let last = page.repositories.len() < PAGE;
            counts.extend(page.total_count);
            for shown in page.repositories {
                let id = shown.id;
                if all.insert(id, shown.into_reached()).is_none() {
                    order.push(id);
                }
            }
            if last {
                let whole =
                    counts.len() < 2 && counts.first().is_none_or(|count| *count == all.len());
                let found = order.iter().filter_map(|id| all.remove(id)?);
                return Ok(whole.then(|| found.collect()));
            }
        }
        let said = format!("more than {} repositories", MAX_PAGES * PAGE);
        Err(error::local_failure(route, &said, Disposition::Refused))
    }

    /// This client's own repository.
    ///
    /// # Errors
    ///
    /// When it cannot be read; [`Disposition::NotFound`] when it does not exist or is hidden from the token.
    pub async fn own_repository(&self) -> Result<ReachedRepository, Failure> {
        let route = routes::READ_REPOSITORY;
        let answer = require_success(route, self.read_route(route, &[], "").await?)?;
        let shown: ListedRepository = self.parse(route, &answer)?;
        let reached = shown.into_reached().ok_or_else(|| {
            let said = "the repository's name is not `owner/name`";
            error::failure_saying(route, &answer, Disposition::Refused, said)
        })?;
        self.confirm_identity(route, &answer, reached.id, &reached.name)?;
        Ok(reached)
    }
}

impl ListedRepository {
    fn into_reached(self) -> Option<ReachedRepository> {
        Some(ReachedRepository {
            id: RepositoryId(self.id),
            name: self.full_name.parse().ok()?,
            archived: self.archived,
            push: self.permissions.and_then(|permissions| permissions.push),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{Outcome, json, set};

    /// A page with the repositories of these numbers.
    fn page(total: usize, ids: impl IntoIterator<Item = usize>) -> Outcome {
        let shown = ids
            .into_iter()
            .map(|id| value!({ "id": id, "full_name": format!("acme/r{id}") }));
        let shown: Vec<_> = shown.collect();
        json(
            200,
            &value!({ "total_count": total, "repositories": shown }),
        )
    }

    #[tokio::test]
    async fn a_listing_that_shifts_under_its_pages_is_read_again() {
        let set = set([
            page(150, 1..=100),
            // The first one has gone: 101 has moved to the first page.
            page(149, 102..=150),
            page(149, 2..=101),
            page(149, 102..=150),
        ]);
        let reached = set.client.list_reached().await.unwrap();
        let ids: Vec<u64> = reached.iter().map(|one| one.id.0).collect();
        assert_eq!(ids, (2..=150).collect::<Vec<u64>>());
        assert!(set.script.is_used_up());
    }

    #[tokio::test]
    async fn a_listing_that_never_holds_still_is_a_failure() {
        let set = set((0..MAX_READINGS).map(|_| page(3, 1..=2)));
        let failure = set.client.list_reached().await.unwrap_err();
        assert_eq!(failure.disposition, Disposition::Retry { after: None });
    }
}
