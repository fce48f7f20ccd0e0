//! `work`.

use clap::{Args, Subcommand};

use super::help::{LEDGER, command_end};
use super::repository::Repository;

/// `work …`
#[derive(Debug, Subcommand)]
pub enum WorkCommand {
    /// List the records: what became of each pull request, and the one that is most like it
    #[command(after_help = command_end("phileas work list --repo acme/widget", LEDGER))]
    List(ListWork),
    /// Show one record, and the records that are like it
    #[command(after_help = command_end("phileas work show 12 --repo acme/widget", LEDGER))]
    Show(OneRecord),
    /// Make missing and outdated records from GitHub, and write them to the ledger
    ///
    /// It reads the files of each pull request: GitHub allows a token 5,000 requests an hour, so ten thousand pull requests
    /// take two hours and more. What was written stays: a run that was ended goes on where it was.
    #[command(after_help = command_end("phileas work rebuild --deadline 2h --repo acme/widget", LEDGER))]
    Rebuild(Repository),
    /// Withdraw the refusal of a pull request, as `/phileas forget` on it does
    #[command(after_help = command_end("phileas work forget 12 --repo acme/widget", LEDGER))]
    Forget(OneRecord),
}

/// `work list`
#[derive(Debug, Args)]
pub struct ListWork {
    /// Print each record as JSON on a line of its own
    #[arg(long, conflicts_with = "json")]
    pub jsonl: bool,
    /// Which repository.
    #[command(flatten)]
    pub repository: Repository,
}

/// A pull request with a record.
#[derive(Debug, Args)]
pub struct OneRecord {
    /// The number of the pull request
    #[arg(value_name = "PR", value_parser = parse_pull)]
    pub pull: u64,
    /// Which repository.
    #[command(flatten)]
    pub repository: Repository,
}

/// The number of a pull request, also as GitHub shows it: `#12`.
fn parse_pull(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix('#').unwrap_or(text).parse().ok();
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| {
        format!("`{text}` is not the number of a pull request; write one such as 12")
    })
}
