//! `phileas sandbox`: days of work on models of GitHub and Jules.

mod environment;
mod models_only;
mod option_file;
mod play;
mod scenario;
mod service;
mod transcript;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use phileas_domain::engine::{Line, Reason, blocking_mistakes};
use phileas_domain::model::{PersonaId, RepositoryName, TrackName, Tree};
use phileas_domain::plan::{CONFIG_PATH, SCHEDULES_PATH};
use phileas_domain::toml_text::TomlText;
use phileas_world::faults_file::FaultsFile;
use phileas_world::jules::{Ideas, Weights};
use phileas_world::maintainer::ReviewPolicy;
use phileas_world::{FaultPlan, Knobs};
use serde_json::json;

use super::exchange::is_ledger;
use super::validate;
use crate::adapters::files;
use crate::cli::arguments::{Maintainer, Sandbox};
use crate::cli::exit::paths::export_error;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::{Tense, line_json, line_text, short_time, summary_json};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::pluralize;
use crate::sandbox::{SharedWorld, Ticked, Timeline, WorldSetup, world_setup};
use option_file::read_option_file;

/// The column at which the further rows of a long line begin.
const INDENT: usize = 18;
/// The share of ideas that the usual maintainer does not want.
const REFUSED: f64 = 0.2;

pub(crate) async fn run(
    arguments: &Sandbox,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if let Some(file) = &arguments.scenario {
        check_export(arguments)?;
        return scenario::run(file, arguments, screen).await;
    }
    if let Some(dir) = &arguments.ledger
        && !(dir.is_dir() && is_ledger(&files::read_tree(dir)?))
    {
        return Err(CliError::usage(format!(
            "--ledger: {} has no files of the branch `jules`; name a folder that has, such as a checkout of that branch or \
             `branches/jules` of an export",
            dir.display()
        )));
    }
    let setup = build_setup(arguments)?;
    if arguments.world_only {
        if let Some(dir) = arguments.folder() {
            // A program that reads the addresses expects no output before them. The models serve any program, whether
            // or not the plan runs.
            for one in validate::check_tree(&read_tree(dir)?).1 {
                output::print_error(&one.to_string())?;
            }
        }
        return models_only::run(arguments, setup, screen).await;
    }
    if let Some(dir) = arguments.folder() {
        check_plan(dir, arguments.json, screen)?;
    }
    check_export(arguments)?;
    // A person at a terminal sees the service at work; an export needs the finished days.
    let watched = screen.interactive && !arguments.headless && !arguments.json;
    if arguments.serve || arguments.empty || (watched && arguments.export.is_none()) {
        service::run(arguments, setup, screen).await
    // Only a person at a terminal watches the days pass.
    } else if arguments.headless || arguments.json {
        run_headless(arguments, setup, screen).await
    } else {
        play::run(arguments, setup, screen).await
    }
}

/// Checks that the export folder can be written, before the days are played.
fn check_export(arguments: &Sandbox) -> Result<(), CliError> {
    match &arguments.export {
        Some(dir) => phileas_world::export::check_target(dir).map_err(|error| export_error(&error)),
        None => Ok(()),
    }
}

/// Reports what is wrong with a folder's plan. A sandbox in which nothing can run would show nothing.
fn check_plan(dir: &Path, json: bool, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    let tree = read_tree(dir)?;
    let (plan, found) = validate::check_tree(&tree);
    if json {
        for one in &found {
            let line = json!({ "diagnostic": diagnostics::diagnostic_json(one) });
            screen.print_line(&line.to_string())?;
        }
    } else {
        diagnostics::print_diagnostics(&found, false, screen)?;
    }
    screen.flush()?;
    let runnable = validate::count_runnable(&plan, &tree) > 0;
    if runnable && blocking_mistakes(&found, &tree).is_empty() {
        return Ok(());
    }
    let what = if runnable {
        "its plan has a mistake that may concern everything, so nothing would start"
    } else if [SCHEDULES_PATH, CONFIG_PATH]
        .iter()
        .any(|path| tree.has(path))
    {
        "nothing in its plan can run by itself"
    } else {
        "it has no plan"
    };
    Err(CliError::usage(format!(
        "{}: {what}; correct it, then check it with `phileas validate {0}`",
        dir.display()
    )))
}

fn read_tree(dir: &Path) -> Result<Tree, CliError> {
    Ok(files::read_tree(dir)?)
}

fn build_setup(arguments: &Sandbox) -> Result<WorldSetup, CliError> {
    let mut setup = WorldSetup::new(arguments.seed);
    setup.repo = arguments.folder().cloned();
    setup.ledger.clone_from(&arguments.ledger);
    setup.empty = arguments.empty;
    setup.begins_with_request = !arguments.world_only && !arguments.empty;
    setup.layers = arguments.layers;
    let plays = !arguments.empty && !arguments.world_only;
    if plays {
        // Sessions have popular ideas again, so that `[novelty]` has something to do.
        setup.jules.ideas = Some(Ideas::default());
    }
    if arguments.empty {
        // A first try ends with a pull request, however long the person takes. Other sandboxes show what else may
        // happen.
        setup.jules.asks = 0.0;
        setup.jules.weights = Weights::only_changes();
    }
    match arguments.maintainer {
        // In a sandbox for a person to try, no model of a maintainer acts.
        Maintainer::Usual if arguments.empty => setup.review_policy = ReviewPolicy::absent(),
        Maintainer::Usual if plays => setup.review_policy.refuses = REFUSED,
        Maintainer::Usual => {}
        Maintainer::Eager => setup.review_policy = ReviewPolicy::eager(),
        Maintainer::Away => setup.review_policy = ReviewPolicy::absent(),
    }
    if arguments.chaos {
        setup.knobs = Knobs::worst();
        setup.faults = world_setup::worst_faults();
    }
    if let Some(path) = &arguments.faults {
        let (knobs, faults) = read_faults(path)?;
        setup.knobs = knobs;
        setup.faults = faults;
    }
    Ok(setup)
}

