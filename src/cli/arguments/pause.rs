//! `pause`.

use clap::Args;

use super::repository::Repository;

/// Arguments of `pause`.
#[derive(Debug, Clone, Args)]
pub struct Pause {
    /// Also archive every live session, and end its turn
    #[arg(long)]
    pub cancel_sessions: bool,
    /// Which repository.
    #[command(flatten)]
    pub repository: Repository,
}
