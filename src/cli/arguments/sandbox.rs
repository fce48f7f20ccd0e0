//! `sandbox`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{parse_address, parse_whole};

/// Arguments of `sandbox`.
#[derive(Debug, Clone, Args)]
pub struct Sandbox {
    /// Run on virtual time, as fast as possible, and print only the decisions
    #[arg(long)]
    pub headless: bool,
    /// Serve the two models only
    ///
    /// Until Ctrl-C, SIGTERM, or the end of a pipe on standard input. Their clock stands until you advance it: `curl -d
    /// '{"by": "30m"}' GITHUB/__world/advance`. Also: GET `now` and `books`; POST `act`, `faults`, `knobs`, `scenario`,
    /// `reset-requests`, `deliveries` and `delivered`, each with a JSON body.
    #[arg(long, conflicts_with_all = ["headless", "until", "maintainer", "speed", "admin_listen"])]
    pub world_only: bool,
    /// Play the days of `--until`, then serve the models and the service with its dashboard
    ///
    /// The sandbox does that by default at a terminal; this option does it anywhere.
    #[arg(long, conflicts_with_all = ["headless", "world_only"])]
    pub serve: bool,
    /// Serve an empty repository for you to try, and print the commands of a first session
    ///
    /// The models, the service and its dashboard, as with `--serve`. The repository is empty, no model of a maintainer
    /// acts in it, and no webhook is lost.
    #[arg(long, conflicts_with_all = ["headless", "world_only", "dir", "repo", "ledger", "until"])]
    pub empty: bool,
    /// Address of the dashboard, on loopback; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_parser = parse_address, value_name = "ADDRESS")]
    pub admin_listen: SocketAddr,
    /// Address of the GitHub model; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_parser = parse_address, value_name = "ADDRESS")]
    pub github: SocketAddr,
    /// Address of the Jules model; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_parser = parse_address, value_name = "ADDRESS")]
    pub jules: SocketAddr,
    /// Use this folder as the repository instead of the sample repository
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The same folder, as an option
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "dir")]
    pub repo: Option<PathBuf>,
    /// Run the layers of the hand-over pipeline instead of the sample cycle
    #[arg(long, conflicts_with_all = ["dir", "repo"])]
    pub layers: bool,
    /// Play the scenario of this file and print what happens
    ///
    /// The file defines how long it lasts, the repository's files, how sessions go and what people do. The same file
    /// and the same seed always print the same. See `tests/scenarios/README.md` for the keys, and for scenarios of
    /// layers.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["headless", "world_only", "serve", "empty", "dir", "repo", "layers", "ledger", "until", "maintainer", "speed", "chaos", "faults", "json"])]
    pub scenario: Option<PathBuf>,
    /// Put this folder on the branch `jules` first
    ///
    /// The clock of the sandbox then starts after the newest time in that ledger, and numbers of issues and pull
    /// requests continue from it. After a recent ledger the days of `--until` are in the future.
    #[arg(long, value_name = "DIR")]
    pub ledger: Option<PathBuf>,
    /// How much time passes
    #[arg(long, default_value = "48h", value_parser = crate::cli::terminal::duration::parse_duration, value_name = "DURATION", allow_hyphen_values = true)]
    pub until: jiff::SignedDuration,
    /// The seed of all random choices
    #[arg(long, default_value_t = 7, value_parser = parse_seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// The maintainer of the sandbox's repository
    #[arg(long, value_enum, default_value_t = Maintainer::Usual, value_name = "POLICY")]
    pub maintainer: Maintainer,
    /// How many minutes of the sandbox pass in a second while the service runs [default: 3]
    #[arg(long, value_parser = parse_speed, value_name = "MINUTES", allow_negative_numbers = true)]
    pub speed: Option<f64>,
    /// Use the worst answer to every open question
    #[arg(long, conflicts_with = "faults")]
    pub chaos: bool,
    /// Faults and answers from a TOML file
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// Write the repositories, the branches and the models' records here at the end
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Print JSON for programs, one document a line; implies `--headless`
    #[arg(long)]
    pub json: bool,
}

impl Sandbox {
    /// The folder with the repository's files.
    pub(crate) fn folder(&self) -> Option<&PathBuf> {
        self.dir.as_ref().or(self.repo.as_ref())
    }
}

/// Parses a seed.
fn parse_seed(text: &str) -> Result<u64, String> {
    parse_whole(text, 0..=u64::MAX, "a whole number", 7)
}

/// Parses how many minutes of the sandbox pass in a second.
fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes.is_finite() && minutes > 0.0 => Ok(minutes),
        _ => Err("write a number of minutes above 0, such as 20 or 0.5".to_owned()),
    }
}

/// The maintainer of the sandbox's repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Maintainer {
    /// Reviews most pull requests within hours, and rejects some
    Usual,
    /// Merges every pull request within minutes, day and night
    Eager,
    /// There is no maintainer; no pull request is ever reviewed
    Away,
}
