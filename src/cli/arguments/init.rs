//! `init`, `deinit` and `labels`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use phileas_domain::model::RepositoryName;

use super::help::{ONLINE, command_end};
use super::repository::Repository;
use crate::starter::Pin;

/// The repository that `init` and `deinit` change.
#[derive(Debug, Clone, Args)]
pub struct TargetArguments {
    /// The repository's folder: a git work tree
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// The repository, `owner/name` [default: the one that the remote `origin` names]
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// The default branch of a work tree; without it, what `origin` says, else `main` or `master`, else the only branch
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
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `init`.
#[derive(Debug, Clone, Args)]
pub struct Init {
    /// Which repository.
    #[command(flatten)]
    pub place: TargetArguments,
    /// The action that the workflow runs, at a commit [default: that of this release; a build from source leaves a line to
    /// fill in]
    #[arg(long, value_name = "OWNER/NAME@COMMIT")]
    pub action: Option<Pin>,
    /// Run the layers instead of a cycle of personas: writes `.jlo/` and the workflow
    #[arg(long)]
    pub layers: bool,
}

/// Arguments of `deinit`.
#[derive(Debug, Clone, Args)]
pub struct Deinit {
    /// Which repository.
    #[command(flatten)]
    pub place: TargetArguments,
    /// Delete the unchanged labels, too; issues lose them
    #[arg(long)]
    pub labels: bool,
}

/// `labels …`
#[derive(Debug, Subcommand)]
pub enum LabelsCommand {
    /// Create the labels of personas and commands, and update their colours and descriptions
    #[command(after_help = command_end("phileas labels sync --dry-run --repo acme/widget", ONLINE))]
    Sync {
        /// Delete the labels of removed personas; issues lose them
        #[arg(long)]
        prune: bool,
        /// Change nothing, print the changes
        #[arg(long)]
        dry_run: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}
