//! `tick` and `action`.

use std::path::PathBuf;

use clap::Args;
use phileas_domain::model::RepositoryName;
use phileas_domain::plan::EntryPoint;

use super::repository::Repository;

/// Arguments of `tick` and `explain`.
#[derive(Debug, Clone, Args)]
pub struct TickArguments {
    /// Which repository.
    #[command(flatten)]
    pub repository: Repository,
    /// The event that triggered the run; it only says that something is due, and the tick reads everything again
    #[arg(long, env = "GITHUB_EVENT_NAME", value_name = "NAME")]
    pub event_name: Option<String>,
    /// The event's payload
    #[arg(long, env = "GITHUB_EVENT_PATH", value_name = "FILE")]
    pub event_path: Option<PathBuf>,
    /// Request this persona now, by its id or the path of its prompt; the request waits until a session may start
    #[arg(long, value_name = "ID", conflicts_with_all = ["track", "all"])]
    pub persona: Option<String>,
    /// Run the next step of this track now, and nothing else
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub track: Option<String>,
    /// Begin a pass through the layers at this one, now, and skip those before it: narrator, observers, decider,
    /// requirements (planner and implementer), innovators
    #[arg(long, value_name = "ENTRY", value_parser = parse_entry_point, conflicts_with_all = ["persona", "track", "all"])]
    pub entry_point: Option<EntryPoint>,
    /// Run every persona once, whatever the schedule says, within the budgets
    #[arg(long)]
    pub all: bool,
    /// Decide and report, without any client that could write
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `action`. Everything else comes from the runner's variables, as `action.yml` sets them.
#[derive(Debug, Clone, Args)]
pub struct ActionArguments {
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: RepositoryName,
}

fn parse_entry_point(word: &str) -> Result<EntryPoint, String> {
    EntryPoint::of(word).ok_or_else(|| format!("the entry points are {}", EntryPoint::word_list()))
}
