//! `doctor`.

use std::path::PathBuf;

use clap::Args;
use phileas_domain::model::RepositoryName;

use super::repository::repository_folder;

/// Arguments of `doctor`.
#[derive(Debug, Clone, Args)]
pub struct Doctor {
    /// The repository, `owner/name` [default: the one that the remote `origin` of the folder names]
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// The folder whose plan and workflows are checked if no repository is named, or GitHub cannot be asked
    #[arg(default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// Make safe changes: create missing labels, enable a workflow that GitHub disabled for inactivity
    #[arg(long)]
    pub fix: bool,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}
