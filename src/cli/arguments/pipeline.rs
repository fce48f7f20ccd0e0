//! `pipeline`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use phileas_domain::pipeline::{Artifact, CheckStage, IssueId};

/// `pipeline …`
#[derive(Debug, Subcommand)]
pub enum PipelineCommand {
    /// Check one artifact by itself; prints OK when it is sound
    Validate {
        /// The file; its name says which artifact it is
        file: PathBuf,
        /// Print one JSON object a finding
        #[arg(long)]
        json: bool,
    },
    /// Check what must hold between the artifacts of a run, each invariant by its name
    Check {
        /// Which run.
        #[command(flatten)]
        run: RunPlace,
        /// Which stage
        #[arg(long)]
        stage: CheckStageName,
        /// Where the work began: what differs from there was changed; without it the default branch
        #[arg(long, value_name = "REVISION")]
        base: Option<String>,
    },
    /// Show the runs, or the attempts and artifacts of one
    Status {
        /// The issue; without it all runs
        #[arg(long, value_name = "ID")]
        issue: Option<IssueId>,
        /// Where the runs are.
        #[command(flatten)]
        place: RunsPlace,
    },
    /// Say which agent runs next, and why
    Next {
        /// Which run.
        #[command(flatten)]
        run: RunPlace,
    },
    /// Write an artifact from standard input, in the normal form; what is not sound replaces nothing
    Write {
        /// Which artifact
        artifact: PipelineArtifact,
        /// Which run.
        #[command(flatten)]
        run: RunPlace,
        /// The agent that wrote it; without it `produced_by`, or the one whose turn it was
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// When the agent began, in RFC 3339; without it the end of the stage before
        #[arg(long, value_parser = crate::cli::terminal::instant::parse, value_name = "INSTANT")]
        started: Option<jiff::Timestamp>,
    },
    /// Put a run away below `.pipeline/completed`; nothing is written over, nothing is deleted
    Archive {
        /// Which run.
        #[command(flatten)]
        run: RunPlace,
        /// Also when the run has no git result
        #[arg(long)]
        unfinished: bool,
    },
    /// What went wrong before, in any run
    Lessons {
        /// What to do with them.
        #[command(subcommand)]
        command: LessonsCommand,
    },
}

/// `pipeline lessons …`
#[derive(Debug, Subcommand)]
pub enum LessonsCommand {
    /// Add a lesson; one of the same pattern is counted
    Add {
        /// The issue that taught it
        #[arg(long, value_name = "ID")]
        issue: IssueId,
        /// What goes wrong
        #[arg(long, value_name = "TEXT")]
        pattern: String,
        /// What helps against it
        #[arg(long, value_name = "TEXT")]
        mitigation: Option<String>,
        /// The day, `YYYY-MM-DD`; without it today in UTC
        #[arg(long, value_name = "DAY")]
        date: Option<jiff::civil::Date>,
        /// Where the runs are.
        #[command(flatten)]
        place: RunsPlace,
    },
    /// List the lessons
    List {
        /// Where the runs are.
        #[command(flatten)]
        place: RunsPlace,
    },
}

/// Where runs are.
#[derive(Debug, Clone, Args)]
pub struct RunsPlace {
    /// The folder of the runs; without it `.pipeline` of the repository that this folder belongs to
    #[arg(long, value_name = "DIR")]
    pub pipeline_dir: Option<PathBuf>,
    /// Print JSON for programs
    #[arg(long)]
    pub json: bool,
}

/// Which run.
#[derive(Debug, Clone, Args)]
pub struct RunPlace {
    /// The issue: the name of the run's folder
    #[arg(long, value_name = "ID")]
    pub issue: IssueId,
    /// Where.
    #[command(flatten)]
    pub place: RunsPlace,
}

/// An artifact, by its file's name without the extension.
#[derive(Debug, Clone, Copy)]
pub struct PipelineArtifact(pub Artifact);

/// A stage that is checked.
#[derive(Debug, Clone, Copy)]
pub struct CheckStageName(pub CheckStage);

impl ValueEnum for PipelineArtifact {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [PipelineArtifact; 8] = [
            PipelineArtifact(Artifact::Plan),
            PipelineArtifact(Artifact::Worker),
            PipelineArtifact(Artifact::Test),
            PipelineArtifact(Artifact::Debug),
            PipelineArtifact(Artifact::Review),
            PipelineArtifact(Artifact::Git),
            PipelineArtifact(Artifact::State),
            PipelineArtifact(Artifact::Trace),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let name = self.0.file_name();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        // The whole name is taken as well: it is what agents are told to write.
        Some(PossibleValue::new(stem).alias(name).help(self.0.about()))
    }
}

impl ValueEnum for CheckStageName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [CheckStageName; CheckStage::ALL.len()] = {
            let mut all = [CheckStageName(CheckStage::Trace); CheckStage::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = CheckStageName(CheckStage::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()))
    }
}
