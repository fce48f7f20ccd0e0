//! `phileas sandbox`: days of work on models of GitHub and Jules.

mod headless;
mod models_only;
mod option_file;
mod scenario;
mod service;
mod transcript;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use phileas_domain::engine::{Line, Reason, blocks_every_start};
use phileas_domain::model::{PersonaId, TrackName, Tree};
use phileas_domain::plan::SCHEDULES_PATH;
use phileas_domain::toml_text::TomlText;
use phileas_world::jules::Weights;
use phileas_world::maintainer::Temper;
use phileas_world::trouble::Trouble;
use phileas_world::{FaultPlan, Knobs};
use serde_json::json;

use super::validate;
use crate::adapters::files;
use crate::cli::arguments::{Maintainer, Sandbox};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::{Tense, line_json, line_text, short, summary_json};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::several;
use crate::sandbox::{Days, Scene, Shared, scene};
use option_file::read;

/// Where a line goes on that is wider than the terminal, in columns.
const INDENT: usize = 18;

pub(crate) async fn run(
    arguments: &Sandbox,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if let Some(file) = &arguments.scenario {
        check_export(arguments)?;
        return scenario::run(file, arguments, screen).await;
    }
    if let Some(dir) = arguments.ledger.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(Stopped::usage(format!(
            "--ledger: {} is not a folder; name one with the files of the branch `jules`",
            dir.display()
        )));
    }
    let scene = scene_of(arguments)?;
    if arguments.world_only {
        if let Some(dir) = &arguments.repo {
            // Whoever reads the addresses expects nothing before them; and the models serve any program, with a plan
            // that runs or without one.
            for one in validate::check(&tree_of(dir)?).1 {
                output::beside(&one.to_string())?;
            }
        }
        return models_only::run(arguments, scene, screen).await;
    }
    if let Some(dir) = &arguments.repo {
        plan_of(dir, arguments.json, screen)?;
    }
    check_export(arguments)?;
    // A person at a terminal sees the service at work; an export is wanted when the days are over.
    let watched = screen.watched && !arguments.headless && !arguments.json;
    if arguments.serve || arguments.empty || (watched && arguments.export.is_none()) {
        service::run(arguments, scene, screen).await
    // What a program reads has no use for a show.
    } else if arguments.headless || arguments.json {
        headless(arguments, scene, screen).await
    } else {
        headless::run(arguments, scene, screen).await
    }
}

/// Whether the folder for the export can be written to, before days have gone by.
fn check_export(arguments: &Sandbox) -> Result<(), Stopped> {
    match &arguments.export {
        Some(dir) => phileas_world::export::check(dir)
            .map_err(|error| Stopped::usage(format!("--export {}: {error}", dir.display()))),
        None => Ok(()),
    }
}

/// Says what is wrong with a folder's plan. A sandbox in which nothing can run would show nothing.
fn plan_of(dir: &Path, json: bool, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
    let tree = tree_of(dir)?;
    let (plan, found) = validate::check(&tree);
    if json {
        for one in &found {
            let line = json!({ "diagnostic": diagnostics::diagnostic_json(one) });
            screen.line(&line.to_string())?;
        }
    } else {
        diagnostics::print(&found, false, screen)?;
    }
    screen.flush()?;
    let runnable = validate::runnable(&plan, &tree) > 0;
    if runnable && !found.iter().any(blocks_every_start) {
        return Ok(());
    }
    let what = if runnable {
        "a limit in its plan cannot be read, so nothing would start"
    } else if tree.get(SCHEDULES_PATH).is_some() {
        "nothing in its plan can run by itself"
    } else {
        "there is no plan in it"
    };
    Err(Stopped::usage(format!(
        "--repo {}: {what}; `phileas validate {0}` finds the same",
        dir.display()
    )))
}

fn tree_of(dir: &Path) -> Result<Tree, Stopped> {
    Ok(files::read_tree(dir)?)
}

