//! `phileas state`: the ledger's state file, looked at and mended.

mod file;
mod rebuild;
mod repair;
mod show;
mod written;

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::model::{Oid, RepositoryName};
use phileas_domain::state::{STATE_PATH, codec};

use crate::adapters::github;
use crate::cli::arguments::{StateCommand, StateSource};
use crate::cli::context::clients;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::{self, Screen};
use crate::runtime::ports::{Commit, CommitError, LedgerRead, ReadGitHub as _, WriteGitHub as _};
use crate::runtime::signed;

pub(crate) async fn run(
    command: &StateCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        StateCommand::Show { file, source } => show::run(file.as_deref(), source, screen).await,
        StateCommand::Repair {
            file,
            write,
            source,
        } => repair::run(file.as_deref(), *write, source, screen).await,
        StateCommand::Rebuild { write, repository } => {
            rebuild::run(*write, repository, screen).await
        }
    }
}

/// A state file that was read.
pub(crate) struct Found {
    /// What people call it.
    place: String,
    text: String,
}

/// The state file that was asked for.
async fn read(file: Option<&Path>, source: &StateSource) -> Result<Found, Stopped> {
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

fn wanted(source: &StateSource) -> Result<&RepositoryName, Stopped> {
    source
        .repo
        .as_ref()
        .ok_or_else(|| Stopped::usage("name a state file, or a repository by --repo OWNER/NAME"))
}

fn no_ledger(repository: &RepositoryName) -> Stopped {
    Stopped::usage(format!(
        "{repository} has no ledger yet (no {STATE_PATH} on the branch jules); it is born with the first tick"
    ))
}

/// Whether a file was written by a newer program. Nothing is wrong with it then, and nothing is to be mended.
fn is_newer(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_newer_format)
}

/// What a newer phileas wrote is nothing to mend for this one.
fn newer(place: &str) -> Stopped {
    Stopped::corrupt(format!(
        "{place} was written by a newer phileas, so it is left as it is and nothing is proposed; upgrade this one \
         ({})",
        env!("CARGO_PKG_VERSION")
    ))
}

/// Everything that is wrong with a file goes to standard error, each with its place. What helps is said by the command,
/// which knows more of it than the file does.
fn tell(found: &Found, diagnostics: &[Diagnostic]) -> Result<(), Stopped> {
    for one in diagnostics {
        let named = Diagnostic {
            file: found.place.clone(),
            mend: if one.mend == codec::MEND_BY_REPAIR {
                String::new()
            } else {
                one.mend.clone()
            },
            ..one.clone()
        };
        output::beside(&named.to_string())?;
    }
    Ok(())
}

/// Commits files to the ledger branch by compare-and-swap. Answers with the new head.
async fn commit(
    github: &github::Client,
    base: Option<Oid>,
    headline: &str,
    text: String,
) -> Result<Oid, Stopped> {
    let commit = Commit {
        base,
        headline: format!("phileas: {headline}"),
        body: signed(&clients::this_run()?),
        files: [(STATE_PATH.to_owned(), Some(text))].into(),
    };
    match github.commit(&commit).await {
        Ok(head) => Ok(head),
        Err(CommitError::Stale) => Err(Stopped {
            exit: Exit::Unavailable,
            message: "the branch jules moved meanwhile, so nothing was written; run it again"
                .to_owned(),
        }),
        Err(CommitError::Failed(failure)) => Err(failure.into()),
    }
}
