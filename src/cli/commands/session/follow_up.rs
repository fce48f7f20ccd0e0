//! The tick that carries out a person's decision about a session.

use std::io::Write;

use phileas_domain::Diagnostic;
use phileas_domain::engine::{Line, Reason, RunRequest};

use crate::cli::commands::tick;
use crate::cli::context::clients::{Connection, run_settings};
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::Tense;
use crate::cli::terminal::output::{self, Screen};
use crate::runtime::{Settings, TickReport};

/// Runs one tick, to carry out at once what was written. `print_done` says what was done, unless the tick refuses it.
pub(crate) async fn run_follow_up<W: Write>(
    connection: &Connection,
    ask: RunRequest,
    json: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<W>,
    print_done: impl FnOnce(&mut Screen<W>) -> Result<(), CliError>,
) -> Result<Exit, CliError> {
    let settings = run_settings(ask)?;
    let report = connection.run_tick(&settings, deadline).await?;
    let mut waiting = report.waiting.iter().map(|(_, line)| line);
    if !waiting.any(|line| tick::is_refused(line, &settings.ask)) {
        print_done(screen)?;
    }
    print_report(connection, report, &settings.ask, json, deadline, screen)
}

/// Runs one tick that follows live sessions and starts nothing: a cancel is not a request for the next session.
pub(crate) async fn run_without_starts(
    connection: &Connection,
    json: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let settings = run_settings(RunRequest::Due)?;
    let paused_already = settings.paused_by_variable.is_some();
    let settings = Settings {
        paused_by_variable: Some("session cancel".to_owned()),
        ..settings
    };
    let mut report = connection.run_tick(&settings, deadline).await?;
    if !paused_already {
        // This command paused the repository itself, while it ran.
        let own = |line: &Line| line.reason == Reason::PausedVariable;
        report.waiting.retain(|(_, line)| !own(line));
        report.wake_at = Some(report.now);
    }
    print_report(connection, report, &RunRequest::Due, json, deadline, screen)
}

fn print_report(
    connection: &Connection,
    mut report: TickReport,
    ask: &RunRequest,
    json: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    tick::print_report(
        screen,
        &connection.repository,
        &report,
        connection.client_cost(),
        Tense::Done,
        json,
    )?;
    if report.stopped {
        return Err(Deadline::deadline_error(deadline));
    }
    // The command has done its work, so a mistake in the plan is no result of it.
    let diagnostics = std::mem::take(&mut report.plan_diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        output::print_error(
            "warning: this is done, but the plan or a prompt has mistakes; `phileas doctor` shows them",
        )?;
    }
    tick::tick_result(&report, ask)
}
