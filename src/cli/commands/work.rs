//! `phileas work`: lists, shows and rebuilds the records of what pull requests did, and forgets refusals.

mod forget;
mod list;
mod rebuild;
mod records;
mod show;

use std::io::Write;

use crate::cli::arguments::WorkCommand;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;

pub(crate) async fn run(
    command: &WorkCommand,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        WorkCommand::List(arguments) => list::run(arguments, screen).await,
        WorkCommand::Show(arguments) => show::run(arguments, screen).await,
        WorkCommand::Rebuild(repository) => rebuild::run(repository, deadline, screen).await,
        WorkCommand::Forget(arguments) => forget::run(arguments, screen).await,
    }
}
