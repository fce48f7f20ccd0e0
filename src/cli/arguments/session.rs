//! `session`.

use clap::Subcommand;

use super::help::{LEDGER, command_end};
use super::repository::Repository;

/// `session …`
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this repository
    #[command(after_help = command_end("phileas session list --repo acme/widget", LEDGER))]
    List {
        /// Archived sessions, too
        #[arg(long)]
        archived: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Show one session and its activities
    #[command(after_help = command_end("phileas session show 15481661885092594092 --repo acme/widget", LEDGER))]
    Show {
        /// The session's or the turn's id
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Approve a session's plan
    #[command(after_help = command_end("phileas session approve 15481661885092594092 --repo acme/widget", LEDGER))]
    Approve {
        /// The session's id
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Send a message to a session that is not archived
    #[command(after_help = command_end("phileas session message 15481661885092594092 'Use the existing helper' --repo acme/widget", LEDGER))]
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
    #[command(after_help = command_end("phileas session retry 15481661885092594092 --repo acme/widget", LEDGER))]
    Retry {
        /// The session's or the turn's id
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// End a live turn, or withdraw a request: the session is archived, and the next tick advances its track
    #[command(after_help = command_end("phileas session cancel 15481661885092594092 --repo acme/widget", LEDGER))]
    Cancel {
        /// The session's or the turn's id, or `request:<number>` as `tick` and `explain` name it
        id: String,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Import a session that was started elsewhere into the ledger, and follow it
    #[command(after_help = command_end("phileas session import 15481661885092594092 --persona curator --repo acme/widget", LEDGER))]
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
