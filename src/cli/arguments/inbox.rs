//! `service deliveries`, `service replay` and `service suspended`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help::{ONLINE, command_end};
use super::values::parse_whole;
use crate::runtime::inbox::DeliveryId;

/// Where a service keeps its inbox.
#[derive(Debug, Clone, Args)]
pub struct InboxLocation {
    /// The data directory of the service, which may be running [default: that of the settings file]
    #[arg(long, env = "PHILEAS_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The settings file of the service [default: `phileas.toml` here, if it exists]
    #[arg(long, env = "PHILEAS_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The PostgreSQL database of the inbox; or set PHILEAS_DATABASE_URL or PHILEAS_DATABASE_URL_FILE, as for `serve`
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
}

fn parse_limit(text: &str) -> Result<usize, String> {
    parse_whole(
        text,
        0..=u64::from(u32::MAX),
        "a whole number of deliveries",
        20,
    )
}

/// Arguments of `service deliveries`.
#[derive(Debug, Clone, Args)]
pub struct Deliveries {
    /// Which inbox.
    #[command(flatten)]
    pub kept: InboxLocation,
    /// Only the newest deliveries, this many [default: 200 as a table, all as JSON]
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit)]
    pub limit: Option<usize>,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `service replay`.
#[derive(Debug, Clone, Args)]
pub struct Replay {
    /// GitHub's id of the delivery
    #[arg(value_name = "GUID")]
    pub guid: DeliveryId,
    /// Which inbox.
    #[command(flatten)]
    pub kept: InboxLocation,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// `service suspended …`
#[derive(Debug, Subcommand)]
pub enum SuspendedCommand {
    /// List suspended repositories, and the reasons
    #[command(after_help = command_end("phileas service suspended list", ONLINE))]
    List(SuspendedRepositories),
    /// Resume a suspended repository
    #[command(after_help = command_end("phileas service suspended resume acme/widget", ONLINE))]
    Resume {
        /// The repository, `owner/name` or its number on GitHub
        repository: String,
        /// Which inbox.
        #[command(flatten)]
        arguments: SuspendedRepositories,
    },
}

/// Arguments of the `service suspended` commands.
#[derive(Debug, Clone, Args)]
pub struct SuspendedRepositories {
    /// Which inbox.
    #[command(flatten)]
    pub kept: InboxLocation,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}
