//! `state`, `track` and `persona`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use phileas_domain::model::RepositoryName;

use super::repository::{Repository, in_repository};

/// `state …`
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// Print the state file as version 5
    Show {
        /// A file; without it, the ledger of `--repo` is read
        file: Option<PathBuf>,
        /// Where it comes from.
        #[command(flatten)]
        source: StateSource,
    },
    /// Propose a state from what can be saved of a corrupt one
    Repair {
        /// A file; without it, the ledger of `--repo` is read
        file: Option<PathBuf>,
        /// Write the proposal; without it, it is only shown
        #[arg(long)]
        write: bool,
        /// Where it comes from.
        #[command(flatten)]
        source: StateSource,
    },
    /// Propose a state from Jules' own list of sessions
    Rebuild {
        /// Write the proposal; without it, it is only shown
        #[arg(long)]
        write: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}

/// Where a state file comes from.
#[derive(Debug, Clone, Args)]
pub struct StateSource {
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// Print JSON only
    #[arg(long)]
    pub json: bool,
}

/// `track …`
#[derive(Debug, Subcommand)]
pub enum TrackCommand {
    /// List tracks and schedules, and where they stand
    List(Repository),
    /// Move a track's pointer: the named step is the next to run
    Set {
        /// The track
        name: String,
        /// The index of the next step, from 0, or the id of its persona
        next: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Pause a track; its live turn is followed, nothing new starts
    Pause {
        /// The track
        name: String,
        /// Why
        #[arg(long)]
        reason: Option<String>,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Let a paused track go on
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
    List {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = in_repository())]
        dir: PathBuf,
        /// Print one JSON object a persona
        #[arg(long)]
        json: bool,
    },
    /// Show each persona with its last outcome, its streak and what became of its work, from the ledger
    Roster(Repository),
    /// Add a persona that has a good prompt already, and its entry in the plan; nothing is written over
    ///
    /// Without a name it lists the personas that there are to add.
    Add {
        /// Which one
        name: Option<String>,
        /// When it runs: a cron expression of five fields, or `manual`; without it when it usually does
        #[arg(long, value_name = "CRON", conflicts_with = "cycle")]
        schedule: Option<String>,
        /// Put it at the end of `cycle` instead of giving it a schedule
        #[arg(long)]
        cycle: bool,
        /// The repository's folder
        #[arg(long, default_value = ".", value_parser = in_repository(), value_name = "DIR")]
        dir: PathBuf,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Print what a persona wrote down at the end of its last turns, as its prompt shows it
    ///
    /// Without an id it counts the entries of each persona.
    Journal {
        /// The persona's id
        id: Option<String>,
        /// The repository's folder
        #[arg(long, default_value = ".", value_parser = in_repository(), value_name = "DIR")]
        dir: PathBuf,
        /// Check the entries instead: frontmatter, dates, names
        #[arg(long)]
        lint: bool,
        /// Count warnings as errors
        #[arg(long, requires = "lint")]
        strict: bool,
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Print a persona's title and prompt as they would be sent
    ///
    /// In a repository without open pull requests, sprint and notes on earlier turns; `<…>` stands for what the marker
    /// says of the turn.
    Render {
        /// The persona's id
        id: String,
        /// The repository's folder
        #[arg(default_value = ".", value_parser = in_repository())]
        dir: PathBuf,
        /// The repository's name in the prompt
        #[arg(long, default_value = "owner/name", value_name = "OWNER/NAME")]
        repo: RepositoryName,
        /// The track's name in the prompt
        #[arg(long, default_value = "default")]
        track: String,
        /// Print JSON with title, prompt and the files that went into it
        #[arg(long)]
        json: bool,
    },
}
