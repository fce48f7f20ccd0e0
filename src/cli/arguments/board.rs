//! `task` and `sprint`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use phileas_domain::board::{Kind, TaskState};

use super::repository::{Repository, in_repository};

/// `task …`
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List the tasks of a folder; where a task stands is told by the folder that its file lies in
    List {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = in_repository())]
        dir: PathBuf,
        /// Only those in this state
        #[arg(long)]
        state: Option<StateName>,
        /// Only those that wait for this persona, as its prompt would show them
        #[arg(long, value_name = "ID")]
        persona: Option<String>,
        /// Only those with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Print one JSON object a task
        #[arg(long)]
        json: bool,
    },
    /// Write a task down
    New {
        /// What is to be done, in a line
        title: String,
        /// Who is to do it; without it, whoever takes tasks with one of its tags
        #[arg(long, value_name = "ID")]
        persona: Option<String>,
        /// A tag; may be given several times
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
        /// Who writes it down
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// A file with what there is to say, or `-` for standard input; without it three headings to fill in
        #[arg(long, value_name = "FILE")]
        body: Option<PathBuf>,
        /// Where.
        #[command(flatten)]
        place: BoardPlace,
    },
    /// Take a task that is todo: it is in progress then, and nobody else's
    Claim {
        /// The task's id, or how it begins
        id: String,
        /// Who takes it; where the repository has personas, one of them
        #[arg(long, value_name = "ID")]
        persona: String,
        /// Take it also from whom it is assigned to, even if that one is at it
        #[arg(long)]
        reassign: bool,
        /// Where.
        #[command(flatten)]
        place: BoardPlace,
    },
    /// Move a task to another state, with its `status`
    Move {
        /// The task's id, or how it begins
        id: String,
        /// The state
        state: StateName,
        /// Where.
        #[command(flatten)]
        place: BoardPlace,
    },
    /// Check what personas leave for one another: tasks, papers of sprints, journals
    Lint {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = in_repository())]
        dir: PathBuf,
        /// Mend what has one answer, and tell what is left
        #[arg(long)]
        fix: bool,
        /// Only this
        #[arg(long, value_name = "KIND")]
        only: Option<KindName>,
        /// Count warnings as errors
        #[arg(long)]
        strict: bool,
        /// Print one JSON object a finding
        #[arg(long)]
        json: bool,
    },
}

/// `sprint …`
#[derive(Debug, Subcommand)]
pub enum SprintCommand {
    /// Show the sprint of a repository, and its papers
    Status(Repository),
    /// Begin the next sprint by hand, before its track comes round
    Advance(Repository),
    /// Write the papers that a sprint begins with; nothing is written over
    New {
        /// The sprint's number; without it, the one after the last that has a folder
        #[arg(value_parser = clap::value_parser!(u64).range(1..=phileas_domain::board::limits::SPRINT_LIMIT))]
        number: Option<u64>,
        /// A persona that gets a plan to fill in; may be given several times
        #[arg(long = "persona", value_name = "ID")]
        personas: Vec<String>,
        /// Where.
        #[command(flatten)]
        place: BoardPlace,
    },
}

/// Which folder.
#[derive(Debug, Clone, Args)]
pub struct BoardPlace {
    /// The repository's folder
    #[arg(long, default_value = ".", value_parser = in_repository(), value_name = "DIR")]
    pub dir: PathBuf,
    /// Print JSON for programs
    #[arg(long)]
    pub json: bool,
}

/// A state by its name.
#[derive(Debug, Clone, Copy)]
pub struct StateName(pub TaskState);

impl ValueEnum for StateName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [StateName; 4] = [
            StateName(TaskState::Todo),
            StateName(TaskState::InProgress),
            StateName(TaskState::Done),
            StateName(TaskState::Canceled),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.0.as_str());
        Some(match self.0 {
            TaskState::Todo => value.help("it waits"),
            TaskState::InProgress => value.help("somebody is at it").alias("in-progress"),
            TaskState::Done => value.help("it is done"),
            TaskState::Canceled => value.help("nobody will do it").alias("cancelled"),
        })
    }
}

/// What is looked at, by its name.
#[derive(Debug, Clone, Copy)]
pub struct KindName(pub Kind);

impl ValueEnum for KindName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [KindName; 3] = [
            KindName(Kind::Tasks),
            KindName(Kind::Sprints),
            KindName(Kind::Journals),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self.0 {
            Kind::Tasks => PossibleValue::new("tasks"),
            Kind::Sprints => PossibleValue::new("sprints"),
            Kind::Journals => PossibleValue::new("journals"),
        })
    }
}
