//! `exchange`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use phileas_domain::exchange::{FLAT_STREAM, Layout};

use super::plan::ArtifactName;
use super::repository::in_repository;

/// `exchange …`
#[derive(Debug, Subcommand)]
pub enum ExchangeCommand {
    /// Check the exchange of a folder: every artifact, every link, every name
    Check {
        /// What to look at.
        #[command(flatten)]
        place: ExchangePlace,
        /// Count warnings as errors
        #[arg(long)]
        strict: bool,
        /// Mend what has one answer, and tell what is left
        #[arg(long)]
        fix: bool,
    },
    /// Print what is in the exchange of a folder, and where each work item goes next, as JSON
    Inspect {
        /// What to look at.
        #[command(flatten)]
        place: ExchangePlace,
        /// Labels whose work items go to an implementer by themselves; without it all
        #[arg(long, value_name = "LABEL", value_delimiter = ',')]
        labels: Option<Vec<String>>,
    },
    /// Bring older places and shapes of artifacts to the layout that the folder is in, and tell each
    Migrate {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = in_repository())]
        dir: PathBuf,
        /// Bring everything to this layout instead: a flat exchange becomes one workstream, workstreams one flat exchange
        #[arg(long, value_name = "LAYOUT")]
        to: Option<ToLayout>,
        /// What the workstream is called that a flat exchange becomes
        #[arg(long, value_name = "NAME", default_value = FLAT_STREAM, requires = "to")]
        stream: String,
        /// Change nothing, say what would be
        #[arg(long)]
        dry_run: bool,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Print the template of an artifact, as agents copy and fill it
    Template {
        /// Which artifact
        name: ArtifactName,
    },
}

/// A layout of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToLayout {
    /// `.jules/exchange/`
    Flat,
    /// `.jules/workstreams/<name>/`
    Workstreams,
}

impl From<ToLayout> for Layout {
    fn from(layout: ToLayout) -> Self {
        match layout {
            ToLayout::Flat => Self::Flat,
            ToLayout::Workstreams => Self::Workstreams,
        }
    }
}

/// Which exchange.
#[derive(Debug, Clone, Args)]
pub struct ExchangePlace {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = in_repository())]
    pub dir: PathBuf,
    /// Only this workstream
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
