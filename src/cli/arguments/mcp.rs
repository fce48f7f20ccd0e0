//! `mcp`.

use clap::{Args, Subcommand};
use phileas_domain::model::parse_switch;

use super::JobFiles;
use super::help::{LEDGER, command_end};
use crate::mcp::policy::Allowed;

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Options of the tools.
    #[command(flatten)]
    pub options: McpOptions,
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

/// What the tools may do, and the files of the monitor.
#[derive(Debug, Args)]
pub struct McpOptions {
    /// Offer only tools that read
    #[arg(long, env = "PHILEAS_MCP_READ_ONLY", value_parser = parse_switch, global = true)]
    pub read_only: bool,
    /// A repository that the tools may use, `owner/name` or `owner/*`; may be given several times [default: all that
    /// the credentials reach]
    #[arg(
        long,
        env = "PHILEAS_MCP_ALLOW",
        value_name = "OWNER/NAME",
        value_delimiter = ',',
        global = true
    )]
    pub allow: Vec<Allowed>,
    /// The folder of a pipeline's runs [default: `.pipeline` of the repository of this folder]
    #[arg(long, env = "PHILEAS_PIPELINE_DIR", value_name = "DIR", global = true)]
    pub pipeline_dir: Option<std::path::PathBuf>,
    /// Which files.
    #[command(flatten)]
    pub files: JobFiles,
}

/// `mcp …`
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Call one tool, print its answer as JSON, and end
    #[command(after_help = command_end("phileas mcp call jules_list_jobs", LEDGER))]
    Call {
        /// The tool, such as `jules_get_job`
        tool: String,
        /// Its arguments as a JSON object; `-` reads them from standard input
        #[arg(default_value = "{}")]
        arguments: String,
    },
}
