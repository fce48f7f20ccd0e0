//! `phileas state`: shows, repairs and rebuilds the ledger's state file.

mod file;
mod ledger_commit;
mod rebuild;
mod repair;
mod repair_target;
mod show;
mod source;
mod state_text;
mod written_to;

use std::io::Write;

use crate::cli::arguments::StateCommand;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;

pub(crate) async fn run(
    command: &StateCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        StateCommand::Show { file, source } => {
            let source = source::with_repository(file.as_deref(), source)?;
            show::run(file.as_deref(), &source, screen).await
        }
        StateCommand::Repair {
            file,
            write,
            source,
        } => {
            let source = source::with_repository(file.as_deref(), source)?;
            repair::run(file.as_deref(), *write, &source, screen).await
        }
        StateCommand::Rebuild { write, repository } => {
            rebuild::run(*write, repository, screen).await
        }
    }
}
