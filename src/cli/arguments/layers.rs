//! `bootstrap`, `role` and `upgrade`.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};

use super::help::{FOLDER, command_end};
use super::repository::repository_folder;
use crate::starter::Pin;

/// A layer with several roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleLayer {
    /// Layers that observe the repository
    #[value(alias = "observer")]
    Observers,
    /// Layers that propose changes of direction
    #[value(alias = "innovator")]
    Innovators,
}

impl RoleLayer {
    /// Its name in the plan.
    #[must_use]
    pub fn layer_name(self) -> &'static str {
        match self {
            Self::Observers => "observers",
            Self::Innovators => "innovators",
        }
    }
}

/// Names of roles.
#[derive(Debug, Clone)]
pub struct RoleNames(pub Vec<String>);

impl FromStr for RoleNames {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.split(',').map(str::to_owned).collect()))
    }
}

/// Arguments of `bootstrap`.
#[derive(Debug, Clone, Args)]
pub struct Bootstrap {
    /// The repository's folder, as on the default branch: its files override those of phileas
    #[arg(default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// The folder for the files of the branch `jules`
    #[arg(long, value_name = "DIR")]
    pub output: PathBuf,
    /// Change nothing, print the changes
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `upgrade`.
#[derive(Debug, Clone, Args)]
pub struct Upgrade {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// The action that the workflow runs, at a commit; without it, the one of this release
    #[arg(long, value_name = "OWNER/NAME@COMMIT")]
    pub action: Option<Pin>,
    /// The repository, `owner/name` [default: the one that the remote `origin` names]
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<phileas_domain::model::RepositoryName>,
    /// Change no folder, open a pull request instead; needs a token
    #[arg(long)]
    pub pull_request: bool,
    /// Ask nothing
    #[arg(long, short)]
    pub yes: bool,
    /// Change nothing, print the changes
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// The repository whose roles are listed or changed.
#[derive(Debug, Clone, Args)]
pub struct RoleRepository {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// `role …`
#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// List the roles, where their texts come from, and whether they work
    #[command(after_help = command_end("phileas role list --layer observers", FOLDER))]
    List {
        /// Only those of this layer
        #[arg(long)]
        layer: Option<RoleLayer>,
        /// Which repository.
        #[command(flatten)]
        place: RoleRepository,
    },
    /// Add built-in roles, or roles of the repository, to the roster
    #[command(after_help = command_end("phileas role add observers security", FOLDER))]
    Add {
        /// The layer
        layer: RoleLayer,
        /// The role, or several with a comma between them
        #[arg(value_name = "ROLE")]
        roles: RoleNames,
        /// Write their texts into the repository, too, to edit them there
        #[arg(long)]
        copy: bool,
        /// Let a role work in a public repository although its notes may reveal security problems
        #[arg(long)]
        sensitive: bool,
        /// Which repository.
        #[command(flatten)]
        place: RoleRepository,
    },
    /// Create a role of the repository's own, with blanks to fill in; it stays disabled until then
    #[command(after_help = command_end("phileas role create observers colours", FOLDER))]
    Create {
        /// The layer
        layer: RoleLayer,
        /// Its name: letters, digits, `-` and `_`
        role: String,
        /// Which repository.
        #[command(flatten)]
        place: RoleRepository,
    },
    /// Remove a role from the roster, and delete its text if the repository has one
    #[command(after_help = command_end("phileas role delete observers errors", FOLDER))]
    Delete {
        /// The layer
        layer: RoleLayer,
        /// The role
        role: String,
        /// Remove it from the roster only; its text stays
        #[arg(long)]
        keep: bool,
        /// Delete a text that people have written or changed, without a question
        #[arg(long, short)]
        yes: bool,
        /// Which repository.
        #[command(flatten)]
        place: RoleRepository,
    },
}
