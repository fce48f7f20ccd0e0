//! The state file to repair, and its earlier versions.

use std::path::Path;

use phileas_domain::model::Oid;
use phileas_domain::state::repair::{EarlierVersion, MAX_EARLIER};
use phileas_domain::state::{STATE_PATH, codec};

use super::file;
use super::ledger_commit::commit_state;
use super::source::{no_ledger_error, required_repository};
use super::state_text::StateText;
use super::written_to::WrittenTo;
use crate::adapters::github;
use crate::cli::arguments::StateSource;
use crate::cli::context::clients;
use crate::cli::exit::CliError;
use crate::runtime::ports::{LEDGER_BRANCH, LedgerRead, ReadGitHub as _};

/// The state file to repair, and the source of its earlier versions.
pub(crate) struct RepairTarget<'a> {
    pub(crate) current: StateText,
    path: Option<&'a Path>,
    pub(crate) github: Option<github::Client>,
    /// Why GitHub cannot be asked, if a repository is named.
    unasked: Option<CliError>,
    head: Option<Oid>,
    /// Something other than a file is in the file's place.
    pub(crate) misplaced: bool,
}

impl<'a> RepairTarget<'a> {
    pub(crate) async fn open_target(
        path: Option<&'a Path>,
        source: &StateSource,
    ) -> Result<Self, CliError> {
        match path {
            Some(path) => Self::of_file(path, source),
            None => Self::of_branch(source).await,
        }
    }

    fn of_file(path: &'a Path, source: &StateSource) -> Result<Self, CliError> {
        let found = file::read_file(path)?;
        // The repository may come from the environment of a workflow; the user asked for the file.
        let (github, unasked) = match source.repo.as_ref().map(clients::github_client) {
            Some(Ok(github)) => (Some(github), None),
            Some(Err(stopped)) => (None, Some(stopped)),
            None => (None, None),
        };
        Ok(Self {
            current: found,
            path: Some(path),
            github,
            unasked,
            head: None,
            misplaced: false,
        })
    }

    async fn of_branch(source: &StateSource) -> Result<Self, CliError> {
        let repository = required_repository(source)?;
        let github = clients::github_client(repository)?;
        let (head, text, misplaced) = match github.observe_repository().await?.ledger {
            LedgerRead::State { head, text } => (head, text, false),
            LedgerRead::Unreadable { head, what } => {
                tracing::warn!("{what}");
                (head, String::new(), true)
            }
            LedgerRead::NoBranch | LedgerRead::NoState { .. } => {
                return Err(no_ledger_error(repository));
            }
        };
        Ok(Self {
            current: StateText {
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

    /// Earlier versions of the file, or why they were not read.
    pub(crate) async fn earlier_versions(&mut self) -> EarlierVersions {
        let (versions, unseen) = match self.read_earlier_versions().await {
            Ok(versions) => (versions, self.unasked.take()),
            Err(stopped) => (Vec::new(), Some(stopped)),
        };
        EarlierVersions {
            versions,
            read_error: unseen,
        }
    }

    /// The versions of the file on the branch, without the one to repair.
    async fn read_earlier_versions(&self) -> Result<Vec<EarlierVersion>, CliError> {
        let Some(github) = &self.github else {
            return Ok(Vec::new());
        };
        if codec::load(&self.current.text).is_ok() {
            return Ok(Vec::new());
        }
        let versions = github
            .file_versions(LEDGER_BRANCH, STATE_PATH, MAX_EARLIER)
            .await?;
        Ok(versions
            .into_iter()
            .filter(|version| version.text != self.current.text)
            .map(|version| EarlierVersion {
                oid: version.oid,
                committed_at: version.committed_at,
                text: version.text,
            })
            .collect())
    }

    /// Writes the proposal. Returns where.
    pub(crate) async fn write(&self, text: String) -> Result<WrittenTo, CliError> {
        if let Some(path) = self.path {
            let kept = file::replace_file(path, &text)?;
            return Ok(WrittenTo::File {
                path: path.to_owned(),
                kept,
            });
        }
        let github = self
            .github
            .as_ref()
            .ok_or_else(|| CliError::fault("there is nowhere to write to"))?;
        let head = commit_state(github, self.head.clone(), "repair the state", text).await?;
        Ok(WrittenTo::Commit(head))
    }
}

/// The earlier versions of a file.
pub(crate) struct EarlierVersions {
    pub(crate) versions: Vec<EarlierVersion>,
    /// Why they were not read, if a repository is named.
    pub(crate) read_error: Option<CliError>,
}
