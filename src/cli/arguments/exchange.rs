//! `exchange`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::plan::ArtifactName;

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
        #[arg(default_value = ".")]
        dir: PathBuf,
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

/// Which exchange.
#[derive(Debug, Clone, Args)]
pub struct ExchangePlace {
    /// The repository's folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Only this workstream
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
