//! `phileas bootstrap`: writes the ledger's tree into a folder: readable copies of the layers' prompts, the folders of
//! the exchange, and a memory for each role without one.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::exchange::{self, Layout, Owner};
use phileas_domain::layers::{
    Catalogue, FileChangeKind, LEDGER_PIN_PATH, Pin, placeholder_files, upgrade_moves,
};
use phileas_domain::model::Tree;
use phileas_domain::plan;

use super::validate_layers::check_texts;
use crate::adapters::files;
use crate::cli::arguments::Bootstrap;
use crate::cli::context::file_changes::{self, FileChange};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(
    arguments: &Bootstrap,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let ledger = match arguments.output.exists() {
        true => files::read_tree(&arguments.output)?,
        false => Tree::new(),
    };
    if ledger.get(plan::SCHEDULES_PATH).is_some() || ledger.get(plan::CONFIG_PATH).is_some() {
        return Err(CliError::usage(format!(
            "--output {}: the plan lies there, so it is not the branch `jules`. Copies of phileas' texts would stay old there \
             when phileas is upgraded. Name a folder for the files of that branch, such as ../ledger",
            arguments.output.display()
        )));
    }
    let tree = files::read_tree(&arguments.dir)?;
    let layout = Layout::detect(&ledger).map_err(|both| CliError::usage(both.to_string()))?;
    let layout = layout.unwrap_or(Layout::Flat);
    let catalogue = Catalogue::of(&tree, layout);
    // Each role of the roster gets a memory, so the roster must be known. A broken text is not copied.
    let (plan, mut found) = plan::read(&tree);
    found.retain(|one| one.file == plan::CONFIG_PATH);
    found.extend(check_texts(&tree, &catalogue, &plan.roster));
    found.retain(Diagnostic::is_error);
    if !found.is_empty() {
        diagnostics::print_diagnostics(&found, arguments.json, screen)?;
        return Ok(Exit::Findings);
    }
    let pin = file_changes::read_pin(&ledger, LEDGER_PIN_PATH)?;
    let (moves, after) = upgrade_moves(pin.as_ref(), VERSION, &catalogue.copies(), &ledger);
    let mut all: Vec<FileChange> = moves.into_iter().map(FileChange::from).collect();
    all.extend(missing_files(&ledger, initial_files(&tree, layout)));
    all.push(pin_file(&ledger, &after));
    if !arguments.dry_run {
        file_changes::apply_changes(&arguments.output, &all)?;
    }
    file_changes::print_changes(&all, arguments.dry_run, arguments.json, screen)?;
    file_changes::print_sum(&all, VERSION, arguments.dry_run, arguments.json, screen)
}

/// The files a ledger starts with, which people and layers then change. A missing file is written; an existing one
/// never.
fn initial_files(tree: &Tree, layout: Layout) -> BTreeMap<String, String> {
    let mut files = placeholder_files(layout);
    if layout == Layout::Workstreams {
        return files;
    }
    let now = Timestamp::now();
    let now = now.round(jiff::Unit::Second).unwrap_or(now);
    let (plan, _) = plan::read(tree);
    let folder = layout.workstations_folder(exchange::FLAT_STREAM);
    for layer in plan::ROLE_LAYERS {
        for member in plan.roster.of(layer).iter().filter(|member| member.enabled) {
            let owner = match layer {
                "observers" => Owner::Observer(&member.role),
                _ => Owner::Innovator(&member.role),
            };
            let path = format!("{folder}/{}/perspective.yml", member.role);
            files.insert(path, exchange::seed_text(owner, now));
        }
    }
    files
}

fn missing_files(ledger: &Tree, files: BTreeMap<String, String>) -> Vec<FileChange> {
    let fate = |path: &str, text| match ledger.get(path) {
        Some(_) => FileChangeKind::Same,
        None => FileChangeKind::Write(text),
    };
    let files = files.into_iter();
    files
        .map(|(path, text)| {
            let fate = fate(&path, text);
            FileChange { path, kind: fate }
        })
        .collect()
}

fn pin_file(ledger: &Tree, after: &Pin) -> FileChange {
    file_changes::own_file(ledger, LEDGER_PIN_PATH, after.text())
}
