//! `sandbox`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The sandbox.
#[derive(Debug, Clone, Args)]
pub struct Sandbox {
    /// Run without a show, on virtual time, as fast as the machine can
    #[arg(long)]
    pub headless: bool,
    /// Serve the two models, and nothing else
    ///
    /// Until Ctrl-C, SIGTERM, or the end of a pipe on standard input. Their clock stands until it is moved:
    /// `curl -d '{"by": "30m"}' GITHUB/__world/advance`. Also: GET `now` and `books`; POST `act`, `faults`, `knobs`,
    /// `scenario`, `reset-requests`, `deliveries` and `delivered`, each with a JSON body.
    #[arg(long, conflicts_with_all = ["headless", "until", "maintainer", "speed", "admin_listen"])]
    pub world_only: bool,
    /// Serve the models and the service itself with its dashboard, after `--until` has gone by at once
    ///
    /// That is what the sandbox does at a terminal, unless it is told otherwise; this does it anywhere.
    #[arg(long, conflicts_with_all = ["headless", "world_only"])]
    pub serve: bool,
    /// Serve an empty repository for you to begin in, and print the commands of a first session
    ///
    /// The models, the service and its dashboard, as with `--serve`, but nothing is in the repository, nobody but you
    /// does anything there, and no webhook is lost.
    #[arg(long, conflicts_with_all = ["headless", "world_only", "repo", "ledger", "until"])]
    pub empty: bool,
    /// Address of the dashboard, on loopback; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub admin_listen: SocketAddr,
    /// Address of the GitHub model; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub github: SocketAddr,
    /// Address of the Jules model; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub jules: SocketAddr,
    /// Take this folder as the repository instead of the newcomer's one
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Put the layers of the hand-over pipeline to work instead of the newcomer's cycle
    #[arg(long, conflicts_with = "repo")]
    pub layers: bool,
    /// Play the scenario of this file and print what happens
    ///
    /// The file says how long it lasts, what is in the repository, how sessions go and what people do. The same file and
    /// the same seed always print the same. See `tests/scenarios/README.md` for the keys, and for scenarios of layers.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["headless", "world_only", "serve", "empty", "repo", "layers", "ledger", "until", "maintainer", "speed", "chaos", "faults", "json"])]
    pub scenario: Option<PathBuf>,
    /// Put this folder on the branch `jules` first
    #[arg(long, value_name = "DIR")]
    pub ledger: Option<PathBuf>,
    /// How much time goes by
    #[arg(long, default_value = "48h", value_parser = crate::cli::terminal::duration::parse, value_name = "DURATION", allow_hyphen_values = true)]
    pub until: jiff::SignedDuration,
    /// The seed of all chance
    #[arg(long, default_value_t = 7, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Who looks after the repository
    #[arg(long, value_enum, default_value_t = Maintainer::Usual, value_name = "TEMPER")]
    pub maintainer: Maintainer,
    /// Minutes of the sandbox in a second of yours, while the service runs: 3 unless it is said otherwise
    #[arg(long, value_parser = speed, value_name = "MINUTES", allow_negative_numbers = true)]
    pub speed: Option<f64>,
    /// Every open question answered in the worst way
    #[arg(long, conflicts_with = "faults")]
    pub chaos: bool,
    /// Faults and answers from a TOML file
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// Write the repositories, the branches and the models' books here at the end
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Print one JSON object a line; implies `--headless`
    #[arg(long)]
    pub json: bool,
}

/// A seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("it is a whole number from 0 to {}, such as 7", u64::MAX))
}

/// Minutes of the sandbox in a second of ours.
fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes.is_finite() && minutes > 0.0 => Ok(minutes),
        _ => Err("it is a number of minutes above 0, such as 20 or 0.5".to_owned()),
    }
}

/// Who looks after the sandbox's repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Maintainer {
    /// Somebody who reviews most of it within hours, and not all of it kindly
    Usual,
    /// Somebody who merges everything within minutes, day and night
    Eager,
    /// Nobody; nothing is ever reviewed
    Away,
}
