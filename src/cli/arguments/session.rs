//! `session`.

use clap::Subcommand;

use super::repository::Repository;

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