fn scene_of(arguments: &Sandbox) -> Result<Scene, Stopped> {
    let mut scene = Scene::new(arguments.seed);
    scene.repo.clone_from(&arguments.repo);
    scene.ledger.clone_from(&arguments.ledger);
    scene.empty = arguments.empty;
    scene.wish = !arguments.world_only && !arguments.empty;
    scene.layers = arguments.layers;
    if arguments.empty {
        // A first try ends with a pull request, however long somebody reads on the way. What else may happen is shown by
        // the other sandboxes.
        scene.jules.asks = 0.0;
        scene.jules.weights = Weights::only_changes();
    }
    match arguments.maintainer {
        // Where a person is to try it, nobody else is in the way.
        Maintainer::Usual if arguments.empty => scene.temper = Temper::away(),
        Maintainer::Usual => {}
        Maintainer::Eager => scene.temper = Temper::eager(),
        Maintainer::Away => scene.temper = Temper::away(),
    }
    if arguments.chaos {
        scene.knobs = Knobs::worst();
        scene.faults = scene::worst_faults();
    }
    if let Some(path) = &arguments.faults {
        let (knobs, faults) = faults(path)?;
        scene.knobs = knobs;
        scene.faults = faults;
    }
    Ok(scene)
}

fn faults(path: &Path) -> Result<(Knobs, FaultPlan), Stopped> {
    let text = read("--faults", path)?;
    let file = path.display().to_string();
    let trouble: Result<Trouble, _> = TomlText::new(&file, &text).read();
    let trouble = trouble.map_err(|wrong| Stopped::usage(format!("--faults {wrong}")))?;
    Ok(trouble.into_parts())
}

async fn headless(
    arguments: &Sandbox,
    scene: Scene,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let (world, _) = scene.build().map_err(Stopped::usage)?;
    let shared = Shared::new(world);
    let repository = scene::repository();
    let mut days = Days::new(
        shared.clone(),
        repository.clone(),
        arguments.until,
        arguments.seed,
    );
    let mut failed_ticks = 0_u64;
    let mut said = Said::default();
    while let Some(ticked) = days.next().await {
        match ticked.result {
            Ok(report) if arguments.json => {
                for (at, line) in &report.done {
                    screen.line(&line_json(*at, &repository, line, Tense::Deed).to_string())?;
                }
                for (at, line) in report.waiting.iter().filter(|(_, line)| said.is_news(line)) {
                    screen.line(&line_json(*at, &repository, line, Tense::Deed).to_string())?;
                }
                screen.line(&summary_json(&report, ticked.cost, Tense::Deed).to_string())?;
            }
            Ok(report) => {
                let colour = screen.colour;
                for (at, line) in &report.done {
                    let text = line_text(line, colour, Tense::Deed);
                    screen.wrapped(&format!("{}  {text}", short(*at)), INDENT)?;
                }
            }
            Err(error) => {
                failed_ticks += 1;
                if arguments.json {
                    let line = json!({ "at": ticked.at.to_string(), "failed": error.to_string() });
                    screen.line(&line.to_string())?;
                } else {
                    screen.line(&format!("{}  the tick failed: {error}", short(ticked.at)))?;
                }
            }
        }
    }
    let world = shared.world();
    let books = world.complete_books();
    let total = json!({ "sandbox": {
        "seed": arguments.seed,
        "from": scene::START,
        "until": world.now().to_string(),
        "ticks": days.ticks(),
        "failed_ticks": failed_ticks,
        "sessions": books.sessions.len(),
        "requests": books.requests.len(),
    }});
    if arguments.json {
        screen.line(&total.to_string())?;
    } else {
        let text = format!(
            "{} ticks, {failed_ticks} of them failed; {}; {}; until {}",
            days.ticks(),
            several(books.sessions.len(), "session"),
            several(books.requests.len(), "request"),
            short(world.now())
        );
        screen.wrapped(&text, 2)?;
    }
    if let Some(dir) = &arguments.export {
        world
            .export(dir)
            .map_err(|error| Stopped::usage(format!("--export {}: {error}", dir.display())))?;
        if !arguments.json {
            screen.wrapped(&format!("what there was is in {}", dir.display()), 2)?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// What was said last of each track and persona: a wait is news when its reason changes, not at each look.
#[derive(Debug, Default)]
struct Said(BTreeMap<(Option<TrackName>, Option<PersonaId>), Reason>);

impl Said {
    fn is_news(&mut self, line: &Line) -> bool {
        let about = (line.track.clone(), line.persona.clone());
        self.0.insert(about, line.reason) != Some(line.reason)
    }
}
