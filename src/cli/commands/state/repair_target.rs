//! The state file to repair, and its earlier versions.

use std::path::Path;

use phileas_domain::model::Oid;
use phileas_domain::state::repair::{EarlierVersion, MAX_EARLIER};
use phileas_domain::state::{STATE_PATH, codec};

use super::file;
use super::ledger_commit::commit;
use super::source::{no_ledger, wanted};
use super::state_text::Found;
use super::written::Written;
use crate::adapters::github;
use crate::cli::arguments::StateSource;
use crate::cli::context::clients;
use crate::cli::exit::Stopped;
use crate::runtime::ports::{LEDGER_BRANCH, LedgerRead, ReadGitHub as _};

/// What is to be mended, and where earlier versions of it are.
pub(crate) struct Target<'a> {
    pub(crate) found: Found,
    path: Option<&'a Path>,
    pub(crate) github: Option<github::Client>,
    /// Why GitHub cannot be asked, where a repository was named.
    unasked: Option<Stopped>,
    head: Option<Oid>,
    /// Something else than a file stands in the file's place.
    pub(crate) misplaced: bool,
}

impl<'a> Target<'a> {
    pub(crate) async fn of(path: Option<&'a Path>, source: &StateSource) -> Result<Self, Stopped> {
        match path {
            Some(path) => Self::of_file(path, source),
            None => Self::of_branch(source).await,
        }
    }

    fn of_file(path: &'a Path, source: &StateSource) -> Result<Self, Stopped> {
        let found = file::read(path)?;
        // The repository may have come from the environment of a workflow; the file is what was asked for.
        let (github, unasked) = match source.repo.as_ref().map(clients::github) {
            Some(Ok(github)) => (Some(github), None),
            Some(Err(stopped)) => (None, Some(stopped)),
            None => (None, None),
        };
        Ok(Self {
            found,
            path: Some(path),
            github,
            unasked,
            head: None,
            misplaced: false,
        })
    }

    async fn of_branch(source: &StateSource) -> Result<Self, Stopped> {
        let repository = wanted(source)?;
        let github = clients::github(repository)?;
        let (head, text, misplaced) = match github.observe().await?.ledger {
            LedgerRead::State { head, text } => (head, text, false),
            LedgerRead::Unreadable { head, what } => {
                tracing::warn!("{what}");
                (head, String::new(), true)
            }
            LedgerRead::NoBranch | LedgerRead::NoState { .. } => return Err(no_ledger(repository)),
        };
        Ok(Self {
            found: Found {
                place: format!("{repository}, branch {LEDGER_BRANCH}, {STATE_PATH}"),
                text,
            },
            path: None,
            github: Some(github),
            unasked: None,
            head: Some(head),
            misplaced,
        })
    }

    /// Earlier versions of the file, or why they were not looked at.
    pub(crate) async fn past(&mut self) -> Past {
        let (versions, unseen) = match self.earlier().await {
            Ok(versions) => (versions, self.unasked.take()),
            Err(stopped) => (Vec::new(), Some(stopped)),
        };
        Past { versions, unseen }
    }

    /// The versions of the file that the branch holds, without the one that is to be mended.
    async fn earlier(&self) -> Result<Vec<EarlierVersion>, Stopped> {
        let Some(github) = &self.github else {
            return Ok(Vec::new());
        };
        if codec::load(&self.found.text).is_ok() {
            return Ok(Vec::new());
        }
        let versions = github
            .file_versions(LEDGER_BRANCH, STATE_PATH, MAX_EARLIER)
            .await?;
        Ok(versions
            .into_iter()
            .filter(|version| version.text != self.found.text)
            .map(|version| EarlierVersion {
                oid: version.oid,
                committed_at: version.committed_at,
                text: version.text,
            })
            .collect())
    }

    /// Writes the proposal and says where.
    pub(crate) async fn write(&self, text: String) -> Result<Written, Stopped> {
        if let Some(path) = self.path {
            let kept = file::replace(path, &text)?;
            return Ok(Written::File {
                path: path.to_owned(),
                kept,
            });
        }
        let github = self
            .github
            .as_ref()
            .ok_or_else(|| Stopped::fault("there is nowhere to write to"))?;
        let head = commit(github, self.head.clone(), "repair the state", text).await?;
        Ok(Written::Commit(head))
    }
}

/// The earlier versions of a file.
pub(crate) struct Past {
    pub(crate) versions: Vec<EarlierVersion>,
    /// Why they were not looked at, where a repository was named.
    pub(crate) unseen: Option<Stopped>,
}
