//! The sandbox without a terminal: days pass in seconds, and each line says what just happened.

use std::io::Write;

use phileas_domain::engine::SIGN_LEGEND;

use super::transcript::Transcript;
use crate::cli::arguments::Sandbox;
use crate::cli::exit::paths::export_error;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::sandbox::{SharedWorld, Step, Timeline, WorldSetup, world_setup};

/// The share of deliveries that are lost, which shows that nothing depends on one.
pub(crate) const LOST_SHARE: f64 = 0.1;

pub(crate) async fn run(
    arguments: &Sandbox,
    mut setup: WorldSetup,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if arguments.faults.is_none() && !arguments.chaos {
        setup.knobs.webhook_lost = LOST_SHARE;
    }
    let shared = SharedWorld::new(setup.build_world().map_err(CliError::usage)?.0);
    print_header(screen)?;
    let mut transcript = Transcript::new(screen.colour);
    let mut days = Timeline::new(
        shared.clone(),
        world_setup::repository_name(),
        arguments.until,
        arguments.seed,
    );
    play_days(&mut days, &shared, &mut transcript, screen).await?;
    transcript.write_result(screen, &shared)?;
    if arguments.export.is_some() {
        export_files(arguments, &shared, screen)?;
    } else {
        screen.print_line("With --export DIR you get the repository with its ledger branch, and the models' own records.")?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Prints what the sandbox is, and what the signs of its lines mean.
pub(crate) fn print_header(screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    screen.print_lines(&format!(
        "A sandbox of {}: simulated GitHub and Jules services, a simulated maintainer, and phileas itself.\n\
         No key, no network.\n\
         {SIGN_LEGEND}\n",
        world_setup::repository_name()
    ))?;
    Ok(())
}

/// Plays the days and prints them.
pub(crate) async fn play_days(
    days: &mut Timeline,
    shared: &SharedWorld,
    transcript: &mut Transcript,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let repository = days.repository_name().clone();
    loop {
        let step = days.next_step().await;
        let books = shared.lock_world().books().clone();
        transcript.write_world(screen, &books)?;
        match step {
            Step::Moved => {}
            Step::Ticked(ticked) => match ticked.result {
                Ok(report) => transcript.write_tick(screen, &repository, &report)?,
                Err(error) => transcript.write_failed_tick(screen, ticked.at, &error)?,
            },
            Step::Over => return Ok(()),
        }
        screen.flush()?;
        // The models answer at once. Without this yield Ctrl-C would not work.
        tokio::task::yield_now().await;
    }
}

/// Writes the repositories, the branches and the models' records if an option asks for it.
pub(crate) fn export_files(
    arguments: &Sandbox,
    shared: &SharedWorld,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let Some(dir) = &arguments.export else {
        return Ok(());
    };
    shared
        .lock_world()
        .export(dir)
        .map_err(|error| export_error(&error))?;
    if !arguments.json {
        screen.print_line(&format!(
            "Everything is in {}: git/, branches/, world.json.",
            dir.display()
        ))?;
    }
    Ok(())
}
