//! `prompt`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::repository::repository_folder;

/// `prompt …`
#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// Print the prompt of a layer; writes nothing
    Render(RenderPrompt),
}

/// Arguments of `prompt render`.
#[derive(Debug, Args)]
pub struct RenderPrompt {
    /// The layer, such as `observers`
    pub layer: String,
    /// The repository's folder, as on the default branch
    #[arg(long, default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// A folder with the files of the branch `jules` [default: the repository's folder]
    #[arg(long, value_name = "DIR")]
    pub ledger: Option<PathBuf>,
    /// The role, in layers that have several; the same as `--set role=NAME`
    #[arg(long, value_name = "NAME")]
    pub role: Option<String>,
    /// A task of the layer, such as `bugs` of the implementer
    #[arg(long, value_name = "NAME")]
    pub task: Option<String>,
    /// The work item of a planner or an implementer, by its path in the ledger
    #[arg(long, value_name = "PATH")]
    pub item: Option<String>,
    /// The workstream, if the ledger has several
    #[arg(long, value_name = "NAME", default_value = phileas_domain::exchange::FLAT_STREAM)]
    pub stream: String,
    /// The repository's name in the prompt
    #[arg(
        long,
        env = "GITHUB_REPOSITORY",
        default_value = "owner/name",
        value_name = "OWNER/NAME"
    )]
    pub repo: phileas_domain::model::RepositoryName,
    /// A value that the template may use; may be given several times
    #[arg(long, value_name = "NAME=TEXT", value_parser = parse_pair)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Parses a name and a text.
fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, text)) if !name.is_empty() => Ok((name.to_owned(), text.to_owned())),
        _ => Err("write NAME=TEXT, such as run_mode=bootstrap".to_owned()),
    }
}
