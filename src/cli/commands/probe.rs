//! `phileas probe`: the questions that the services' documentation leaves open, put to the services themselves.
//!
//! The answers can be written as a fault plan, so that the sandbox behaves as the real services did on that day.

mod asker;
mod finding;
mod github;
mod jules;
mod shape;
mod write;

use std::io::Write;

use crate::adapters::files::write_named;
use crate::cli::arguments::Probe;
use crate::cli::context::clients::Connection;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::ports::ReadGitHub as _;
use asker::Prober;
use finding::{Finding, fault_plan_toml};

pub(crate) async fn run(
    arguments: &Probe,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repository.repo)?;
    // First of all, so that a credential that is refused ends this with its own exit code.
    let observation = connection.github.observe().await?;
    let mut asker = Prober::new(&connection);
    let mut findings: Vec<Finding> = Vec::new();
    let listed = jules::probe_jules(&mut asker, &connection, &mut findings).await?;
    let pulls: Vec<_> = observation.pulls.into_values().collect();
    github::probe_github(&mut asker, &listed, &pulls, &mut findings).await;
    if arguments.write {
        write::probe_writes(&mut asker, &observation.repository, &mut findings).await?;
    }
    for finding in &findings {
        if arguments.repository.json {
            screen.print_line(&finding.finding_json().to_string())?;
        } else {
            screen.print_lines(&finding.finding_text())?;
        }
    }
    let answered = findings.iter().filter(|one| one.answer.is_some()).count();
    if !arguments.repository.json {
        let more = if arguments.write {
            ""
        } else {
            "; `--write` asks the rest, on a scratch repository"
        };
        screen.print_line(&format!(
            "{answered} of {} questions answered{more}",
            findings.len()
        ))?;
    }
    if let Some(path) = &arguments.out {
        let text =
            fault_plan_toml(&findings).map_err(|error| CliError::fault(error.to_string()))?;
        write_named(path, &text)
            .map_err(|error| CliError::usage(format!("--out {}: {error}", path.display())))?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}
