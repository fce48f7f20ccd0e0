//! Where a state file is read from: a file of this machine, or the ledger branch.

use std::path::Path;

use phileas_domain::model::RepositoryName;
use phileas_domain::state::STATE_PATH;

use super::file;
use super::state_text::Found;
use crate::cli::arguments::StateSource;
use crate::cli::context::clients;
use crate::cli::exit::Stopped;
use crate::runtime::ports::{LedgerRead, ReadGitHub as _};

/// The state file that was asked for.
pub(crate) async fn read(file: Option<&Path>, source: &StateSource) -> Result<Found, Stopped> {
    if let Some(path) = file {
        return file::read(path);
    }
    let repository = wanted(source)?;
    let github = clients::github(repository)?;
    match github.observe().await?.ledger {
        LedgerRead::State { text, .. } => Ok(Found {
            place: format!("{repository}, branch jules, {STATE_PATH}"),
            text,
        }),
        LedgerRead::Unreadable { what, .. } => Err(Stopped::corrupt(what)),
        LedgerRead::NoBranch | LedgerRead::NoState { .. } => Err(no_ledger(repository)),
    }
}

pub(crate) fn wanted(source: &StateSource) -> Result<&RepositoryName, Stopped> {
    source
        .repo
        .as_ref()
        .ok_or_else(|| Stopped::usage("name a state file, or a repository by --repo OWNER/NAME"))
}

pub(crate) fn no_ledger(repository: &RepositoryName) -> Stopped {
    Stopped::usage(format!(
        "{repository} has no ledger yet (no {STATE_PATH} on the branch jules); it is born with the first tick"
    ))
}
