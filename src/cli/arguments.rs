//! The command line as it is typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use phileas_domain::model::RepositoryName;

use crate::runtime::inbox::DeliveryId;
use crate::starter::Pin;

/// Keeps Google's Jules working on a GitHub repository by the clock, with its ledger in git.
#[derive(Debug, Parser)]
#[command(
    name = "phileas",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch whole days of work go by on models of GitHub and Jules: no key, no network
    Sandbox(Box<Sandbox>),
    /// Write the workflow, a plan and two personas into a repository that has none; changes nothing that is there
    Init(Init),
    /// Take away what `init` wrote, as far as nobody has changed it; the ledger stays
    Deinit(Deinit),
    /// Do what is due in a repository, once
    Tick(TickArguments),
    /// Say what a tick would do and why everything else waits; writes nothing
    Explain(TickArguments),
    /// Run as a GitHub Action: one tick for the event at hand, told by outputs, annotations and a summary
    Action(ActionArguments),
    /// Show what the plan would do in the coming days, and what it would cost
    Simulate(Simulate),
    /// Show where each track stands, what is open, and what became of the work
    Status(Repository),
    /// Look for everything that keeps phileas from working in a repository, and say how to mend it
    Doctor(Doctor),
    /// Check the plan and the personas of a folder
    Validate(Validate),
    /// Print the JSON Schema of a file that people write, for editors and checkers
    Schema {
        /// Which file
        name: SchemaName,
    },
    /// The labels by which people speak to phileas
    Labels {
        /// What to do with them.
        #[command(subcommand)]
        command: LabelsCommand,
    },
    /// Look at the ledger's state file, and mend it
    State {
        /// What to do with it.
        #[command(subcommand)]
        command: StateCommand,
    },
    /// List tracks, move their pointers, pause and resume them
    Track {
        /// What to do with it.
        #[command(subcommand)]
        command: TrackCommand,
    },
    /// List personas, and read their prompts as Jules would
    Persona {
        /// What to do with it.
        #[command(subcommand)]
        command: PersonaCommand,
    },
    /// List, read, answer, approve, retry and cancel sessions
    Session {
        /// What to do with it.
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Pause the repository and archive every live session of ours
    Stop {
        /// Really all of them; without it nothing is done
        #[arg(long, required = true)]
        all: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Let a repository go on that `stop` or a person paused in its state
    Resume(Repository),
    /// Ask the real services the questions that their documentation leaves open
    Probe(Probe),
    /// Serve the webhook of any number of repositories, and keep what it tells
    Serve(Serve),
    /// Ask a running service whether it is well
    Health(Health),
    /// List the deliveries that a service has stored
    Deliveries(Deliveries),
    /// Run a stored delivery again
    Replay(Replay),
    /// List repositories that a service has given up on, and let them go on
    Park {
        /// What to do.
        #[command(subcommand)]
        command: ParkCommand,
    },
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of the program or of one command
    Man {
        /// The command, such as `session cancel`
        command: Vec<String>,
    },
}

/// Which repository.
#[derive(Debug, Clone, Args)]
pub struct Repository {
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: RepositoryName,
    /// Print one JSON document, or one a line, for programs
    #[arg(long)]
    pub json: bool,
}

/// Where `init` and `deinit` work.
#[derive(Debug, Clone, Args)]
pub struct Where {
    /// The repository's folder: a git work tree
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// The repository, `owner/name`; without it, the one that the remote `origin` names
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// The default branch of a work tree; without it, what `origin` says, else the branch that is checked out
    #[arg(long, value_name = "NAME", conflicts_with = "pull_request")]
    pub default_branch: Option<String>,
    /// Change no folder, open a pull request instead; needs a token
    #[arg(long)]
    pub pull_request: bool,
    /// Ask nothing
    #[arg(long, short)]
    pub yes: bool,
    /// Change nothing, show everything
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// A beginning.
#[derive(Debug, Clone, Args)]
pub struct Init {
    /// Where.
    #[command(flatten)]
    pub place: Where,
    /// The action that the workflow runs, at a commit; without it, the one of this release
    #[arg(long, value_name = "OWNER/NAME@COMMIT")]
    pub action: Option<Pin>,
}

/// An end.
#[derive(Debug, Clone, Args)]
pub struct Deinit {
    /// Where.
    #[command(flatten)]
    pub place: Where,
    /// Delete the labels, too, as far as nobody has changed them; issues lose them
    #[arg(long)]
    pub labels: bool,
}

/// A file that people write.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaName {
    /// `.jules/schedules.toml`: who works and when
    Schedules,
    /// `phileas.toml`: how the service is set up
    Phileas,
}

/// `labels …`
#[derive(Debug, Subcommand)]
pub enum LabelsCommand {
    /// Create the labels of personas and commands, and mend their colours and descriptions
    Sync {
        /// Delete the labels of personas that are gone; issues lose them
        #[arg(long)]
        prune: bool,
        /// Change nothing, say what would be
        #[arg(long)]
        dry_run: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}

/// A tick.
#[derive(Debug, Clone, Args)]
pub struct TickArguments {
    /// Which repository.
    #[command(flatten)]
    pub repository: Repository,
    /// The event that woke us; it only says that something is due, everything is read afresh
    #[arg(long, env = "GITHUB_EVENT_NAME", value_name = "NAME")]
    pub event_name: Option<String>,
    /// The event's payload
    #[arg(long, env = "GITHUB_EVENT_PATH", value_name = "FILE")]
    pub event_path: Option<PathBuf>,
    /// Run this persona now, by its id or the path of its prompt; waits for a place as a request
    #[arg(long, value_name = "ID", conflicts_with_all = ["track", "all"])]
    pub persona: Option<String>,
    /// Run the next step of this track now, and nothing else
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub track: Option<String>,
    /// Run every persona once, whatever the schedule says; budgets are kept
    #[arg(long)]
    pub all: bool,
    /// Decide and report, without any client that could write
    #[arg(long)]
    pub dry_run: bool,
}

/// A run of the Action. Everything else comes from the runner's variables, as `action.yml` sets them.
#[derive(Debug, Clone, Args)]
pub struct ActionArguments {
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: RepositoryName,
}

/// How far a forecast looks.
const USUAL_DAYS: u16 = 7;
/// How long a session is thought to take; the same as the text of its option's default.
const USUAL_SESSION: jiff::SignedDuration = jiff::SignedDuration::from_mins(30);
/// How long a pull request is thought to wait, likewise.
const USUAL_REVIEW: jiff::SignedDuration = jiff::SignedDuration::from_hours(2);

/// A forecast.
#[derive(Debug, Clone, Args)]
pub struct Simulate {
    /// A folder with the plan; without it, `--repo` is read
    pub dir: Option<PathBuf>,
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// How many days
    #[arg(long, default_value_t = USUAL_DAYS, value_parser = clap::value_parser!(u16).range(1..=90))]
    pub days: u16,
    /// How long a session is thought to take
    #[arg(long, default_value = "30m", value_parser = super::duration::parse, value_name = "DURATION")]
    pub session: jiff::SignedDuration,
    /// How long a pull request is thought to wait for its merge
    #[arg(long, default_value = "2h", value_parser = super::duration::parse, value_name = "DURATION")]
    pub review: jiff::SignedDuration,
    /// Start of the forecast instead of now, in RFC 3339
    #[arg(long, value_parser = instant, value_name = "INSTANT")]
    pub from: Option<jiff::Timestamp>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

impl Simulate {
    /// The first week of a plan, with the assumptions that are usual.
    pub(super) fn week(json: bool) -> Self {
        Self {
            dir: None,
            repo: None,
            days: USUAL_DAYS,
            session: USUAL_SESSION,
            review: USUAL_REVIEW,
            from: None,
            json,
        }
    }
}

/// A look at everything.
#[derive(Debug, Clone, Args)]
pub struct Doctor {
    /// The repository, `owner/name`; without it only what a folder tells is looked at
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// The folder whose plan and workflows are looked at where GitHub cannot be asked
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub dir: PathBuf,
    /// Do what is safe: make missing labels, let a workflow run again that was disabled by inactivity
    #[arg(long)]
    pub fix: bool,
    /// Print one JSON object a line: a finding each, and a summary
    #[arg(long)]
    pub json: bool,
}

/// A check of a folder.
#[derive(Debug, Clone, Args)]
pub struct Validate {
    /// The repository's folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Print one JSON object a finding
    #[arg(long)]
    pub json: bool,
}

/// `state …`
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// Print the state file as version 5
    Show {
        /// A file; without it, the ledger of `--repo` is read
        file: Option<PathBuf>,
        /// Where it comes from.
        #[command(flatten)]
        source: StateSource,
    },
    /// Propose a state from what can be saved of a corrupt one
    Repair {
        /// A file; without it, the ledger of `--repo` is read
        file: Option<PathBuf>,
        /// Write the proposal; without it, it is only shown
        #[arg(long)]
        write: bool,
        /// Where it comes from.
        #[command(flatten)]
        source: StateSource,
    },
    /// Propose a state from Jules' own list of sessions
    Rebuild {
        /// Write the proposal; without it, it is only shown
        #[arg(long)]
        write: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}

/// Where a state file comes from.
#[derive(Debug, Clone, Args)]
pub struct StateSource {
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// Print JSON only
    #[arg(long)]
    pub json: bool,
}

/// `track …`
#[derive(Debug, Subcommand)]
pub enum TrackCommand {
    /// List tracks and schedules, and where they stand
    List(Repository),
    /// Move a track's pointer: the named step is the next to run
    Set {
        /// The track
        name: String,
        /// The index of the next step, from 0, or the id of its persona
        next: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Pause a track; its live turn is followed, nothing new starts
    Pause {
        /// The track
        name: String,
        /// Why
        #[arg(long)]
        reason: Option<String>,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Let a paused track go on
    Resume {
        /// The track
        name: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}

/// `persona …`
#[derive(Debug, Subcommand)]
pub enum PersonaCommand {
    /// List the personas of a folder
    List {
        /// The repository's folder
        #[arg(default_value = ".")]
        dir: PathBuf,
        /// Print one JSON object a persona
        #[arg(long)]
        json: bool,
    },
    /// Print a persona's title and prompt as they would be sent
    ///
    /// In a repository without open pull requests, sprint and notes on earlier turns; `<…>` stands for what the marker
    /// says of the turn.
    Render {
        /// The persona's id
        id: String,
        /// The repository's folder
        #[arg(default_value = ".")]
        dir: PathBuf,
        /// The repository's name in the prompt
        #[arg(long, default_value = "owner/name", value_name = "OWNER/NAME")]
        repo: RepositoryName,
        /// The track's name in the prompt
        #[arg(long, default_value = "default")]
        track: String,
        /// Print JSON with title, prompt and the files that went into it
        #[arg(long)]
        json: bool,
    },
}

/// `session …`
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this repository
    List {
        /// Archived ones, too
        #[arg(long)]
        archived: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Show one session and its activities
    Show {
        /// The session's or the turn's id
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Approve a session's plan
    Approve {
        /// The session's id
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Say something to a session; one that is archived is not spoken to
    Message {
        /// The session's or the turn's id
        id: String,
        /// What
        text: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Try a turn again: one that is held goes on, one that is over is asked for anew
    Retry {
        /// The session's or the turn's id
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// End a live turn, or take back a request: a session is archived; the next tick lets its track go on
    Cancel {
        /// The session's or the turn's id, or `request:<number>` as `tick` and `explain` name it
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Take a session that somebody started elsewhere into the ledger, and follow it
    Import {
        /// The session's id
        id: String,
        /// Whose work it counts as
        #[arg(long)]
        persona: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}

/// The open questions.
#[derive(Debug, Clone, Args)]
pub struct Probe {
    /// Which repository.
    #[command(flatten)]
    pub repository: Repository,
    /// Also start sessions and write to a scratch branch: costs quota, use a scratch repository
    #[arg(long)]
    pub write: bool,
    /// Write the answers as a fault plan that the sandbox replays
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

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
    /// Not in this version, which keeps its inbox in one file of the data directory
    #[arg(long, value_name = "URL", hide = true)]
    pub database_url: Option<String>,
    /// Check credentials and permissions against GitHub and Jules, say what is missing, and end
    #[arg(long, conflicts_with = "setup")]
    pub check: bool,
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

/// Where a service keeps its inbox.
#[derive(Debug, Clone, Args)]
pub struct Kept {
    /// The data directory of the service, which may be running; what the file of settings says, unless it is said here
    #[arg(long, env = "PHILEAS_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The file of the service's settings; `phileas.toml` here, if there is one
    #[arg(long, env = "PHILEAS_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
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
    #[arg(long, conflicts_with = "headless")]
    pub world_only: bool,
    /// Serve the models and the service itself with its dashboard, after `--until` has gone by at once
    ///
    /// That is what the sandbox does at a terminal, unless it is told otherwise; this does it anywhere.
    #[arg(long, conflicts_with_all = ["headless", "world_only"])]
    pub serve: bool,
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
    /// Put this folder on the branch `jules` first
    #[arg(long, value_name = "DIR")]
    pub ledger: Option<PathBuf>,
    /// How much time goes by
    #[arg(long, default_value = "48h", value_parser = super::duration::parse, value_name = "DURATION")]
    pub until: jiff::SignedDuration,
    /// The seed of all chance
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Who looks after the repository
    #[arg(long, value_enum, default_value_t = Maintainer::Usual, value_name = "TEMPER")]
    pub maintainer: Maintainer,
    /// Minutes of the sandbox in a second of yours, while the service runs: 3 unless it is said otherwise
    #[arg(long, value_parser = speed, value_name = "MINUTES")]
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

/// An address to listen at.
fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = |_| {
        "it is an address and a port, such as `127.0.0.1:8080` (`0.0.0.0:8080` for all addresses); names such as localhost \
         are not looked up"
            .to_owned()
    };
    text.parse().map_err(wrong)
}

/// An instant in RFC 3339.
fn instant(text: &str) -> Result<jiff::Timestamp, String> {
    let wrong = |_| "it is an instant in RFC 3339, such as 2026-01-05T09:00:00Z".to_owned();
    text.parse().map_err(wrong)
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
