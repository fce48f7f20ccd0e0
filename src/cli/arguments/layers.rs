//! `bootstrap`, `role` and `upgrade`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::repository::in_repository;
use crate::starter::Pin;

/// A layer with several roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleLayer {
    /// Those who look at the repository
    #[value(alias = "observer")]
    Observers,
    /// Those who propose changes of direction
    #[value(alias = "innovator")]
    Innovators,
}

impl RoleLayer {
    /// Its name as the plan spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Observers => "observers",
            Self::Innovators => "innovators",
        }
    }
}

/// The ledger's tree.
#[derive(Debug, Clone, Args)]
pub struct Bootstrap {
    /// The folder that is to hold what the branch `jules` holds
    pub dir: PathBuf,
    /// The repository's folder, as its default branch is: its files lie over those of phileas
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// Change nothing, show everything
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// A newer version's files.
#[derive(Debug, Clone, Args)]
pub struct Upgrade {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = in_repository())]
    pub dir: PathBuf,
    /// The action that the workflow runs, at a commit; without it, the one of this release
    #[arg(long, value_name = "OWNER/NAME@COMMIT")]
    pub action: Option<Pin>,
    /// The repository, `owner/name`; without it, the one that the remote `origin` names
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<phileas_domain::model::RepositoryName>,
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

/// Where roles are looked after.
#[derive(Debug, Clone, Args)]
pub struct RolePlace {
    /// The repository's folder
    #[arg(long, default_value = ".", value_parser = in_repository())]
    pub dir: PathBuf,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `role …`
#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// List the roles that there are, and whether they work
    List {
        /// Only those of this layer
        layer: Option<RoleLayer>,
        /// Where.
        #[command(flatten)]
        place: RolePlace,
    },
    /// Put roles of the catalogue, or of the repository, on the roster
    Add {
        /// The layer
        layer: RoleLayer,
        /// The roles
        #[arg(required = true)]
        roles: Vec<String>,
        /// Write their texts into the repository, too, to be changed there
        #[arg(long)]
        copy: bool,
        /// Let a role work in a public repository that writes down what strangers should not know
        #[arg(long)]
        sensitive: bool,
        /// Where.
        #[command(flatten)]
        place: RolePlace,
    },
    /// Begin a role of the repository's own, with blanks to fill in; it is turned off until then
    Create {
        /// The layer
        layer: RoleLayer,
        /// Its name: letters, digits, `-` and `_`
        role: String,
        /// Where.
        #[command(flatten)]
        place: RolePlace,
    },
    /// Take a role off the roster, and delete its text where the repository has one
    Delete {
        /// The layer
        layer: RoleLayer,
        /// The role
        role: String,
        /// Take it off the roster alone; its text stays
        #[arg(long)]
        keep: bool,
        /// Delete a text that people have written or changed without asking
        #[arg(long, short)]
        yes: bool,
        /// Where.
        #[command(flatten)]
        place: RolePlace,
    },
}
