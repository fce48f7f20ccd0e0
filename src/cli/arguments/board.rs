//! `task` and `sprint`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, Subcommand};
use phileas_domain::board::limits::SPRINT_LIMIT;
use phileas_domain::board::{Kind, TaskState};

use super::help::{FOLDER, LEDGER, command_end};
use super::repository::{Repository, repository_folder};
use super::values::{one_of, parse_whole};

/// `task …`
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List the tasks of a folder; the folder of a task's file is its state
    #[command(after_help = command_end("phileas task list --state todo", FOLDER))]
    List {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// Only those in this state
        #[arg(long, value_parser = task_state())]
        state: Option<TaskState>,
        /// Only those that wait for this persona, as in its prompt
        #[arg(long, value_name = "ID")]
        persona: Option<String>,
        /// Only those with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
    /// Create a task
    #[command(after_help = command_end("phileas task new 'Describe the API' --persona curator", FOLDER))]
    New {
        /// The title, on one line
        title: String,
        /// The persona that does it, one of the repository's personas, if it has some; without it, a persona that accepts one
        /// of its tags
        #[arg(long, value_name = "ID")]
        persona: Option<String>,
        /// A tag; may be given several times
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
        /// The author
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// A file with the text, or `-` for standard input; without it three headings to fill in
        #[arg(long, value_name = "FILE")]
        body: Option<PathBuf>,
        /// Which folder.
        #[command(flatten)]
        place: BoardFolder,
    },
    /// Claim a task in the state todo: it moves to in progress, for one persona only
    #[command(after_help = command_end("phileas task claim 20260110-0900 --persona curator", FOLDER))]
    Claim {
        /// The task's id, or the beginning of it
        id: String,
        /// The persona that claims it; one of the repository's personas, if it has some
        #[arg(long, value_name = "ID")]
        persona: String,
        /// Claim it even if it is assigned to another persona, or in progress
        #[arg(long)]
        reassign: bool,
        /// Which folder.
        #[command(flatten)]
        place: BoardFolder,
    },
    /// Move a task to another state, with its `status`
    #[command(after_help = command_end("phileas task move 20260110-0900 done", FOLDER))]
    Move {
        /// The task's id, or the beginning of it
        id: String,
        /// The state
        #[arg(value_parser = task_state())]
        state: TaskState,
        /// Which folder.
        #[command(flatten)]
        place: BoardFolder,
    },
    /// Check the files that personas leave for each other: tasks, sprints, journals
    #[command(after_help = command_end("phileas task check --fix", FOLDER))]
    Check {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = repository_folder())]
        dir: PathBuf,
        /// Fix what has only one solution, and report the rest
        #[arg(long)]
        fix: bool,
        /// Only this
        #[arg(long, value_name = "KIND", value_parser = checked_kind())]
        only: Option<Kind>,
        /// Count warnings as errors
        #[arg(long)]
        strict: bool,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
}

fn parse_sprint(text: &str) -> Result<u64, String> {
    parse_whole(text, 1..=SPRINT_LIMIT, "the number of a sprint", 12)
}

/// `sprint …`
#[derive(Debug, Subcommand)]
pub enum SprintCommand {
    /// Show the sprint of a repository, and its files
    #[command(after_help = command_end("phileas sprint status --repo acme/widget", LEDGER))]
    Status(Repository),
    /// Begin the next sprint now, before its track begins a new pass
    #[command(after_help = command_end("phileas sprint advance --repo acme/widget", LEDGER))]
    Advance(Repository),
    /// Write the first files of a sprint; existing files stay
    #[command(after_help = command_end("phileas sprint new --persona curator", FOLDER))]
    New {
        /// The sprint's number; without it, the one after the last that has a folder
        #[arg(long, value_parser = parse_sprint)]
        number: Option<u64>,
        /// A persona that gets a plan to fill in; may be given several times
        #[arg(long = "persona", value_name = "ID")]
        personas: Vec<String>,
        /// Which folder.
        #[command(flatten)]
        place: BoardFolder,
    },
}

/// The folder with the tasks.
#[derive(Debug, Clone, Args)]
pub struct BoardFolder {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

fn task_state() -> impl TypedValueParser<Value = TaskState> {
    one_of(TaskState::ALL.map(|state| {
        let name = PossibleValue::new(state.as_str());
        let name = match state {
            TaskState::Todo => name.help("it waits"),
            TaskState::InProgress => name.help("a persona works on it").alias("in-progress"),
            TaskState::Done => name.help("it is done"),
            TaskState::Canceled => name.help("it will not be done").alias("cancelled"),
        };
        (name, state)
    }))
}

fn checked_kind() -> impl TypedValueParser<Value = Kind> {
    one_of([
        ("tasks", Kind::Tasks),
        ("sprints", Kind::Sprints),
        ("journals", Kind::Journals),
    ])
}
