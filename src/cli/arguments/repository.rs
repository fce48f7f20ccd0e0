//! Arguments that name a repository or its folder.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use phileas_domain::model::RepositoryName;

use crate::cli::context::repository_root::{ledger_root, repository_root};

/// Which repository.
#[derive(Debug, Clone, Args)]
pub struct Repository {
    /// The repository, `owner/name` [default: the one that the remote `origin` names]
    // `parse` reads the default, because it needs the folder.
    #[arg(
        long,
        env = "GITHUB_REPOSITORY",
        value_name = "OWNER/NAME",
        required = false
    )]
    pub repo: RepositoryName,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// A repository's folder. A folder below its root means the whole repository.
pub(crate) fn repository_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(repository_root)
}

/// A checkout of the ledger. A folder below its root means the whole checkout.
pub(crate) fn ledger_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(ledger_root)
}
