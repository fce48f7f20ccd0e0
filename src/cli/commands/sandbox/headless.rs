//! The sandbox before a newcomer's eyes, where nobody sits at a terminal: days go by in seconds, and each line says what
//! just happened.

use std::io::Write;

use anstyle::AnsiColor;

use super::transcript::Teller;
use crate::cli::arguments::Sandbox;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::sandbox::{Days, Scene, Shared, Step, scene};

/// How many deliveries of a hundred get lost, so that one sees that nothing hangs on one.
pub(crate) const LOST: f64 = 0.1;

pub(crate) async fn run(
    arguments: &Sandbox,
    mut scene: Scene,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if arguments.faults.is_none() && !arguments.chaos {
        scene.knobs.webhook_lost = LOST;
    }
    let shared = Shared::new(scene.build().map_err(Stopped::usage)?.0);
    screen.lines(&format!(
        "A sandbox of {}: a model of GitHub, a model of Jules, a maintainer, and phileas between them.\n\
         No key, no network.\n",
        scene::repository()
    ))?;
    let mut teller = Teller::new(screen.colour);
    let mut days = Days::new(
        shared.clone(),
        scene::repository(),
        arguments.until,
        arguments.seed,
    );
    self::days(&mut days, &shared, &mut teller, screen).await?;
    teller.end(screen, &shared)?;
    if arguments.export.is_some() {
        export(arguments, &shared, screen)?;
    } else {
        screen.line("With --export DIR you get the repository with its ledger branch, and the models' own books.")?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Goes through the days and tells them.
pub(crate) async fn days(
    days: &mut Days,
    shared: &Shared,
    teller: &mut Teller,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let repository = days.repository().clone();
    loop {
        let step = days.step().await;
        let books = shared.world().books().clone();
        teller.world(screen, &books)?;
        match step {
            Step::Moved => {}
            Step::Ticked(ticked) => match ticked.result {
                Ok(report) => teller.tick(screen, &repository, &report)?,
                Err(error) => {
                    let text = format!("the tick failed: {error}");
                    teller.say(screen, ticked.at, "✘", AnsiColor::Red, &text)?;
                }
            },
            Step::Over => return Ok(()),
        }
        screen.flush()?;
        // The models answer at once: without this nobody would hear a Ctrl-C.
        tokio::task::yield_now().await;
    }
}

/// Writes the repositories, the branches and the books where they were asked for.
pub(crate) fn export(
    arguments: &Sandbox,
    shared: &Shared,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let Some(dir) = &arguments.export else {
        return Ok(());
    };
    shared
        .world()
        .export(dir)
        .map_err(|error| Stopped::usage(format!("--export {}: {error}", dir.display())))?;
    if !arguments.json {
        screen.line(&format!(
            "Everything is in {}: git/, branches/, world.json.",
            dir.display()
        ))?;
    }
    Ok(())
}
