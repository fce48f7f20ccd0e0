//! `phileas task check`, and `phileas persona journal --check`.

use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use phileas_domain::board::{self, Kind, LintResult};
use phileas_domain::{Diagnostic, Severity};
use serde_json::json;

use super::folder::{read_error, read_folder};
use crate::adapters::files;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;

/// What to check.
pub(crate) struct CheckOptions {
    pub(crate) kinds: Vec<Kind>,
    /// Only this persona's journals.
    pub(crate) journals_of: Option<String>,
    /// Whether warnings count.
    pub(crate) strict: bool,
    pub(crate) json: bool,
}

pub(crate) fn run(
    dir: &Path,
    what: &CheckOptions,
    fix: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let mut checked = check_folder(dir, what)?;
    let fixes = fix && !checked.changes.is_empty();
    if fixes {
        let mut failed = Vec::new();
        let _lock = files::board::lock_tasks(dir).map_err(read_error)?;
        // Another process may have moved a task before this one got the lock.
        checked = check_folder(dir, what)?;
        let results = files::board::apply_changes(dir, &checked.changes)?;
        for (change, result) in checked.changes.iter().zip(results) {
            let file = change.from.as_ref().unwrap_or(&change.to);
            // One that cannot be fixed does not stop the others.
            if let Err(error) = result {
                let wrong = format!("it was not fixed: {error}");
                let help = "fix what the system reports, and run --fix again";
                failed.push(Diagnostic::error(file, wrong).help(help));
                continue;
            }
            if what.json {
                screen.print_line(&json!({ "file": file, "fixed": change.done }).to_string())?;
            } else {
                screen.print_line(&format!("{file}: fixed: {}", change.done))?;
            }
        }
        checked = check_folder(dir, what)?;
        checked.diagnostics.extend(failed);
        checked.diagnostics.sort();
    }
    diagnostics::print_diagnostics(&checked.diagnostics, what.json, screen)?;
    let errors = checked
        .diagnostics
        .iter()
        .filter(|one| one.is_error())
        .count();
    let counts = |severity| what.strict || severity == Severity::Error;
    let bad = checked.diagnostics.iter().any(|one| counts(one.severity));
    if !what.json {
        let verdict = if bad { "not ok" } else { "ok" };
        let warnings = pluralize(checked.diagnostics.len() - errors, "warning");
        let mut line = format!("{verdict}: {}, {warnings}", pluralize(errors, "error"));
        if !fix && !checked.changes.is_empty() {
            let files = pluralize(checked.changes.len(), "file");
            line.push_str(&format!(
                "; --fix fixes what has only one solution, in {files}"
            ));
        }
        screen.print_line(&line)?;
    }
    Ok(if bad { Exit::Findings } else { Exit::Done })
}

fn check_folder(dir: &Path, what: &CheckOptions) -> Result<LintResult, CliError> {
    let tree = read_folder(dir)?;
    let folders = files::board::sprint_folders(dir).map_err(read_error)?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let journals_of = what.journals_of.as_deref();
    Ok(board::lint(
        &tree,
        &what.kinds,
        &folders,
        journals_of,
        today,
    ))
}
