//! `agent`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;
use phileas_domain::jobs::{EventKind, JobId, RetireReason, config};

use super::help::{LEDGER, command_end};
use super::values::parse_whole;

/// The files of jobs and events. A flag comes before its variable, and both come before the configuration. A command
/// with subcommands accepts them before and after these.
#[derive(Debug, Clone, Args)]
pub struct JobFiles {
    /// The configuration, as JSON; `ZAI_JULES_CONFIG` is read as well, and `zai-jules-manager/config.json` if it exists
    #[arg(long, env = "PHILEAS_JOBS_CONFIG", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// The jobs file [default: `.phileas/jobs.jsonl`]
    #[arg(long, env = "PHILEAS_JOBS_PATH", value_name = "FILE", global = true)]
    pub jobs: Option<PathBuf>,
    /// The events file [default: `.phileas/events.jsonl`]
    #[arg(long, env = "PHILEAS_EVENTS_PATH", value_name = "FILE", global = true)]
    pub events: Option<PathBuf>,
}

impl JobFiles {
    /// Reads the files from the variables, for a command whose own options have another meaning.
    ///
    /// # Errors
    ///
    /// A variable has a value that cannot be parsed.
    pub fn from_environment() -> Result<Self, clap::Error> {
        #[derive(clap::Parser)]
        struct OfEnvironment {
            #[command(flatten)]
            files: JobFiles,
        }
        let given = <OfEnvironment as clap::Parser>::try_parse_from(["phileas"])?;
        Ok(given.files)
    }
}

/// `agent …`
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Check the jobs of your own agent, and write an event when one needs the agent
    #[command(after_help = command_end("phileas agent monitor --once", LEDGER))]
    Monitor(Monitor),
    /// Start a program for each event of the monitor
    #[command(after_help = command_end("phileas agent watch --once --command 'my-agent --wake'", LEDGER))]
    Watch(Watch),
    /// Handle one event, and print what an agent needs to know about it
    #[command(after_help = command_end(r#"phileas agent handle-event --event '{"event": "question", "job_id": "15481661885092594092"}'"#, LEDGER))]
    HandleEvent(HandleEvent),
    /// Print the events; `--follow` also prints new ones
    #[command(after_help = command_end("phileas agent events --unread", LEDGER))]
    Events(Events),
    /// List the jobs of your own agent, register and retire them
    #[command(after_help = command_end("phileas agent jobs list", LEDGER))]
    Jobs {
        /// What to do.
        #[command(subcommand)]
        command: JobsCommand,
    },
}

/// Arguments of `agent monitor`.
#[derive(Debug, Clone, Args)]
pub struct Monitor {
    /// Which files.
    #[command(flatten)]
    pub files: JobFiles,
    /// The monitor's memory [default: `.phileas/monitor.json`]
    #[arg(
        long = "state-file",
        env = "PHILEAS_MONITOR_STATE_PATH",
        value_name = "FILE"
    )]
    pub state: Option<PathBuf>,
    /// Check once, and end
    #[arg(long)]
    pub once: bool,
    /// The interval between checks, in seconds [default: 45]
    #[arg(long, env = "PHILEAS_MONITOR_POLL_SECONDS", value_parser = parse_seconds, value_name = "SECONDS")]
    pub poll: Option<SignedDuration>,
    /// After how many minutes without activity a session is stuck [default: 20]
    #[arg(long, env = "PHILEAS_STUCK_MINUTES", value_parser = parse_minutes, value_name = "MINUTES")]
    pub stuck_minutes: Option<SignedDuration>,
    /// The address of Jules' API
    #[arg(long, env = "JULES_API_BASE", value_name = "URL")]
    pub api_base: Option<String>,
    /// A folder with Jules keys: files named `owner__name`, or `owner` for all others of that owner
    #[arg(long, env = "PHILEAS_JULES_KEYS_DIR", value_name = "DIR")]
    pub jules_keys_dir: Option<PathBuf>,
    /// Write metrics for Prometheus into this file after each check
    #[arg(long, env = "PHILEAS_METRICS_FILE", value_name = "FILE")]
    pub metrics_file: Option<PathBuf>,
    /// Leave the session alone when its pull request is merged or closed
    #[arg(long)]
    pub no_archive: bool,
    /// Keep the job when its pull request is merged or closed
    #[arg(long)]
    pub no_retire: bool,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `agent watch`.
