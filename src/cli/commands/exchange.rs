//! `phileas exchange`: checks, fixes and shows the exchange files of the layers.

mod migrate;

use std::io::Write;
use std::path::Path;

use phileas_domain::exchange::{self, CheckResult, EventState, Exchange, Fix};
use phileas_domain::model::Tree;
use phileas_domain::state::STATE_PATH;
use phileas_domain::{Diagnostic, Severity};
use serde_json::json;

use crate::adapters::files::{self, FileWrite};
use crate::cli::arguments::{ExchangeCommand, ExchangeLocation};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;

pub(crate) fn run(
    command: &ExchangeCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        ExchangeCommand::Check { place, strict, fix } => {
            check_exchange(place, *strict, *fix, screen)
        }
        ExchangeCommand::Inspect { place, labels } => {
            inspect_exchange(place, labels.as_deref(), screen)
        }
        ExchangeCommand::Migrate {
            dir,
            to,
            stream,
            dry_run,
            json,
        } => {
            let tree = read_ledger(dir)?;
            let to = match to {
                Some(to) => Some((*to, migrate::stream_name(&tree, *to, stream.as_deref())?)),
                None => None,
            };
            migrate::run(dir, &tree, to, *dry_run, *json, screen)
        }
        ExchangeCommand::Template { name } => {
            screen.print_document(&name.to_template())?;
            Ok(Exit::Done)
        }
    }
}