fn read_faults(path: &Path) -> Result<(Knobs, FaultPlan), CliError> {
    let text = read_option_file("--faults", path)?;
    let file = path.display().to_string();
    let trouble: Result<FaultsFile, _> = TomlText::new(&file, &text).read();
    let trouble = trouble.map_err(|wrong| CliError::usage(wrong.of_option("--faults")))?;
    Ok(trouble.into_parts())
}

async fn run_headless(
    arguments: &Sandbox,
    setup: WorldSetup,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let (world, _) = setup.build_world().map_err(CliError::usage)?;
    let shared = SharedWorld::new(world);
    let start = shared.world_time();
    let repository = world_setup::repository_name();
    let mut days = Timeline::new(
        shared.clone(),
        repository.clone(),
        arguments.until,
        arguments.seed,
    );
    let mut failed_ticks = 0_u64;
    let mut waits = Waits::default();
    while let Some(ticked) = days.next().await {
        failed_ticks += u64::from(ticked.result.is_err());
        if arguments.json {
            print_tick_json(&ticked, &repository, &mut waits, screen)?;
        } else {
            print_tick(&ticked, &mut waits, screen)?;
        }
    }
    let world = shared.lock_world();
    let books = world.complete_books();
    let total = json!({ "sandbox": {
        "seed": arguments.seed,
        "from": start.to_string(),
        "until": world.now().to_string(),
        "ticks": days.tick_count(),
        "failed_ticks": failed_ticks,
        "sessions": books.sessions.len(),
        "requests": books.requests.len(),
    }});
    if arguments.json {
        screen.print_line(&total.to_string())?;
    } else {
        let text = format!(
            "{} ticks, {failed_ticks} of them failed; {}; {}; until {}",
            days.tick_count(),
            pluralize(books.sessions.len(), "session"),
            pluralize(books.requests.len(), "request"),
            short_time(world.now())
        );
        screen.print_wrapped(&text, 2)?;
    }
    if let Some(dir) = &arguments.export {
        world.export(dir).map_err(|error| export_error(&error))?;
        if !arguments.json {
            screen.print_wrapped(
                &format!(
                    "wrote the repository, its branches and the models' records to {}",
                    dir.display()
                ),
                2,
            )?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn print_tick_json(
    ticked: &Ticked,
    repository: &RepositoryName,
    waits: &mut Waits,
    screen: &mut Screen<impl Write>,
) -> io::Result<()> {
    match &ticked.result {
        Ok(report) => {
            for (at, line) in report.done.iter().chain(waits.news(&report.waiting)) {
                let line = line_json(*at, repository, line, Tense::Done);
                screen.print_line(&line.to_string())?;
            }
            screen.print_line(&summary_json(report, ticked.cost, Tense::Done).to_string())
        }
        Err(error) => {
            let line = json!({ "at": ticked.at.to_string(), "failed": error.to_string() });
            screen.print_line(&line.to_string())
        }
    }
}

fn print_tick(
    ticked: &Ticked,
    waits: &mut Waits,
    screen: &mut Screen<impl Write>,
) -> io::Result<()> {
    match &ticked.result {
        Ok(report) => {
            let colour = screen.colour;
            // Print the lines about the whole repository, because most of them block every start.
            let mut news = waits.news(&report.waiting);
            news.retain(|(_, line)| line.track.is_none() && line.persona.is_none());
            for (at, line) in news.into_iter().chain(&report.done) {
                let text = line_text(line, colour, Tense::Done);
                screen.print_wrapped(&format!("{}  {text}", short_time(*at)), INDENT)?;
            }
            Ok(())
        }
        Err(error) => screen.print_line(&format!(
            "{}  the tick failed: {error}",
            short_time(ticked.at)
        )),
    }
}

/// What waited at the last tick, and why. The same wait is printed once, not at each tick.
#[derive(Debug, Default)]
struct Waits(BTreeSet<(Option<TrackName>, Option<PersonaId>, Reason)>);

impl Waits {
    /// The waits of this tick that the tick before did not have.
    fn news<'l>(&mut self, waiting: &'l [(Timestamp, Line)]) -> Vec<&'l (Timestamp, Line)> {
        let about = |line: &Line| (line.track.clone(), line.persona.clone(), line.reason);
        let now = waiting.iter().map(|(_, line)| about(line)).collect();
        let before = std::mem::replace(&mut self.0, now);
        let news = waiting
            .iter()
            .filter(|(_, line)| !before.contains(&about(line)));
        news.collect()
    }
}

#[cfg(test)]
mod tests {
    use phileas_domain::engine::Verdict;

    use super::*;

    #[test]
    fn each_wait_is_printed_once_until_it_ends() {
        let line = |reason| {
            let line = Line::about_repository(Verdict::Waiting, reason, "");
            (Timestamp::UNIX_EPOCH, line)
        };
        let both = [line(Reason::RetryPause), line(Reason::RequestUnread)];
        let mut waits = Waits::default();
        assert_eq!(waits.news(&both).len(), 2);
        assert_eq!(waits.news(&both).len(), 0);
        assert_eq!(waits.news(&both[..1]).len(), 0);
        assert_eq!(waits.news(&both), [&both[1]]);
    }
}
