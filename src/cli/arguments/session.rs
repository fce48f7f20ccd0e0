//! `session`.

use clap::Subcommand;

use super::repository::Repository;

/// `session …`
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this repository
    List {
        /// Archived sessions, too
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
    /// Send a message to a session that is not archived
    Message {
        /// The session's or the turn's id
        id: String,
        /// The message
        text: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Run a turn again: a held turn resumes, a finished one is requested again
    Retry {
        /// The session's or the turn's id
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// End a live turn, or withdraw a request: the session is archived, and the next tick advances its track
    Cancel {
        /// The session's or the turn's id, or `request:<number>` as `tick` and `explain` name it
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Import a session that was started elsewhere into the ledger, and follow it
    Import {
        /// The session's id
        id: String,
        /// The persona that it counts for
        #[arg(long)]
        persona: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
}