fn check_exchange(
    place: &ExchangeLocation,
    strict: bool,
    fix: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let mut tree = read_ledger(&place.dir)?;
    // Fail on a missing workstream before fixing anything.
    let mut checked = narrow_to_stream(exchange::check_exchange(&tree), place)?;
    if fix {
        let fixes = available_fixes(&tree, place, &checked);
        let wanted = fixes.iter().map(|one| {
            let text = one.text.as_deref();
            (
                one.path.as_str(),
                text.map_or(FileWrite::Gone, FileWrite::Text),
            )
        });
        files::change_files(&place.dir, &wanted.collect::<Vec<_>>())?;
        for one in &fixes {
            print_fix(one, place.json, screen)?;
        }
        if !fixes.is_empty() {
            tree = read_ledger(&place.dir)?;
            checked = narrow_to_stream(exchange::check_exchange(&tree), place)?;
        }
    }
    diagnostics::print_diagnostics(&checked.diagnostics, place.json, screen)?;
    let errors = checked
        .diagnostics
        .iter()
        .filter(|one| counts_as_failure(one, strict))
        .count();
    if !place.json {
        let verdict = verdict_text(&checked, errors);
        let hint = migration_hint(&tree, &checked.diagnostics);
        screen.print_line(&format!("{verdict}{hint}"))?;
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

fn inspect_exchange(
    place: &ExchangeLocation,
    labels: Option<&[String]>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let tree = read_ledger(&place.dir)?;
    let checked = narrow_to_stream(exchange::check_exchange(&tree), place)?;
    let Some(exchange) = checked.exchange else {
        // Without a layout there is nothing to show; the findings say why.
        diagnostics::print_diagnostics(&checked.diagnostics, place.json, screen)?;
        return if checked.diagnostics.is_empty() {
            Err(CliError::usage(format!(
                "there is no exchange in {}: it has neither .jules/exchange nor .jules/workstreams",
                place.dir.display()
            )))
        } else {
            Ok(Exit::Findings)
        };
    };
    let seen = exchange::inspect_exchange(&exchange, labels);
    if place.json {
        screen.print_line(&seen.to_string())?;
    } else {
        let text = serde_json::to_string_pretty(&seen)
            .map_err(|error| CliError::fault(error.to_string()))?;
        screen.print_json(&(text + "\n"))?;
    }
    // What could not be read is not in the result.
    let mut unread = checked.diagnostics;
    unread.retain(|one| exchange::is_unread(&tree, exchange.layout, one));
    diagnostics::print_to_stderr(&unread, place.json)?;
    Ok(diagnostics::findings_exit(&unread))
}

/// Reads the files of the branch `jules`.
fn read_ledger(dir: &Path) -> Result<Tree, CliError> {
    let tree = files::read_tree(dir)?;
    if is_ledger(&tree) {
        return Ok(tree);
    }
    Err(CliError::usage(format!(
        "{} has no files of the branch `jules`; check that branch out (`git fetch origin jules && git worktree add \
         ../ledger jules`), and name its folder here (../ledger)",
        dir.display()
    )))
}

/// Whether a tree has files that only the branch `jules` has.
pub(super) fn is_ledger(tree: &Tree) -> bool {
    let folders = [
        ".jules/exchange",
        ".jules/workstations",
        ".jules/workstreams",
        ".jules/changes",
    ];
    let mut folders = folders.into_iter();
    tree.get(STATE_PATH).is_some() || folders.any(|folder| tree.below(folder).next().is_some())
}

fn narrow_to_stream(
    checked: CheckResult,
    place: &ExchangeLocation,
) -> Result<CheckResult, CliError> {
    match &place.stream {
        Some(name) => checked
            .only_stream(name)
            .map_err(|error| CliError::usage(error.to_string())),
        None => Ok(checked),
    }
}

/// The available fixes in the workstream that is checked.
fn available_fixes(tree: &Tree, place: &ExchangeLocation, checked: &CheckResult) -> Vec<Fix> {
    let homes = checked
        .exchange
        .iter()
        .flat_map(|exchange| exchange.streams.values());
    let homes: Vec<String> = homes.map(|stream| format!("{}/", stream.home)).collect();
    let here = |one: &Fix| homes.iter().any(|home| one.path.starts_with(home));
    let all = exchange::find_fixes(tree).into_iter();
    all.filter(|one| place.stream.is_none() || here(one))
        .collect()
}

fn print_fix(one: &Fix, json: bool, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    let Some(done) = &one.done else {
        return Ok(());
    };
    if json {
        screen.print_line(&json!({ "file": one.path, "fixed": done }).to_string())?;
    } else {
        screen.print_line(&format!("{}: fixed: {done}", one.path))?;
    }
    Ok(())
}

fn counts_as_failure(one: &Diagnostic, strict: bool) -> bool {
    strict || one.severity == Severity::Error
}

fn verdict_text(checked: &CheckResult, errors: usize) -> String {
    let ok = if errors == 0 { "ok" } else { "not ok" };
    let bad = checked
        .diagnostics
        .iter()
        .filter(|one| one.is_error())
        .count();
    let found = format!(
        "{}, {}",
        pluralize(bad, "error"),
        pluralize(checked.diagnostics.len() - bad, "warning")
    );
    match &checked.exchange {
        Some(exchange) => format!("{ok}: {}; {found}", contents_text(exchange)),
        None if checked.diagnostics.is_empty() => {
            format!("{ok}: no exchange has begun here; {found}")
        }
        None => format!("{ok}: {found}"),
    }
}

/// In how many of the files with mistakes `migrate` has something to correct, beyond what `--fix` corrects.
fn migration_hint(tree: &Tree, found: &[Diagnostic]) -> String {
    let Ok(migration) = exchange::migrate_exchange(tree) else {
        return String::new();
    };
    let fixes = exchange::find_fixes(tree);
    let has_mistakes = |path: &str| found.iter().any(|one| one.file == path);
    let is_fixed = |path: &str| fixes.iter().any(|fix| fix.path == path);
    let paths = migration.steps.iter().map(|step| step.path.as_str());
    match paths
        .filter(|path| has_mistakes(path) && !is_fixed(path))
        .count()
    {
        0 => String::new(),
        count => format!(
            "; `phileas exchange migrate` corrects what has one answer in {}",
            pluralize(count, "file")
        ),
    }
}

fn contents_text(exchange: &Exchange) -> String {
    let streams = || exchange.streams.values();
    let events = |state| {
        streams()
            .map(|stream| stream.events_in(state).count())
            .sum()
    };
    format!(
        "{} layout, {}, {} pending, {} decided, {}, {}",
        exchange.layout.name(),
        pluralize(streams().count(), "stream"),
        pluralize(events(EventState::Pending), "event"),
        events(EventState::Decided),
        pluralize(
            streams().map(|stream| stream.items.len()).sum(),
            "work item"
        ),
        pluralize(
            streams().map(|stream| stream.proposals.len()).sum(),
            "proposal"
        ),
    )
}
