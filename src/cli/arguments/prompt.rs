//! `prompt`.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};

use super::help::{FOLDER, command_end};
use super::repository::repository_folder;

/// `prompt …`
#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// Print the prompt of a persona or a layer; writes nothing
    ///
    /// Renders the prompt as for a repository without open pull requests, sprint, earlier work and notes on earlier
    /// turns. In a persona's marker, `<…>` stands for values that only a turn has. `phileas session show SESSION --json`
    /// shows the whole prompt of a session.
    #[command(after_help = command_end("phileas prompt render curator", FOLDER))]
    Render(RenderPrompt),
}

/// Arguments of `prompt render`.
#[derive(Debug, Args)]
pub struct RenderPrompt {
    /// A persona's id, or a layer such as `observers`; `layer:observers` where a persona has the same name
    #[arg(value_name = "NAME")]
    pub name: PromptName,
    /// The repository's folder, as on the default branch
    #[arg(default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// The track's name in a persona's prompt
    #[arg(long, default_value = "default", value_name = "NAME")]
    pub track: String,
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
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// The name of a persona or a layer.
#[derive(Debug, Clone)]
pub struct PromptName {
    /// The name, without a prefix.
    pub name: String,
    /// Whether the prefix says that it is a layer.
    pub is_layer: bool,
}

impl FromStr for PromptName {
    type Err = Infallible;

    /// Parses a name, as the steps of a track write it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let layer = text.strip_prefix("layer:");
        Ok(Self {
            name: layer.unwrap_or(text).to_owned(),
            is_layer: layer.is_some(),
        })
    }
}

/// Parses a name and a text.
fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, text)) if !name.is_empty() => Ok((name.to_owned(), text.to_owned())),
        _ => Err("write NAME=TEXT, such as run_mode=bootstrap".to_owned()),
    }
}
