//! Changes of the files that phileas maintains in a folder: prints, applies and counts them.

use std::io::Write;
use std::path::Path;

use phileas_domain::layers::{FileChangeKind, Move, Pin};
use phileas_domain::model::{TEXT_LIMIT_BYTES, Tree};
use serde_json::json;

use crate::adapters::files::{self, FileWrite};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;

/// A file and its change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) kind: FileChangeKind,
}

impl From<Move> for FileChange {
    fn from(one: Move) -> Self {
        Self {
            path: one.path,
            kind: one.kind,
        }
    }
}

/// The pin of a folder, if it has one.
pub(crate) fn read_pin(tree: &Tree, path: &str) -> Result<Option<Pin>, CliError> {
    let text = tree.read_text(path, "it", TEXT_LIMIT_BYTES);
    let Some(text) = text.map_err(|wrong| CliError::usage(wrong.without_severity()))? else {
        return Ok(None);
    };
    let pin = Pin::read_pin(text, env!("CARGO_PKG_VERSION"));
    pin.map(Some)
        .map_err(|error| CliError::usage(format!("{path}: {error}")))
}

/// A file that phileas owns.
pub(crate) fn own_file(tree: &Tree, path: &str, text: String) -> FileChange {
    let fate = match tree.text(path) {
        Some(there) if there.replace("\r\n", "\n") == text => FileChangeKind::Same,
        Some(_) => FileChangeKind::Replace(text),
        None => FileChangeKind::Write(text),
    };
    FileChange {
        path: path.to_owned(),
        kind: fate,
    }
}

/// What happens to a file, and why it stays.
fn fate_text(fate: &FileChangeKind) -> (&'static str, &'static str) {
    match fate {
        FileChangeKind::Same => ("same", ""),
        FileChangeKind::Write(_) => ("write", ""),
        FileChangeKind::Replace(_) => ("replace", ""),
        FileChangeKind::Pin(_) => ("pin", "only its `uses:` line; what was changed here stays"),
        FileChangeKind::Remove => (
            "remove",
            "this version has no such file, and it is unchanged",
        ),
        FileChangeKind::Changed(_) => (
            "leave",
            "it was changed here, and phileas' text is the same as last time",
        ),
        FileChangeKind::Conflict(_) => (
            "conflict",
            "it was changed here, and this version has another text, too; it stays as it is",
        ),
        FileChangeKind::Gone => ("leave", "it was removed here"),
        FileChangeKind::Theirs => (
            "leave",
            "it was changed here, and this version has no such file; it is yours",
        ),
    }
}

/// Prints the change of each file. People do not see files that are up to date.
pub(crate) fn print_changes(
    all: &[FileChange],
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    for one in all {
        let (action, why) = fate_text(&one.kind);
        if json {
            let mut document =
                json!({ "file": one.path, "action": action, "why": why, "dry_run": dry_run });
            if let FileChangeKind::Write(text)
            | FileChangeKind::Replace(text)
            | FileChangeKind::Pin(text)
            | FileChangeKind::Changed(text)
            | FileChangeKind::Conflict(text) = &one.kind
            {
                document["text"] = text.as_str().into();
            }
            screen.print_line(&document.to_string())?;
        } else if one.kind != FileChangeKind::Same {
            let line = format!("  {action:<8} {:<52} {why}", one.path);
            screen.print_line(line.trim_end())?;
        }
    }
    Ok(())
}

/// The files to change, with their new contents.
pub(crate) fn pending_changes(all: &[FileChange]) -> Vec<(&str, FileWrite<'_>)> {
    all.iter()
        .filter_map(|one| {
            let wanted = match &one.kind {
                FileChangeKind::Write(text) => FileWrite::New(text),
                FileChangeKind::Replace(text) | FileChangeKind::Pin(text) => FileWrite::Text(text),
                FileChangeKind::Remove => FileWrite::Gone,
                _ => return None,
            };
            Some((one.path.as_str(), wanted))
        })
        .collect()
}

/// Applies the changes: all or none.
pub(crate) fn apply_changes(dir: &Path, all: &[FileChange]) -> Result<(), CliError> {
    Ok(files::change_files(dir, &pending_changes(all))?)
}

/// Prints the sum of the changes. A conflict is a finding.
pub(crate) fn print_sum(
    all: &[FileChange],
    version: &str,
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let count =
        |fits: fn(&FileChangeKind) -> bool| all.iter().filter(|one| fits(&one.kind)).count();
    let written = count(|fate| {
        matches!(
            fate,
            FileChangeKind::Write(_) | FileChangeKind::Replace(_) | FileChangeKind::Pin(_)
        )
    });
    let removed = count(|fate| matches!(fate, FileChangeKind::Remove));
    let conflicts = count(|fate| matches!(fate, FileChangeKind::Conflict(_)));
    let kept = count(|fate| {
        matches!(
            fate,
            FileChangeKind::Changed(_) | FileChangeKind::Gone | FileChangeKind::Theirs
        )
    });
    if json {
        let document = json!({ "summary": {
            "version": version, "written": written, "removed": removed, "kept": kept, "conflicts": conflicts,
            "dry_run": dry_run,
        }});
        screen.print_line(&document.to_string())?;
    } else {
        let verb = if dry_run { "to write" } else { "written" };
        screen.print_line(&format!(
            "phileas {version}: {} {verb}, {removed} removed, {kept} kept as they are, {}",
            pluralize(written, "file"),
            pluralize(conflicts, "conflict")
        ))?;
        if conflicts > 0 {
            screen.print_line(
                "phileas' text of these files: the same command with --dry-run --json prints it as `text`",
            )?;
        }
    }
    Ok(if conflicts > 0 {
        Exit::Findings
    } else {
        Exit::Done
    })
}
