//! `mcp`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    #[arg(long, env = "PHILEAS_MCP_READ_ONLY", global = true)]
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
    /// The monitor's jobs file; a relative path begins in the current folder [default: .phileas/jobs.jsonl]
    #[arg(long, env = "PHILEAS_JOBS", value_name = "FILE", global = true)]
    pub jobs: Option<PathBuf>,
    /// The monitor's events file [default: .phileas/events.jsonl]
    #[arg(long, env = "PHILEAS_EVENTS", value_name = "FILE", global = true)]
    pub events: Option<PathBuf>,
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
