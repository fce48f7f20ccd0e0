//! `state`, `track` and `persona`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use phileas_domain::model::RepositoryName;

use super::help::{FOLDER, LEDGER, command_end};
use super::repository::{Repository, repository_folder};

/// `state …`
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// Print the state file as version 5
    #[command(after_help = command_end("phileas state show --repo acme/widget", LEDGER))]
    Show {
        /// A file; without it, the ledger of the repository is read
        file: Option<PathBuf>,
        /// Which state file.
        #[command(flatten)]
        source: StateSource,
    },
    /// Propose a state from the readable parts of a corrupt one
    #[command(after_help = command_end("phileas state repair --repo acme/widget", LEDGER))]
    Repair {
        /// A file; without it, the ledger of the repository is read
        file: Option<PathBuf>,
        /// Write the proposal; without it, only print it
        #[arg(long)]
        write: bool,
        /// Which state file.
        #[command(flatten)]
        source: StateSource,
    },
    /// Propose a state from Jules' list of sessions
    #[command(after_help = command_end("phileas state rebuild --repo acme/widget", LEDGER))]
    Rebuild {
        /// Write the proposal; without it, only print it
        #[arg(long)]
        write: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}

/// The repository of a state file.
#[derive(Debug, Clone, Args)]
pub struct StateSource {
    /// The repository, `owner/name` [default without a file: the one that the remote `origin` names]
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// `track …`
#[derive(Debug, Subcommand)]
pub enum TrackCommand {
    /// List tracks and schedules, and their status
    #[command(after_help = command_end("phileas track list --repo acme/widget", LEDGER))]
    List(Repository),
    /// Move a track's pointer: the named step runs next
    #[command(after_help = command_end("phileas track set default curator --repo acme/widget", LEDGER))]
    Set {
        /// The track
        name: String,
        /// The index of the next step, from 0, or the id of its persona
        next: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Pause a track; phileas follows its live turn and starts no other
    #[command(after_help = command_end("phileas track pause default --reason 'A release' --repo acme/widget", LEDGER))]
    Pause {
        /// The track
        name: String,
        /// The reason
        #[arg(long)]
        reason: Option<String>,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Resume a paused track
    #[command(after_help = command_end("phileas track resume default --repo acme/widget", LEDGER))]
    Resume {
        /// The track
        name: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}

/// `persona …`
#[derive(Debug, Subcommand)]
pub enum PersonaCommand {
    /// List the personas of a folder
    #[command(after_help = command_end("phileas persona list", FOLDER))]
    List {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
    /// Show each persona with its last outcome, its streak and its results, from the ledger
    #[command(after_help = command_end("phileas persona roster --repo acme/widget", LEDGER))]
    Roster(Repository),
    /// Add a persona with a ready-made prompt, and its entry in the plan; existing files stay
    ///
    /// Without a name it lists the available personas.
    #[command(after_help = command_end("phileas persona add sentinel --schedule manual", FOLDER))]
    Add {
        /// Which persona
        name: Option<String>,
        /// When it runs: a cron expression of five fields, or `manual` [default: the persona's usual schedule]
        #[arg(long, value_name = "CRON", conflicts_with = "cycle")]
        schedule: Option<String>,
        /// Append it to `cycle` instead of giving it a schedule
        #[arg(long)]
        cycle: bool,
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
    /// Print the journal of a persona's last turns, as in its prompt
    ///
    /// Without `--persona` it counts the entries of each persona.
    #[command(after_help = command_end("phileas persona journal --persona curator", FOLDER))]
    Journal {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// The persona, by its id
        #[arg(long, value_name = "ID")]
        persona: Option<String>,
        /// Check the entries instead: frontmatter, dates, names
        #[arg(long)]
        check: bool,
        /// Count warnings as errors
        #[arg(long, requires = "check")]
        strict: bool,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
    /// The same as `prompt render` of a persona
    #[command(hide = true)]
    #[command(after_help = command_end("phileas persona render curator", FOLDER))]
    Render {
        /// The persona's id
        id: String,
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// The repository's name in the prompt
        #[arg(long, default_value = "owner/name", value_name = "OWNER/NAME")]
        repo: RepositoryName,
        /// The track's name in the prompt
        #[arg(long, default_value = "default")]
        track: String,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
}
