//! Arguments that name a repository or its folder.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use phileas_domain::model::RepositoryName;

use crate::cli::context::repository_root::repository_root;

/// Which repository.
#[derive(Debug, Clone, Args)]
pub struct Repository {
    /// The repository, `owner/name`; without it, the one that the remote `origin` names
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: RepositoryName,
    /// Print one JSON document, or one a line, for programs
    #[arg(long)]
    pub json: bool,
}

/// A repository's folder. A folder below its root means the whole repository.
pub(crate) fn repository_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(repository_root)
}
