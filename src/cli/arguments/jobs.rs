//! `monitor`, `watch`, `handle-event`, `events`, `jobs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;
use phileas_domain::jobs::{EventKind, JobId, RetireReason, config};

/// Where the files are. A flag counts before its variable, and both before the configuration. A command with commands of
/// its own takes them before and after those.
#[derive(Debug, Clone, Args)]
pub struct JobPlaces {
    /// The configuration, as JSON; `ZAI_JULES_CONFIG` is read as well, and `zai-jules-manager/config.json` where it exists
    #[arg(long, env = "PHILEAS_JOBS_CONFIG", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// The jobs file; `.phileas/jobs.jsonl` unless it is said otherwise
    #[arg(long, env = "PHILEAS_JOBS_PATH", value_name = "FILE", global = true)]
    pub jobs: Option<PathBuf>,
    /// The events file; `.phileas/events.jsonl` unless it is said otherwise
    #[arg(long, env = "PHILEAS_EVENTS_PATH", value_name = "FILE", global = true)]
    pub events: Option<PathBuf>,
}

impl JobPlaces {
    /// What the variables say, for a command whose own options mean something else.
    ///
    /// # Errors
    ///
    /// A variable that says nothing that could be meant.
    pub fn of_environment() -> Result<Self, clap::Error> {
        #[derive(clap::Parser)]
        struct OfEnvironment {
            #[command(flatten)]
            places: JobPlaces,
        }
        let given = <OfEnvironment as clap::Parser>::try_parse_from(["phileas"])?;
        Ok(given.places)
    }
}

/// The monitor.
#[derive(Debug, Clone, Args)]
pub struct Monitor {
    /// Where the files are.
    #[command(flatten)]
    pub places: JobPlaces,
    /// What the monitor remembers; `.phileas/monitor.json` unless it is said otherwise
    #[arg(long, env = "PHILEAS_MONITOR_STATE_PATH", value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Look once, and end
    #[arg(long)]
    pub once: bool,
    /// How often to look, in seconds; 45 unless it is said otherwise
    #[arg(long, env = "PHILEAS_MONITOR_POLL_SECONDS", value_parser = seconds, value_name = "SECONDS")]
    pub poll: Option<SignedDuration>,
    /// After how many minutes without any activity a session is stuck; 20 unless it is said otherwise
    #[arg(long, env = "PHILEAS_STUCK_MINUTES", value_parser = minutes, value_name = "MINUTES")]
    pub stuck_minutes: Option<SignedDuration>,
    /// Where Jules is
    #[arg(long, env = "JULES_API_BASE", value_name = "URL")]
    pub api_base: Option<String>,
    /// A folder with Jules keys: files named `owner__name`, or `owner` for all others of that owner
    #[arg(long, env = "PHILEAS_JULES_KEYS_DIR", value_name = "DIR")]
    pub jules_keys_dir: Option<PathBuf>,
    /// Write figures for Prometheus into this file after each look
    #[arg(long, env = "PHILEAS_METRICS_FILE", value_name = "FILE")]
    pub metrics_file: Option<PathBuf>,
    /// Leave the session alone when its pull request is merged or closed
    #[arg(long)]
    pub no_archive: bool,
    /// Keep the job when its pull request is merged or closed
    #[arg(long)]
    pub no_retire: bool,
    /// Print events as JSON, one a line
    #[arg(long)]
    pub json: bool,
}

/// The watcher.
#[derive(Debug, Clone, Args)]
pub struct Watch {
    /// Where the files are.
    #[command(flatten)]
    pub places: JobPlaces,
    /// What the watcher remembers; `.phileas/watcher.json` unless it is said otherwise
    #[arg(long, env = "PHILEAS_WATCHER_STATE_PATH", value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// The program that is started for each event, with its arguments; the configuration's `zai_command` without it
    #[arg(long, value_name = "CMD")]
    pub command: Option<String>,
    /// The program for one kind of event, as `question=my-agent --answer`; may be given several times
    #[arg(long = "on", value_parser = kind_and_command, value_name = "KIND=CMD")]
    pub on: Vec<(EventKind, String)>,
    /// Give the commands to `sh -c`
    #[arg(long)]
    pub shell: bool,
    /// How often to look where nothing tells that the file has changed, in seconds; 1 unless it is said otherwise
    #[arg(long, env = "PHILEAS_WATCHER_POLL_SECONDS", value_parser = seconds, value_name = "SECONDS")]
    pub poll: Option<SignedDuration>,
    /// Hand on what there is, and end
    #[arg(long)]
    pub once: bool,
}

