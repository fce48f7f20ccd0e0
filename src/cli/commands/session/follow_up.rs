//! The tick that carries out what a person decided about a session.

use std::io::Write;

use phileas_domain::engine::{Line, Reason, RunRequest};

use crate::adapters::github;
use crate::adapters::jules::RepositoryJules;
use crate::adapters::stopwatch::SystemStopwatch;
use crate::cli::commands::tick;
use crate::cli::context::clients::Connection;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::Tense;
use crate::cli::terminal::output::Screen;
use crate::runtime::{Settings, Tick, TickReport};

/// One tick, so that what was written is carried out at once.
pub(crate) async fn carry_out(
    connection: &Connection,
    ask: RunRequest,
    json: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let settings = connection.settings(ask)?;
    let stop = || Deadline::is_near(deadline);
    let report = tick_of(connection).run_until(&settings, &stop).await?;
    show(connection, &report, &settings.ask, json, deadline, screen)
}

/// One tick that follows what is live and starts nothing: whoever cancels does not ask for the next session.
pub(crate) async fn end_only(
    connection: &Connection,
    json: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let settings = connection.settings(RunRequest::Due)?;
    let paused_already = settings.paused_by_variable.is_some();
    let settings = Settings {
        paused_by_variable: Some("session cancel".to_owned()),
        ..settings
    };
    let stop = || Deadline::is_near(deadline);
    let mut report = tick_of(connection).run_until(&settings, &stop).await?;
    if !paused_already {
        // The pause was this command's own, for as long as it ran.
        let own = |line: &Line| line.reason == Reason::PausedVariable;
        report.waiting.retain(|(_, line)| !own(line));
        report.wake_at = Some(report.now);
    }
    show(
        connection,
        &report,
        &RunRequest::Due,
        json,
        deadline,
        screen,
    )
}

fn tick_of(connection: &Connection) -> Tick<'_, github::Client, RepositoryJules, SystemStopwatch> {
    Tick {
        github: &connection.github,
        jules: &connection.jules,
        stopwatch: &connection.stopwatch,
    }
}

fn show(
    connection: &Connection,
    report: &TickReport,
    ask: &RunRequest,
    json: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    tick::print(
        screen,
        &connection.repository,
        report,
        connection.cost(),
        Tense::Deed,
        json,
    )?;
    if report.stopped {
        return Err(Deadline::stopped(deadline));
    }
    tick::ended(report, ask)
}
