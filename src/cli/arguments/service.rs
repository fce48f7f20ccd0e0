//! `serve` and `health`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use phileas_domain::model::parse_switch;

/// The service.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    /// Address of the webhook, for GitHub or the proxy before it; 127.0.0.1:8080 unless it is said otherwise
    #[arg(long, env = "PHILEAS_LISTEN", value_parser = address, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Address for those who run the service; 127.0.0.1:9090 unless it is said otherwise
    #[arg(long, env = "PHILEAS_ADMIN_LISTEN", value_parser = address, value_name = "ADDRESS")]
    pub admin_listen: Option<SocketAddr>,
    /// Further names under which a browser reaches the dashboard, such as that of a proxy; addresses and localhost need none
    #[arg(
        long = "admin-host",
        env = "PHILEAS_ADMIN_HOSTS",
        value_name = "HOST",
        value_delimiter = ','
    )]
    pub admin_hosts: Vec<String>,
    /// Where everything is kept; one service a directory
    #[arg(long, env = "PHILEAS_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// A file with these settings and the repositories; `phileas.toml` here, if there is one
    #[arg(long, env = "PHILEAS_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The most that the inbox may take on disk, as `512MiB`, `2GiB` or bytes; 512MiB unless it is said otherwise
    #[arg(long, env = "PHILEAS_INBOX_MAX_BYTES", value_parser = crate::server::config::parse_bytes, value_name = "SIZE")]
    pub inbox_max_bytes: Option<u64>,
    /// The address under which GitHub knows the service, such as `https://phileas.example.com`
    #[arg(long, env = "PHILEAS_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// A folder with Jules keys: files named `owner__name`, or `owner` for all others of that owner
    #[arg(long, env = "PHILEAS_JULES_KEYS_DIR", value_name = "DIR")]
    pub jules_keys_dir: Option<PathBuf>,
    /// How long deliveries are taken at least once the service is to end (SIGTERM), while `/readyz` says so: behind a
    /// balancer a bit more than the interval of its health check, such as `15s`; `0s` unless it is said otherwise
    #[arg(long, env = "PHILEAS_DRAIN", value_parser = crate::server::config::parse_drain, value_name = "DURATION")]
    pub drain: Option<Duration>,
    /// Also serve the tools of `phileas mcp` to programs, at `/mcp` of the admin listener; the variables of that command
    /// say what may be done. It needs PHILEAS_ADMIN_TOKEN
    #[arg(long, env = "PHILEAS_MCP", value_parser = parse_switch)]
    pub mcp: bool,
    /// The file that events of the service's own sessions are written to, beside those of the monitor: what waits for
    /// a person, what is done, what failed [default: `events.jsonl` of the data directory]
    #[arg(long, env = "PHILEAS_EVENTS_PATH", value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Write no events of the service's own sessions
    #[arg(long, env = "PHILEAS_NO_EVENTS", value_parser = parse_switch)]
    pub no_events: bool,
    /// Keep the inbox in PostgreSQL (`postgres://user@host/database`), so that several services look after the same
    /// repositories. With a password in it, rather set PHILEAS_DATABASE_URL, or PHILEAS_DATABASE_URL_FILE to a file: every
    /// user of a machine can read the options of its programs
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// Check credentials and permissions against GitHub and Jules, say what is missing, and end
    #[arg(long, conflicts_with = "setup")]
    pub check: bool,
    /// With --check: print a JSON object for each finding
    #[arg(long, requires = "check")]
    pub json: bool,
    /// Make a GitHub App by a page on the admin listener, keep its credentials in the data directory, and end
    #[arg(long)]
    pub setup: bool,
}

/// A question to a running service.
#[derive(Debug, Clone, Args)]
pub struct Health {
    /// Where the service listens, said as to `serve`; a listener on all addresses is asked on loopback
    #[arg(long, env = "PHILEAS_LISTEN", value_parser = address, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The file of the service's settings; `phileas.toml` here, if there is one
    #[arg(long, env = "PHILEAS_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Ask whether deliveries may be sent to it, which needs its inbox and its driver, and not only whether it lives
    #[arg(long)]
    pub ready: bool,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
}

/// An address to listen at.
fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = |_| {
        "it is an address and a port, such as `127.0.0.1:8080` (`0.0.0.0:8080` for all addresses); names such as localhost \
         are not looked up"
            .to_owned()
    };
    text.parse().map_err(wrong)
}
