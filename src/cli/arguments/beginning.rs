//! `init`, `deinit` and `labels`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use phileas_domain::model::RepositoryName;

use super::repository::Repository;
use crate::starter::Pin;

/// Where `init` and `deinit` work.
#[derive(Debug, Clone, Args)]
pub struct Where {
    /// The repository's folder: a git work tree
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// The repository, `owner/name`; without it, the one that the remote `origin` names
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// The default branch of a work tree; without it, what `origin` says, else the branch that is checked out
    #[arg(long, value_name = "NAME", conflicts_with = "pull_request")]
    pub default_branch: Option<String>,
    /// Change no folder, open a pull request instead; needs a token
    #[arg(long)]
    pub pull_request: bool,
    /// Ask nothing
    #[arg(long, short)]
    pub yes: bool,
    /// Change nothing, show everything
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// A beginning.
#[derive(Debug, Clone, Args)]
pub struct Init {
    /// Where.
    #[command(flatten)]
    pub place: Where,
    /// The action that the workflow runs, at a commit; without it, the one of this release
    #[arg(long, value_name = "OWNER/NAME@COMMIT")]
    pub action: Option<Pin>,
    /// Let the layers run instead of a cycle of personas: writes `.jlo/` and the workflow
    #[arg(long)]
    pub layers: bool,
}

/// An end.
#[derive(Debug, Clone, Args)]
pub struct Deinit {
    /// Where.
    #[command(flatten)]
    pub place: Where,
    /// Delete the labels, too, as far as nobody has changed them; issues lose them
    #[arg(long)]
    pub labels: bool,
}

/// `labels …`
#[derive(Debug, Subcommand)]
pub enum LabelsCommand {
    /// Create the labels of personas and commands, and mend their colours and descriptions
    Sync {
        /// Delete the labels of personas that are gone; issues lose them
        #[arg(long)]
        prune: bool,
        /// Change nothing, say what would be
        #[arg(long)]
        dry_run: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}