#[derive(Debug, Clone, Args)]
pub struct Watch {
    /// Which files.
    #[command(flatten)]
    pub files: JobFiles,
    /// The watcher's memory [default: `.phileas/watcher.json`]
    #[arg(
        long = "state-file",
        env = "PHILEAS_WATCHER_STATE_PATH",
        value_name = "FILE"
    )]
    pub state: Option<PathBuf>,
    /// The program to start for each event, with its arguments [default: `zai_command` of the configuration]
    #[arg(long, value_name = "CMD")]
    pub command: Option<String>,
    /// The program for one kind of event, as `question=my-agent --answer`; may be given several times
    #[arg(long = "on", value_parser = parse_kind_and_command, value_name = "KIND=CMD")]
    pub on: Vec<(EventKind, String)>,
    /// Give the commands to `sh -c`
    #[arg(long)]
    pub shell: bool,
    /// The interval between reads if the system does not report changes, in seconds [default: 1]
    #[arg(long, env = "PHILEAS_WATCHER_POLL_SECONDS", value_parser = parse_seconds, value_name = "SECONDS")]
    pub poll: Option<SignedDuration>,
    /// Handle the present events, and end
    #[arg(long)]
    pub once: bool,
}

/// Arguments of `agent handle-event`.
#[derive(Debug, Clone, Args)]
pub struct HandleEvent {
    /// Which files.
    #[command(flatten)]
    pub files: JobFiles,
    /// The address of Jules' API
    #[arg(long, env = "JULES_API_BASE", value_name = "URL")]
    pub api_base: Option<String>,
    /// A folder with Jules keys: files named `owner__name`, or `owner` for all others of that owner
    #[arg(long, env = "PHILEAS_JULES_KEYS_DIR", value_name = "DIR")]
    pub jules_keys_dir: Option<PathBuf>,
    /// The event as JSON, instead of the variable JULES_EVENT
    #[arg(long, env = "JULES_EVENT", hide_env_values = true, value_name = "JSON")]
    pub event: Option<String>,
    /// Do not ask Jules for the changes, nor whether a question, a plan or a standstill has been resolved meanwhile
    #[arg(long)]
    pub no_look: bool,
    /// Do not ask GitHub for the pull request and its checks
    #[arg(long)]
    pub no_checks: bool,
    /// How many sessions to start in place of one that failed [default: 1], 0 for none
    #[arg(long, value_name = "COUNT", value_parser = parse_retries)]
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
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `agent events`.
#[derive(Debug, Clone, Args)]
pub struct Events {
    /// Which files.
    #[command(flatten)]
    pub files: JobFiles,
    /// Only events after this one, by its id
    #[arg(long, default_value_t = 0, value_name = "ID", value_parser = parse_event_id)]
    pub after: u64,
    /// Only events of this job
    #[arg(long, value_name = "ID")]
    pub job: Option<JobId>,
    /// Only events of this kind
    #[arg(long, value_name = "KIND")]
    pub kind: Option<EventKind>,
    /// Only events that are not acknowledged
    #[arg(long)]
    pub unread: bool,
    /// Print new events as well, until a signal ends it
    #[arg(long)]
    pub follow: bool,
    /// Acknowledge this event, so that it wakes no agent
    #[arg(long, value_name = "ID", value_parser = parse_event_id, conflicts_with = "follow")]
    pub acknowledge: Option<u64>,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

/// `agent jobs …`
#[derive(Debug, Clone, Subcommand)]
pub enum JobsCommand {
    /// List the jobs
    #[command(after_help = command_end("phileas agent jobs list --all", LEDGER))]
    List {
        /// Retired jobs, too
        #[arg(long)]
        all: bool,
        /// Print JSON for programs, one document a line
        #[arg(long)]
        json: bool,
        /// Which files.
        #[command(flatten)]
        files: JobFiles,
    },
    /// Register a session as a job
    ///
    /// Jules may list a session some time after its creation. A session that Jules does not know is expected during its
    /// first minute as a job. After that, two checks in a row without it report it as gone and retire the job.
    #[command(after_help = command_end("phileas agent jobs add 15481661885092594092 --repo acme/widget", LEDGER))]
    Add {
        /// The session's id
        #[arg(value_parser = parse_session)]
        id: JobId,
        /// The repository that it works on
        #[arg(long, value_name = "OWNER/NAME")]
        repo: Option<phileas_domain::model::RepositoryName>,
        /// The purpose
        #[arg(long, value_name = "TEXT")]
        task: Option<String>,
        /// The priority: critical, high, normal, low
        #[arg(long, value_parser = parse_priority, value_name = "WORD")]
        priority: Option<phileas_domain::jobs::Priority>,
        /// Which files.
        #[command(flatten)]
        files: JobFiles,
    },
    /// Retire a job; its session is left alone
    #[command(after_help = command_end("phileas agent jobs retire 15481661885092594092", LEDGER))]
    Retire {
        /// The session's id
        id: JobId,
        /// Why: done, cancelled, merged, closed
        #[arg(long, default_value = "done", value_parser = parse_reason, value_name = "WORD")]
        reason: RetireReason,
        /// Which files.
        #[command(flatten)]
        files: JobFiles,
    },
}

/// The seconds of a day.
const DAY_SECONDS: f64 = 24.0 * 60.0 * 60.0;

fn parse_length(text: &str, what: &str, unit: f64) -> Result<SignedDuration, String> {
    let count = text.trim().parse::<f64>().ok();
    count
        .and_then(|count| config::length(count * unit))
        .ok_or_else(|| {
            format!(
                "write a number of {what} above 0, up to {} (a day)",
                DAY_SECONDS / unit
            )
        })
}

fn parse_seconds(text: &str) -> Result<SignedDuration, String> {
    parse_length(text, "seconds", 1.0)
}

fn parse_minutes(text: &str) -> Result<SignedDuration, String> {
    parse_length(text, "minutes", 60.0)
}

fn parse_event_id(text: &str) -> Result<u64, String> {
    parse_whole(text, 0..=u64::MAX, "the id of an event, a whole number", 12)
}

fn parse_retries(text: &str) -> Result<u32, String> {
    parse_whole(
        text,
        0..=u64::from(u32::MAX),
        "a whole number of sessions",
        1,
    )
}

fn parse_kind_and_command(text: &str) -> Result<(EventKind, String), String> {
    let (kind, command) = text
        .split_once('=')
        .ok_or("write a kind of event and a command, such as `question=my-agent --answer`")?;
    let kind = kind
        .parse()
        .map_err(|error: phileas_domain::jobs::event::EventKindError| error.to_string())?;
    Ok((kind, command.to_owned()))
}

fn parse_word<T: serde::de::DeserializeOwned>(text: &str, words: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|_| format!("write {words}"))
}

fn parse_session(text: &str) -> Result<JobId, String> {
    JobId::of_session(text).ok_or_else(|| {
        "give the session's digits, `sessions/<digits>`, or the address of its page at jules.google.com"
            .to_owned()
    })
}

fn parse_priority(text: &str) -> Result<phileas_domain::jobs::Priority, String> {
    parse_word(text, "critical, high, normal or low")
}

fn parse_reason(text: &str) -> Result<RetireReason, String> {
    parse_word(text, "done, cancelled, merged or closed")
}
