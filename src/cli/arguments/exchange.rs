//! `exchange`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, Subcommand};
use phileas_domain::exchange::{Layout, Shape};

use super::help::{FOLDER, PRINTS, command_end};
use super::plan::artifact_shape;
use super::repository::ledger_folder;
use super::values::one_of;

/// `exchange …`
#[derive(Debug, Subcommand)]
pub enum ExchangeCommand {
    /// Check the exchange of a folder: every artifact, every link, every name
    #[command(after_help = command_end("phileas exchange check --strict", FOLDER))]
    Check {
        /// Which exchange.
        #[command(flatten)]
        place: ExchangeLocation,
        /// Count warnings as errors
        #[arg(long)]
        strict: bool,
        /// Fix what has only one solution, and report the rest
        #[arg(long)]
        fix: bool,
    },
    /// Print the contents of an exchange, and the next layer of each work item, as JSON
    #[command(after_help = command_end("phileas exchange inspect", FOLDER))]
    Inspect {
        /// Which exchange.
        #[command(flatten)]
        place: ExchangeLocation,
        /// Labels whose work items go to an implementer automatically [default: all]
        #[arg(long, value_name = "LABEL", value_delimiter = ',')]
        labels: Option<Vec<String>>,
    },
    /// Move artifacts of older layouts and shapes to the layout of the folder
    #[command(after_help = command_end("phileas exchange migrate --dry-run", FOLDER))]
    Migrate {
        /// The repository's folder
        #[arg(default_value = ".", value_parser = ledger_folder())]
        dir: PathBuf,
        /// Move everything to this layout instead: a flat exchange becomes one workstream, workstreams become one flat
        /// exchange
        #[arg(long, value_name = "LAYOUT", value_parser = layout_name())]
        to: Option<Layout>,
        /// The name of the workstream that a flat exchange becomes [default: generic]
        #[arg(long, value_name = "NAME", requires = "to")]
        stream: Option<String>,
        /// Change nothing, print the changes
        #[arg(long)]
        dry_run: bool,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
    },
    /// Print the template of an artifact, which agents copy and fill in
    #[command(after_help = command_end("phileas exchange template event", PRINTS))]
    Template {
        /// Which artifact
        #[arg(value_parser = artifact_shape())]
        name: &'static Shape,
    },
}

fn layout_name() -> impl TypedValueParser<Value = Layout> {
    let flat = PossibleValue::new("flat").help("`.jules/exchange/`");
    let streams = PossibleValue::new("workstreams").help("`.jules/workstreams/<name>/`");
    one_of([(flat, Layout::Flat), (streams, Layout::Workstreams)])
}

/// The folder and workstream of an exchange.
#[derive(Debug, Clone, Args)]
pub struct ExchangeLocation {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = ledger_folder())]
    pub dir: PathBuf,
    /// Only this workstream
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}
