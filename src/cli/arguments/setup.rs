//! `setup`.

use std::path::PathBuf;

use clap::Subcommand;

use super::help::{FOLDER, command_end};
use super::repository::repository_folder;

/// `setup …`
#[derive(Debug, Subcommand)]
pub enum SetupCommand {
    /// Write install.sh and the files of variables and secrets from tools.yml; existing values stay
    #[command(after_help = command_end("phileas setup gen", FOLDER))]
    Gen {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// Allow the value of this variable, which was a secret, in committed files
        #[arg(long, value_name = "NAME")]
        publish: Vec<String>,
        /// Change nothing, print the changes
        #[arg(long)]
        dry_run: bool,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
    /// List the tools that tools.yml can name, including those of the repository
    #[command(after_help = command_end("phileas setup list --detail uv", FOLDER))]
    List {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// Everything about one tool: its dependencies, its variables and its part of the script
        #[arg(long, value_name = "TOOL")]
        detail: Option<String>,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
}
