//! `deliveries`, `replay` and `park`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::runtime::inbox::DeliveryId;

/// Where a service keeps its inbox.
#[derive(Debug, Clone, Args)]
pub struct Kept {
    /// The data directory of the service, which may be running; what the file of settings says, unless it is said here
    #[arg(long, env = "PHILEAS_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The file of the service's settings; `phileas.toml` here, if there is one
    #[arg(long, env = "PHILEAS_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The PostgreSQL that keeps the inbox; as for `serve`, PHILEAS_DATABASE_URL and PHILEAS_DATABASE_URL_FILE say it, too
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
}

/// A list of deliveries.
#[derive(Debug, Clone, Args)]
pub struct Deliveries {
    /// Where.
    #[command(flatten)]
    pub kept: Kept,
    /// Only the newest so many; as a table 200 unless it is said otherwise, as JSON all
    #[arg(long, value_name = "NUMBER")]
    pub limit: Option<usize>,
    /// Print one JSON object a delivery
    #[arg(long)]
    pub json: bool,
}

/// A delivery that is to be run again.
#[derive(Debug, Clone, Args)]
pub struct Replay {
    /// GitHub's id of the delivery
    #[arg(value_name = "GUID")]
    pub guid: DeliveryId,
    /// Where.
    #[command(flatten)]
    pub kept: Kept,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
}

/// `park …`
#[derive(Debug, Subcommand)]
pub enum ParkCommand {
    /// List parked repositories, and why they are
    List(Park),
    /// Let a parked repository go on
    Resume {
        /// The repository, `owner/name` or GitHub's number of it
        repository: String,
        /// Where.
        #[command(flatten)]
        park: Park,
    },
}

/// Parked repositories.
#[derive(Debug, Clone, Args)]
pub struct Park {
    /// Where.
    #[command(flatten)]
    pub kept: Kept,
    /// Print one JSON object a repository
    #[arg(long)]
    pub json: bool,
}
