//! `phileas exchange migrate`: moves files of older layouts and shapes to the current layout.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::exchange::{self, FLAT_STREAM, Layout, Migration, Step};
use phileas_domain::layers::{Catalogue, LEDGER_PIN_PATH};
use phileas_domain::model::Tree;
use serde_json::json;

use crate::adapters::files::{self, FileWrite};
use crate::cli::context::file_changes;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The workstream that a flat exchange becomes. A name that has no use here is refused.
pub(super) fn stream_name<'a>(
    tree: &Tree,
    to: Layout,
    given: Option<&'a str>,
) -> Result<&'a str, CliError> {
    let Some(name) = given else {
        return Ok(FLAT_STREAM);
    };
    if to == Layout::Flat {
        return Err(CliError::usage(
            "--stream names the workstream that a flat exchange becomes; remove it, because with --to flat all \
             workstreams become one exchange",
        ));
    }
    let checked = exchange::check_exchange(tree);
    let layout = checked.exchange.as_ref().map(|exchange| exchange.layout);
    if layout == Some(Layout::Workstreams) {
        checked
            .only_stream(name)
            .map_err(|error| CliError::usage(error.to_string()))?;
    }
    Ok(name)
}

pub(super) fn run(
    dir: &Path,
    tree: &Tree,
    to: Option<(Layout, &str)>,
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let sought = match to {
        None => exchange::migrate_exchange(tree),
        Some((layout, stream)) => exchange::migrate_layout(tree, layout, stream),
    };
    let migration = match sought {
        Ok(mut migration) => {
            if let (Some((layout, _)), Ok(Some(from))) = (to, Layout::detect(tree)) {
                replace_own_texts(tree, from, layout, &mut migration)?;
            }
            migration
        }
        Err(half) => return report_obstacles(&half, json, screen),
    };
    if !dry_run {
        let changes = migration.file_changes().into_iter();
        let wanted =
            changes.map(|(path, text)| (path, text.map_or(FileWrite::Gone, FileWrite::Text)));
        files::change_files(dir, &wanted.collect::<Vec<_>>())?;
    }
    for step in &migration.steps {
        print_step(step, tree, dry_run, json, screen)?;
    }
    diagnostics::print_diagnostics(&migration.kept, json, screen)?;
    let unread: BTreeSet<&str> = migration
        .kept
        .iter()
        .filter(|one| one.is_error())
        .map(|one| one.file.as_str())
        .collect();
    if !json {
        screen.print_line(&verdict_text(&migration, unread.len(), dry_run))?;
    }
    Ok(if unread.is_empty() {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// Prints why nothing was changed.
fn report_obstacles(
    found: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    diagnostics::print_diagnostics(found, json, screen)?;
    if !json {
        let mistakes = pluralize(found.len(), "mistake");
        screen.print_line(&format!("nothing was changed; correct {mistakes} first"))?;
    }
    Ok(Exit::Findings)
}

/// Replaces the copies that `bootstrap` wrote for the old layout, and their digests. Changed copies stay.
fn replace_own_texts(
    tree: &Tree,
    from: Layout,
    to: Layout,
    migration: &mut Migration,
) -> Result<(), CliError> {
    if from == to {
        return Ok(());
    }
    let Some(mut pin) = file_changes::read_pin(tree, LEDGER_PIN_PATH)? else {
        return Ok(());
    };
    let copies = |layout| Catalogue::of(&Tree::new(), layout).copies();
    let (old, new) = (copies(from), copies(to));
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut replaced = false;
    for path in paths {
        let (before, after) = (old.get(path), new.get(path));
        let is_new = before.is_none() && is_free(tree, path);
        if before == after || !(is_new || pin.is_own_copy(tree, path)) {
            continue;
        }
        match after {
            Some(text) => pin.note(path, text),
            None => drop(pin.digests.remove(path)),
        }
        migration.steps.push(Step {
            path: path.clone(),
            to: after.map(|_| path.clone()),
            text: after.cloned().unwrap_or_default(),
            why: vec!["phileas' own text for the other layout".to_owned()],
        });
        replaced = true;
    }
    migration
        .steps
        .sort_by(|one, other| one.path.cmp(&other.path));
    // Last, so that a run that is cut off leaves no digest of a copy that is not there yet.
    if replaced {
        // The new texts are those of this version.
        pin.version = VERSION.to_owned();
        migration.steps.push(Step {
            path: LEDGER_PIN_PATH.to_owned(),
            to: Some(LEDGER_PIN_PATH.to_owned()),
            text: pin.text(),
            why: vec!["the digests of phileas' own texts".to_owned()],
        });
    }
    Ok(())
}

/// Whether a file can be created at a path.
fn is_free(tree: &Tree, path: &str) -> bool {
    !tree.has(path) && tree.in_the_way(path).is_none()
}

fn verdict_text(migration: &Migration, unread: usize, dry_run: bool) -> String {
    let done = match (migration.steps.len(), dry_run) {
        (0, _) if unread == 0 => return "there is nothing to migrate".to_owned(),
        (0, _) => "nothing was changed".to_owned(),
        (count, true) => format!("{} would be changed", pluralize(count, "file")),
        (count, false) => format!("{} changed", pluralize(count, "file")),
    };
    match unread {
        0 => done,
        unread => format!("{done}; {} cannot be read", pluralize(unread, "file")),
    }
}

fn print_step(
    step: &Step,
    tree: &Tree,
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let stays = step.to.as_deref() == Some(step.path.as_str());
    let action = match &step.to {
        None => "removed",
        Some(_) if stays && !tree.has(&step.path) => "created",
        Some(_) if stays => "rewritten",
        Some(_) => "moved",
    };
    if json {
        let document = json!({
            "file": step.path, "to": step.to, "action": action, "why": step.why, "dry_run": dry_run,
        });
        screen.print_line(&document.to_string())?;
        return Ok(());
    }
    let to = match &step.to {
        Some(to) if !stays => format!(" to {to}"),
        _ => String::new(),
    };
    let would = if dry_run { "would be " } else { "" };
    let why = step.why.join("; ");
    screen.print_line(&format!("{}: {would}{action}{to}: {why}", step.path))?;
    Ok(())
}
