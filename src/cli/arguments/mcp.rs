//! `mcp`.

use clap::{Args, Subcommand};
use phileas_domain::model::parse_switch;

use super::JobPlaces;
use crate::mcp::policy::Allowed;

/// `mcp`
#[derive(Debug, Args)]
pub struct Mcp {
    /// What may be done, and where the monitor's files are.
    #[command(flatten)]
    pub desk: McpDesk,
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

/// What may be done through the tools, and where the monitor's files are.
#[derive(Debug, Args)]
pub struct McpDesk {
    /// Offer only what reads
    #[arg(long, env = "PHILEAS_MCP_READ_ONLY", value_parser = parse_switch, global = true)]
    pub read_only: bool,
    /// A repository that may be seen and worked on, `owner/name` or `owner/*`; may be given several times. Without it,
    /// every one that the credentials reach
    #[arg(
        long,
        env = "PHILEAS_MCP_ALLOW",
        value_name = "OWNER/NAME",
        value_delimiter = ',',
        global = true
    )]
    pub allow: Vec<Allowed>,
    /// The folder of a pipeline's runs; without it `.pipeline` of the repository that this folder belongs to
    #[arg(long, env = "PHILEAS_PIPELINE_DIR", value_name = "DIR", global = true)]
    pub pipeline_dir: Option<std::path::PathBuf>,
    /// Where the monitor's files are.
    #[command(flatten)]
    pub places: JobPlaces,
}

/// `mcp …`
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Call one tool, print its answer as JSON, and end
    Call {
        /// The tool, such as `jules_get_job`
        tool: String,
        /// Its arguments as a JSON object; `-` reads them from standard input
        #[arg(default_value = "{}")]
        arguments: String,
    },
}
