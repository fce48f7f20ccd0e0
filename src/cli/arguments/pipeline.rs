//! `pipeline`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, Subcommand};
use phileas_domain::pipeline::{Artifact, CheckStage, IssueId};

use super::help::{FOLDER, command_end};
use super::values::one_of;

/// `pipeline …`
#[derive(Debug, Subcommand)]
pub enum PipelineCommand {
    /// Check one artifact by itself; prints OK if it is valid
    #[command(after_help = command_end("phileas pipeline validate .pipeline/7/plan.json", FOLDER))]
    Validate {
        /// The file; its name says which artifact it is
        file: PathBuf,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
    /// Check the invariants between the artifacts of a run
    #[command(after_help = command_end("phileas pipeline check --issue 7 --stage plan", FOLDER))]
    Check {
        /// Which run.
        #[command(flatten)]
        run: RunLocation,
        /// Which stage
        #[arg(long, value_parser = check_stage())]
        stage: CheckStage,
        /// The commit from which the work began; a file that differs from it has changed [default: the default branch]
        #[arg(long, value_name = "REVISION")]
        base: Option<String>,
    },
    /// Show the runs, or the attempts and artifacts of one
    #[command(after_help = command_end("phileas pipeline status", FOLDER))]
    Status {
        /// The issue [default: all runs]
        #[arg(long, value_name = "ID")]
        issue: Option<IssueId>,
        /// Which runs.
        #[command(flatten)]
        place: RunsLocation,
    },
    /// Show which agent runs next, and why
    #[command(after_help = command_end("phileas pipeline next --issue 7", FOLDER))]
    Next {
        /// Which run.
        #[command(flatten)]
        run: RunLocation,
    },
    /// Write an artifact from standard input, in the normal form; an invalid one replaces nothing
    #[command(after_help = command_end("phileas pipeline write plan --issue 7 < plan.json", FOLDER))]
    Write {
        /// Which artifact
        #[arg(value_parser = artifact_name())]
        artifact: Artifact,
        /// Which run.
        #[command(flatten)]
        run: RunLocation,
        /// The agent that wrote it [default: `produced_by`, or the agent whose turn it was]
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// When the agent began, in RFC 3339 [default: the end of the stage before]
        #[arg(long, value_parser = crate::cli::terminal::instant::parse_instant, value_name = "INSTANT")]
        started: Option<jiff::Timestamp>,
    },
    /// Archive a run below `.pipeline/completed`; nothing is overwritten or deleted
    #[command(after_help = command_end("phileas pipeline archive --issue 7 --unfinished", FOLDER))]
    Archive {
        /// Which run.
        #[command(flatten)]
        run: RunLocation,
        /// Also if the run has no git result
        #[arg(long)]
        unfinished: bool,
    },
    /// Lessons from earlier problems, in any run
    #[command(after_help = command_end("phileas pipeline lessons list", FOLDER))]
    Lessons {
        /// What to do with lessons.
        #[command(subcommand)]
        command: LessonsCommand,
    },
}

/// `pipeline lessons …`
#[derive(Debug, Subcommand)]
pub enum LessonsCommand {
    /// Add a lesson, or count one with the same pattern
    #[command(after_help = command_end("phileas pipeline lessons add --issue 7 --pattern 'A path with spaces'", FOLDER))]
    Add {
        /// The issue that taught it
        #[arg(long, value_name = "ID")]
        issue: IssueId,
        /// The problem
        #[arg(long, value_name = "TEXT")]
        pattern: String,
        /// The mitigation
        #[arg(long, value_name = "TEXT")]
        mitigation: Option<String>,
        /// The day, `YYYY-MM-DD` [default: today in UTC]
        #[arg(long, value_name = "DAY", value_parser = parse_day)]
        date: Option<jiff::civil::Date>,
        /// Which runs.
        #[command(flatten)]
        place: RunsLocation,
    },
    /// List the lessons
    #[command(after_help = command_end("phileas pipeline lessons list", FOLDER))]
    List {
        /// Which runs.
        #[command(flatten)]
        place: RunsLocation,
    },
}

/// The folder of the runs.
#[derive(Debug, Clone, Args)]
pub struct RunsLocation {
    /// The folder of the runs [default: `.pipeline` of the repository of this folder]
    #[arg(long, value_name = "DIR")]
    pub pipeline_dir: Option<PathBuf>,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// One run.
#[derive(Debug, Clone, Args)]
pub struct RunLocation {
    /// The issue: the name of the run's folder
    #[arg(long, value_name = "ID")]
    pub issue: IssueId,
    /// Which runs.
    #[command(flatten)]
    pub place: RunsLocation,
}

/// Each artifact that an agent writes whole, by its file name without the extension. Lessons are added one by one.
fn artifact_name() -> impl TypedValueParser<Value = Artifact> {
    let written = Artifact::ALL.into_iter();
    let written = written.filter(|artifact| *artifact != Artifact::Lessons);
    one_of(written.map(|artifact| {
        let name = artifact.file_name();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        // Accept the whole name, too: agents are told to write it.
        let stem = PossibleValue::new(stem).alias(name).help(artifact.about());
        (stem, artifact)
    }))
}

fn check_stage() -> impl TypedValueParser<Value = CheckStage> {
    one_of(CheckStage::ALL.map(|stage| (stage.as_str(), stage)))
}

fn parse_day(text: &str) -> Result<jiff::civil::Date, String> {
    text.trim()
        .parse()
        .map_err(|_| "write a day as YYYY-MM-DD, such as 2026-01-05".to_owned())
}