/// One event.
#[derive(Debug, Clone, Args)]
pub struct HandleEvent {
    /// Where the files are.
    #[command(flatten)]
    pub places: JobPlaces,
    /// Where Jules is
    #[arg(long, env = "JULES_API_BASE", value_name = "URL")]
    pub api_base: Option<String>,
    /// A folder with Jules keys: files named `owner__name`, or `owner` for all others of that owner
    #[arg(long, env = "PHILEAS_JULES_KEYS_DIR", value_name = "DIR")]
    pub jules_keys_dir: Option<PathBuf>,
    /// The event as JSON, in place of the variable JULES_EVENT
    #[arg(long, env = "JULES_EVENT", hide_env_values = true, value_name = "JSON")]
    pub event: Option<String>,
    /// Do not ask Jules for the changes, nor whether a question, a plan or a standstill has been settled meanwhile
    #[arg(long)]
    pub no_look: bool,
    /// Do not ask GitHub for the pull request and its checks
    #[arg(long)]
    pub no_checks: bool,
    /// How many sessions are started in place of one that failed; 1 unless it is said otherwise, 0 for none
    #[arg(long, value_name = "COUNT")]
    pub retries: Option<u32>,
    /// Approve plans
    #[arg(long)]
    pub approve_plans: bool,
    /// Leave the session alone when its pull request is merged or closed
    #[arg(long)]
    pub no_archive: bool,
    /// Keep the job when its pull request is merged or closed
    #[arg(long)]
    pub no_retire: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// The events.
#[derive(Debug, Clone, Args)]
pub struct Events {
    /// Where the files are.
    #[command(flatten)]
    pub places: JobPlaces,
    /// Only events after this one, by its id
    #[arg(long, default_value_t = 0, value_name = "ID")]
    pub after: u64,
    /// Only events of this job
    #[arg(long, value_name = "ID")]
    pub job: Option<JobId>,
    /// Only events of this kind
    #[arg(long, value_name = "KIND")]
    pub kind: Option<EventKind>,
    /// Only events that nobody has taken note of
    #[arg(long)]
    pub unread: bool,
    /// Go on with what comes, until a signal ends it
    #[arg(long)]
    pub follow: bool,
    /// Take note of this event, so that nobody is woken for it
    #[arg(long, value_name = "ID", conflicts_with = "follow")]
    pub acknowledge: Option<u64>,
    /// Print events as JSON, one a line
    #[arg(long)]
    pub json: bool,
}

/// `jobs …`
#[derive(Debug, Clone, Subcommand)]
pub enum JobsCommand {
    /// List the jobs
    List {
        /// Retired ones, too
        #[arg(long)]
        all: bool,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
        /// Where the files are.
        #[command(flatten)]
        places: JobPlaces,
    },
    /// Put a session into the jobs file
    ///
    /// Jules may show a session some time after it was made: one that it does not know is waited for during its first
    /// minute as a job, and is told as gone and retired when two later looks in a row do not find it.
    Add {
        /// The session's id
        id: JobId,
        /// The repository that it works on
        #[arg(long, value_name = "OWNER/NAME")]
        repo: Option<phileas_domain::model::RepositoryName>,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        task: Option<String>,
        /// Whose turn comes first: critical, high, normal, low
        #[arg(long, value_parser = priority, value_name = "WORD")]
        priority: Option<phileas_domain::jobs::Priority>,
        /// Where the files are.
        #[command(flatten)]
        places: JobPlaces,
    },
    /// Look at a job no more; its session is left alone
    Retire {
        /// The session's id
        id: JobId,
        /// Why: done, cancelled, merged, closed
        #[arg(long, default_value = "done", value_parser = reason, value_name = "WORD")]
        reason: RetireReason,
        /// Where the files are.
        #[command(flatten)]
        places: JobPlaces,
    },
}

fn length(text: &str, unit: f64) -> Result<SignedDuration, String> {
    let count = text.trim().parse::<f64>().ok();
    count
        .and_then(|count| config::length(count * unit))
        .ok_or_else(|| "it is a number above 0, of a day at most".to_owned())
}

fn seconds(text: &str) -> Result<SignedDuration, String> {
    length(text, 1.0)
}

fn minutes(text: &str) -> Result<SignedDuration, String> {
    length(text, 60.0)
}

fn kind_and_command(text: &str) -> Result<(EventKind, String), String> {
    let (kind, command) = text
        .split_once('=')
        .ok_or("it is a kind and a command, as `question=my-agent --answer`")?;
    let kind = kind
        .parse()
        .map_err(|error: phileas_domain::jobs::event::EventKindError| error.to_string())?;
    Ok((kind, command.to_owned()))
}

fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|error| error.to_string())
}

fn priority(text: &str) -> Result<phileas_domain::jobs::Priority, String> {
    word(text)
}

fn reason(text: &str) -> Result<RetireReason, String> {
    word(text)
}
