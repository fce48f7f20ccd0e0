//! `phileas task lint`, and `phileas persona journal --lint`.

use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use phileas_domain::board::{self, Kind, Linted};
use phileas_domain::{Diagnostic, Severity};
use serde_json::json;

use super::folder::{read, refused};
use crate::adapters::files;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;

/// What is looked at.
pub(crate) struct What {
    pub(crate) kinds: Vec<Kind>,
    /// Only this persona's journals.
    pub(crate) journals_of: Option<String>,
    /// Whether warnings count.
    pub(crate) strict: bool,
    pub(crate) json: bool,
}

pub(crate) fn run(
    dir: &Path,
    what: &What,
    fix: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let mut linted = look(dir, what)?;
    let mends = fix && !linted.changes.is_empty();
    if mends {
        let mut failed = Vec::new();
        let _lock = files::board::lock_tasks(dir).map_err(refused)?;
        // Somebody may have moved a task while the lock was waited for.
        linted = look(dir, what)?;
        let results = files::board::carry_out_all(dir, &linted.changes)?;
        for (change, result) in linted.changes.iter().zip(results) {
            let file = change.from.as_ref().unwrap_or(&change.to);
            // One that cannot be mended keeps no other from it.
            if let Err(error) = result {
                let wrong = format!("it was not mended: {error}");
                let mend = "mend what the system says, and run --fix again";
                failed.push(Diagnostic::error(file, wrong).mend(mend));
                continue;
            }
            if what.json {
                screen.line(&json!({ "file": file, "fixed": change.done }).to_string())?;
            } else {
                screen.line(&format!("{file}: mended: {}", change.done))?;
            }
        }
        linted = look(dir, what)?;
        linted.found.extend(failed);
        linted.found.sort();
    }
    diagnostics::print(&linted.found, what.json, screen)?;
    let errors = linted.found.iter().filter(|one| one.is_error()).count();
    let counts = |severity| what.strict || severity == Severity::Error;
    let bad = linted.found.iter().any(|one| counts(one.severity));
    if !what.json {
        let verdict = if bad { "not ok" } else { "ok" };
        let warnings = several(linted.found.len() - errors, "warning");
        let mut line = format!("{verdict}: {}, {warnings}", several(errors, "error"));
        if !fix && !linted.changes.is_empty() {
            let files = several(linted.changes.len(), "file");
            line.push_str(&format!("; --fix mends what has one answer, in {files}"));
        }
        screen.line(&line)?;
    }
    Ok(if bad { Exit::Findings } else { Exit::Done })
}

fn look(dir: &Path, what: &What) -> Result<Linted, Stopped> {
    let tree = read(dir)?;
    let folders = files::board::sprint_folders(dir).map_err(refused)?;
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
