//! `serve` and `service`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use phileas_domain::model::parse_switch;

use super::help::{FOLDER, ONLINE, command_end};
use super::inbox::{Deliveries, Replay, SuspendedCommand};
use super::values::parse_address;

/// Arguments of `serve`.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    /// Address of the webhook, for GitHub or a proxy [default: 127.0.0.1:8080]
    #[arg(long, env = "PHILEAS_LISTEN", value_parser = parse_address, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Address of the admin listener, for the people who run the service [default: 127.0.0.1:9090]
    #[arg(long, env = "PHILEAS_ADMIN_LISTEN", value_parser = parse_address, value_name = "ADDRESS")]
    pub admin_listen: Option<SocketAddr>,
    /// Further host names of the dashboard, such as that of a proxy; addresses and localhost need none
    #[arg(
        long = "admin-host",
        env = "PHILEAS_ADMIN_HOSTS",
        value_name = "HOST",
        value_delimiter = ','
    )]
    pub admin_hosts: Vec<String>,
    /// The data directory; one service uses it at a time
    #[arg(long, env = "PHILEAS_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The settings file, with the repositories [default: `phileas.toml` here, if it exists]
    #[arg(long, env = "PHILEAS_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The most disk space of the inbox, as `512MiB`, `2GiB` or bytes [default: 512MiB]
    #[arg(long, env = "PHILEAS_INBOX_MAX_BYTES", value_parser = crate::server::config::parse_bytes, value_name = "SIZE")]
    pub inbox_max_bytes: Option<u64>,
    /// The address at which GitHub reaches the service, such as `https://phileas.example.com`
    #[arg(long, env = "PHILEAS_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// A folder with Jules keys: files named `owner__name`, or `owner` for all others of that owner
    #[arg(long, env = "PHILEAS_JULES_KEYS_DIR", value_name = "DIR")]
    pub jules_keys_dir: Option<PathBuf>,
    /// The least time for which deliveries are still accepted after SIGTERM, while `/readyz` reports the end: behind a
    /// load balancer slightly more than the interval of its health check, such as `15s` [default: 0s]
    #[arg(long, env = "PHILEAS_DRAIN", value_parser = crate::server::config::parse_drain, value_name = "DURATION")]
    pub drain: Option<Duration>,
    /// Also serve the tools of `phileas mcp` at `/mcp` of the admin listener; the variables of that command configure
    /// them. Requires PHILEAS_ADMIN_TOKEN
    #[arg(long, env = "PHILEAS_MCP", value_parser = parse_switch)]
    pub mcp: bool,
    /// The file for events of the service's own sessions, beside those of the monitor: what waits for a person, what is
    /// done, what failed [default: `events.jsonl` of the data directory]
    #[arg(long, env = "PHILEAS_EVENTS_PATH", value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Write no events of the service's own sessions
    #[arg(long, env = "PHILEAS_NO_EVENTS", value_parser = parse_switch)]
    pub no_events: bool,
    /// Keep the inbox in PostgreSQL (`postgres://user@host/database`), so that several services can share the
    /// repositories. For an address with a password set PHILEAS_DATABASE_URL, or PHILEAS_DATABASE_URL_FILE to a file:
    /// every user of a machine can read the options of its programs
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// Check credentials and permissions with GitHub and Jules, report what is missing, and end
    #[arg(long, conflicts_with = "setup")]
    pub check: bool,
    /// Print JSON for programs, one document a line
    #[arg(long, requires = "check")]
    pub json: bool,
    /// Create a GitHub App through a page on the admin listener, store its credentials in the data directory, and end
    #[arg(long)]
    pub setup: bool,
}

/// `service …`
#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Check whether a running service is healthy
    #[command(after_help = command_end("phileas service health --ready", FOLDER))]
    Health(Health),
    /// List the deliveries that a service has stored
    #[command(after_help = command_end("phileas service deliveries --limit 20", ONLINE))]
    Deliveries(Deliveries),
    /// Run a stored delivery again
    #[command(after_help = command_end("phileas service replay 72d3162e-cc78-11e3-81ab-4c9367dc0958", ONLINE))]
    Replay(Replay),
    /// List repositories that a service has suspended, and resume them
    #[command(after_help = command_end("phileas service suspended list", ONLINE))]
    Suspended {
        /// What to do.
        #[command(subcommand)]
        command: SuspendedCommand,
    },
}

/// Arguments of `service health`.
#[derive(Debug, Clone, Args)]
pub struct Health {
    /// The address of the service, as for `serve`; a listener on all addresses is asked on loopback
    #[arg(long, env = "PHILEAS_LISTEN", value_parser = parse_address, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The settings file of the service [default: `phileas.toml` here, if it exists]
    #[arg(long, env = "PHILEAS_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Ask whether it is ready for deliveries, with its inbox and its driver, and not only whether it runs
    #[arg(long)]
    pub ready: bool,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}
