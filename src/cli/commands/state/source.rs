//! Reads a state file from this machine, or from the ledger branch.

use std::path::Path;

use phileas_domain::engine::{Reason, RunRequest, plain_text};
use phileas_domain::model::RepositoryName;
use phileas_domain::state::STATE_PATH;

use super::file;
use super::state_text::StateText;
use crate::cli::arguments::StateSource;
use crate::cli::context::clients::{self, Connection};
use crate::cli::context::credentials;
use crate::cli::context::worktree::WorkTree;
use crate::cli::exit::CliError;
use crate::runtime::EditError;
use crate::runtime::ports::{LedgerRead, ReadGitHub as _};

/// Reads the state file that the arguments name.
pub(crate) async fn read_state_text(
    file: Option<&Path>,
    source: &StateSource,
) -> Result<StateText, CliError> {
    if let Some(path) = file {
        return file::read_file(path);
    }
    let repository = required_repository(source)?;
    let github = clients::github_client(repository)?;
    match github.observe_repository().await?.ledger {
        LedgerRead::State { text, .. } => Ok(StateText {
            place: format!("{repository}, branch jules, {STATE_PATH}"),
            text,
        }),
        LedgerRead::Unreadable { what, .. } => Err(CliError::corrupt(what)),
        LedgerRead::NoBranch | LedgerRead::NoState { .. } => {
            Err(missing_ledger_error(repository).await)
        }
    }
}

/// The source with its repository: without a file, the one that the folder was cloned from.
pub(super) fn with_repository(
    file: Option<&Path>,
    source: &StateSource,
) -> Result<StateSource, CliError> {
    let mut source = source.clone();
    if file.is_none() && source.repo.is_none() {
        source.repo = WorkTree::cloned_repository(Path::new("."))?;
    }
    Ok(source)
}

pub(crate) fn required_repository(source: &StateSource) -> Result<&RepositoryName, CliError> {
    source.repo.as_ref().ok_or_else(|| {
        CliError::usage(
            "name a state file, or a repository by --repo OWNER/NAME, or run this in a clone of it, whose remote `origin` \
             names it",
        )
    })
}

pub(crate) fn no_ledger_error(repository: &RepositoryName) -> CliError {
    EditError::NoLedger(repository.clone()).into()
}

/// The error for a missing ledger. A lost one is told apart from one that never was, where Jules can be asked: only its
/// list of sessions shows that.
pub(super) async fn missing_ledger_error(repository: &RepositoryName) -> CliError {
    match lost_ledger(repository).await {
        Ok(Some(sentence)) => CliError::corrupt(format!("{repository}: {sentence}")),
        // Without a Jules key, or without an answer, the file is missing all the same.
        Ok(None) | Err(_) => no_ledger_error(repository),
    }
}

/// What `phileas explain` says of a ledger that is gone.
async fn lost_ledger(repository: &RepositoryName) -> Result<Option<String>, CliError> {
    if !credentials::has_jules_key() {
        return Ok(None);
    }
    let connection = Connection::from_environment(repository)?;
    let (report, _) = connection.explain(RunRequest::Due).await?;
    let mut lines = report.waiting.iter().map(|(_, line)| line);
    let lost = lines.find(|line| line.reason == Reason::LedgerRolledBack);
    Ok(lost.map(|line| format!("{} ({})", plain_text(&line.detail), line.reason)))
}
