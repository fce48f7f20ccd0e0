//! `phileas bootstrap`: the ledger's tree in a folder: readable copies of what layers are told, the exchange's folders, and
//! a memory for each role that has none.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::Timestamp;
use phileas_domain::exchange::{self, Layout, Owner};
use phileas_domain::layers::{Catalogue, Fate, LEDGER_PIN_PATH, Pin, keepers, moves};
use phileas_domain::model::Tree;
use phileas_domain::plan;

use crate::adapters::files;
use crate::cli::arguments::Bootstrap;
use crate::cli::context::file_changes::{self, Written};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(arguments: &Bootstrap, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let ledger = match arguments.dir.exists() {
        true => files::read_tree(&arguments.dir)?,
        false => Tree::new(),
    };
    let tree = match &arguments.from {
        Some(dir) => files::read_tree(dir)?,
        None => Tree::new(),
    };
    // A memory is written for each role of the roster, so that must be known.
    let (_, mut found) = plan::read(&tree);
    found.retain(|one| one.is_error() && one.file == plan::CONFIG_PATH);
    if !found.is_empty() {
        diagnostics::print(&found, arguments.json, screen)?;
        return Ok(Exit::Findings);
    }
    let layout = Layout::detect(&ledger).map_err(|both| Stopped::usage(both.to_string()))?;
    let layout = layout.unwrap_or(Layout::Flat);
    let pin = file_changes::pin(&ledger, LEDGER_PIN_PATH)?;
    let catalogue = Catalogue::of(&tree, layout);
    let (moves, after) = moves(pin.as_ref(), VERSION, &catalogue.copies(), |path| {
        ledger.get(path).map(|_| ledger.text(path))
    });
    let mut all: Vec<Written> = moves.into_iter().map(Written::from).collect();
    all.extend(missing(&ledger, beginnings(&tree, layout)));
    all.push(of_pin(&ledger, &after));
    if !arguments.dry_run {
        file_changes::apply(&arguments.dir, &all)?;
    }
    file_changes::show(&all, arguments.dry_run, arguments.json, screen)?;
    file_changes::sum(&all, VERSION, arguments.dry_run, arguments.json, screen)
}

/// What a ledger begins with and people and layers then go on with: it is written where it is missing, and never again.
fn beginnings(tree: &Tree, layout: Layout) -> BTreeMap<String, String> {
    let mut files = keepers(layout);
    if layout == Layout::Workstreams {
        return files;
    }
    let now = Timestamp::now();
    let now = now.round(jiff::Unit::Second).unwrap_or(now);
    let (plan, _) = plan::read(tree);
    let folder = layout.workstations(exchange::FLAT_STREAM);
    for layer in plan::ROLE_LAYERS {
        for member in plan.roster.of(layer).iter().filter(|member| member.enabled) {
            let owner = match layer {
                "observers" => Owner::Observer(&member.role),
                _ => Owner::Innovator(&member.role),
            };
            let path = format!("{folder}/{}/perspective.yml", member.role);
            files.insert(path, exchange::seed(owner, now));
        }
    }
    files
}

fn missing(ledger: &Tree, files: BTreeMap<String, String>) -> Vec<Written> {
    let fate = |path: &str, text| match ledger.get(path) {
        Some(_) => Fate::Same,
        None => Fate::Write(text),
    };
    let files = files.into_iter();
    files
        .map(|(path, text)| {
            let fate = fate(&path, text);
            Written { path, fate }
        })
        .collect()
}

fn of_pin(ledger: &Tree, after: &Pin) -> Written {
    file_changes::of_text(ledger, LEDGER_PIN_PATH, after.text())
}
