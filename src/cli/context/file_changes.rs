//! What becomes of files that phileas looks after in a folder: shown, done, and summed up.

use std::io::Write;
use std::path::Path;

use phileas_domain::layers::{Fate, Move, Pin};
use phileas_domain::model::Tree;
use serde_json::json;

use crate::adapters::files::{self, Wanted};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;

/// A file, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) path: String,
    pub(crate) fate: Fate,
}

impl From<Move> for Written {
    fn from(one: Move) -> Self {
        Self {
            path: one.path,
            fate: one.fate,
        }
    }
}

/// The pin of a folder, where it has one.
pub(crate) fn pin(tree: &Tree, path: &str) -> Result<Option<Pin>, Stopped> {
    let Some(text) = tree.text(path) else {
        return match tree.get(path) {
            Some(_) => Err(Stopped::usage(format!(
                "{path} is no text that can be read; remove it"
            ))),
            None => Ok(None),
        };
    };
    let pin = Pin::read(text, env!("CARGO_PKG_VERSION"));
    pin.map(Some)
        .map_err(|error| Stopped::usage(format!("{path}: {error}")))
}

/// A file that is phileas' own.
pub(crate) fn of_text(tree: &Tree, path: &str, text: String) -> Written {
    let fate = match tree.text(path) {
        Some(there) if there.replace("\r\n", "\n") == text => Fate::Same,
        Some(_) => Fate::Replace(text),
        None => Fate::Write(text),
    };
    Written {
        path: path.to_owned(),
        fate,
    }
}

/// What is done with a file, and why nothing is.
fn told(fate: &Fate) -> (&'static str, &'static str) {
    match fate {
        Fate::Same => ("same", ""),
        Fate::Write(_) => ("write", ""),
        Fate::Replace(_) => ("replace", ""),
        Fate::Remove => (
            "remove",
            "this version has no such file, and nobody has changed it",
        ),
        Fate::Changed => (
            "leave",
            "it was changed here, and this version says nothing new",
        ),
        Fate::Conflict(_) => (
            "conflict",
            "it was changed here, and this version has another text, too; it stays as it is",
        ),
        Fate::Gone => ("leave", "it was removed here"),
        Fate::Theirs => (
            "leave",
            "it was changed here, and this version has no such file; it is yours",
        ),
    }
}

/// Tells what becomes of each file; what is as this version writes it is not worth a line to people.
pub(crate) fn show(
    all: &[Written],
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    for one in all {
        let (action, why) = told(&one.fate);
        if json {
            let mut document =
                json!({ "file": one.path, "action": action, "why": why, "dry_run": dry_run });
            if let Fate::Write(text) | Fate::Replace(text) | Fate::Conflict(text) = &one.fate {
                document["text"] = text.as_str().into();
            }
            screen.line(&document.to_string())?;
        } else if one.fate != Fate::Same {
            let line = format!("  {action:<8} {:<52} {why}", one.path);
            screen.line(line.trim_end())?;
        }
    }
    Ok(())
}

/// The files that are to be changed, and what they are to be.
pub(crate) fn due(all: &[Written]) -> Vec<(&str, Wanted<'_>)> {
    all.iter()
        .filter_map(|one| {
            let wanted = match &one.fate {
                Fate::Write(text) => Wanted::New(text),
                Fate::Replace(text) => Wanted::Text(text),
                Fate::Remove => Wanted::Gone,
                _ => return None,
            };
            Some((one.path.as_str(), wanted))
        })
        .collect()
}

/// Does it: all of it, or nothing.
pub(crate) fn apply(dir: &Path, all: &[Written]) -> Result<(), Stopped> {
    Ok(files::change_together(dir, &due(all))?)
}

/// What was done in all. A conflict is a finding.
pub(crate) fn sum(
    all: &[Written],
    version: &str,
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let count = |fits: fn(&Fate) -> bool| all.iter().filter(|one| fits(&one.fate)).count();
    let written = count(|fate| matches!(fate, Fate::Write(_) | Fate::Replace(_)));
    let removed = count(|fate| matches!(fate, Fate::Remove));
    let conflicts = count(|fate| matches!(fate, Fate::Conflict(_)));
    let kept = count(|fate| matches!(fate, Fate::Changed | Fate::Gone | Fate::Theirs));
    if json {
        let document = json!({ "summary": {
            "version": version, "written": written, "removed": removed, "kept": kept, "conflicts": conflicts,
            "dry_run": dry_run,
        }});
        screen.line(&document.to_string())?;
    } else {
        let verb = if dry_run { "to write" } else { "written" };
        screen.line(&format!(
            "phileas {version}: {} {verb}, {removed} removed, {kept} kept as they are, {}",
            several(written, "file"),
            several(conflicts, "conflict")
        ))?;
        if conflicts > 0 {
            screen.line(
                "what this version would have written: the same with --dry-run --json, at `text`",
            )?;
        }
    }
    Ok(if conflicts > 0 {
        Exit::Findings
    } else {
        Exit::Done
    })
}
