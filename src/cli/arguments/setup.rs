//! `setup`.

use std::path::PathBuf;

use clap::Subcommand;

use super::repository::in_repository;

/// `setup …`
#[derive(Debug, Subcommand)]
pub enum SetupCommand {
    /// Write install.sh and the files of variables and secrets from tools.yml; values that are there stay
    Gen {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = in_repository())]
        dir: PathBuf,
        /// Let the value of this variable, which was a secret, go into files that are committed
        #[arg(long, value_name = "NAME")]
        publish: Vec<String>,
        /// Change nothing, say what would be
        #[arg(long)]
        dry_run: bool,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// List the tools that tools.yml may name, those of the repository among them
    List {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = in_repository())]
        dir: PathBuf,
        /// Everything about one tool: what it needs, its variables and its part of the script
        #[arg(long, value_name = "TOOL")]
        detail: Option<String>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
}
