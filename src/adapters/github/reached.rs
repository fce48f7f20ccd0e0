//! Which repositories a credential reaches.

use phileas_domain::model::{RepositoryId, RepositoryName};
use serde::Deserialize;

use super::request::success;
use super::{Client, error, routes};
use crate::runtime::ports::{Disposition, Failure};

/// The most pages of 100 repositories that are read of one installation.
pub(super) const MAX_PAGES: usize = 200;
/// The largest page that GitHub gives.
pub(super) const PAGE: usize = 100;

/// A repository as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// GitHub's number of it.
    pub id: RepositoryId,
    /// Its present name.
    pub name: RepositoryName,
    /// Whether nothing can be written to it.
    pub archived: bool,
    /// Whether the token may push to it, where GitHub says so.
    pub push: Option<bool>,
}

#[derive(Deserialize)]
struct Page {
    repositories: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
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
    /// The repositories that the installation of this client's account reaches, in GitHub's order. Those whose name is
    /// not one are left out.
    ///
    /// # Errors
    ///
    /// When they cannot all be read: part of them would look as if the others had been taken away.
    pub async fn reached(&self) -> Result<Vec<Reached>, Failure> {
        let route = routes::LIST_REACHED;
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page={PAGE}&page={page}");
            let answer = success(route, self.read(route, &[], &query).await?)?;
            let page: Page = self.parse(route, &answer)?;
            let last = page.repositories.len() < PAGE;
            all.extend(page.repositories.into_iter().filter_map(Shown::reached));
            if last {
                return Ok(all);
            }
        }
        let said = format!("more than {} repositories", MAX_PAGES * PAGE);
        Err(error::plain(route, &said, Disposition::Refused))
    }

    /// This client's own repository.
    ///
    /// # Errors
    ///
    /// When it cannot be read; [`Disposition::NotFound`] when it does not exist or is hidden from the token.
    pub async fn own_repository(&self) -> Result<Reached, Failure> {
        let route = routes::READ_REPOSITORY;
        let answer = success(route, self.read(route, &[], "").await?)?;
        let shown: Shown = self.parse(route, &answer)?;
        let reached = shown.reached().ok_or_else(|| {
            let said = "the repository's name is not `owner/name`";
            error::told(route, &answer, Disposition::Refused, said)
        })?;
        self.place.learn(reached.id, &reached.name);
        Ok(reached)
    }
}

impl Shown {
    fn reached(self) -> Option<Reached> {
        Some(Reached {
            id: RepositoryId(self.id),
            name: self.full_name.parse().ok()?,
            archived: self.archived,
            push: self.permissions.and_then(|permissions| permissions.push),
        })
    }
}
