//! `phileas exchange migrate`: moves files of older layouts and shapes to the current layout.

use std::io::Write;
use std::path::Path;

use phileas_domain::exchange::{self, Layout, Step};
use serde_json::json;

use crate::adapters::files::{self, FileWrite};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;

pub(super) fn run(
    dir: &Path,
    to: Option<(Layout, &str)>,
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let tree = files::read_tree(dir)?;
    let sought = match to {
        None => exchange::migrate_exchange(&tree),
        Some((layout, stream)) => exchange::migrate_layout(&tree, layout, stream),
    };
    let migration = match sought {
        Ok(migration) => migration,
        Err(half) => {
            diagnostics::print_diagnostics(&half, json, screen)?;
            if !json {
                screen.print_line(&match to {
                    None => format!(
                        "nothing was changed: {} half-way between two forms",
                        pluralize(half.len(), "file")
                    ),
                    Some(_) => format!(
                        "nothing was changed: {} in the way",
                        pluralize(half.len(), "mistake")
                    ),
                })?;
            }
            return Ok(Exit::Findings);
        }
    };
    if !dry_run {
        let changes = migration.file_changes().into_iter();
        let wanted =
            changes.map(|(path, text)| (path, text.map_or(FileWrite::Gone, FileWrite::Text)));
        files::change_files(dir, &wanted.collect::<Vec<_>>())?;
    }
    for step in &migration.steps {
        print_step(step, dry_run, json, screen)?;
    }
    diagnostics::print_diagnostics(&migration.kept, json, screen)?;
    if !json {
        screen.print_line(&match (migration.steps.len(), dry_run) {
            (0, _) => "there is nothing to migrate".to_owned(),
            (count, true) => format!("{} would be changed", pluralize(count, "file")),
            (count, false) => format!("{} changed", pluralize(count, "file")),
        })?;
    }
    Ok(Exit::Done)
}

fn print_step(
    step: &Step,
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let stays = step.to.as_deref() == Some(step.path.as_str());
    let action = match &step.to {
        None => "removed",
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
