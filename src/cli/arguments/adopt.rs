//! `adopt`.

use std::path::PathBuf;

use clap::Args;

use super::repository::Repository;

/// Arguments of `adopt`.
#[derive(Debug, Clone, Args)]
pub struct Adopt {
    /// Which repository.
    #[command(flatten)]
    pub repository: Repository,
    /// Also write a plan and personas, as the repository shows them, into this folder; existing files stay
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// Where the pull requests that were read are kept, so that the next run goes on with them [default:
    /// phileas/adopt/HOST/OWNER/NAME.jsonl below $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "FILE")]
    pub cache: Option<PathBuf>,
}
