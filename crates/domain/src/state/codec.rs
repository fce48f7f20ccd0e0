//! Reads every version of `cycle_state.json`, and writes version 5.
//!
//! A file that cannot be read completely is refused with the location of each error. phileas does not guess its content,
//! and does not treat it as absent.

use super::fields::Fields;
use super::issues::{Issues, KeyPath, MAX_DIAGNOSTICS};
use super::records::{Record as _, read_state_fields, write_state};
use super::values::read_table;
use super::{HistoryEntry, STATE_PATH, STATE_VERSION, State, conflict, invariant, legacy, written};
use crate::Diagnostic;
use crate::json::{self, Node, Value};

/// How to fix a file that cannot be read: the help of its diagnostics.
pub const REPAIR_HELP: &str = "`phileas state repair` proposes a whole file";

/// A state file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The state in it.
    pub state: State,
    /// Its version, 1 to 5. Files before version 5 do not contain it; their shape tells it.
    pub version: u64,
    /// Findings that do not prevent reading.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a state file of any version.
///
/// # Errors
///
/// Everything that is wrong with it, with line, column and key path: conflict markers, text that is no JSON, a key
/// that occurs twice, values of the wrong kind, a version above 5 (see [`Diagnostic::is_newer_format`]), numbers that
/// cannot be kept exactly, and violated [invariants](invariant::check_state).
pub fn load(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let bare = text.strip_prefix('\u{feff}');
    let marked = bare.is_some();
    let text = bare.unwrap_or(text);
    if let Some(wrong) = not_json(text) {
        return Err(vec![wrong]);
    }
    let issues = Issues::new(STATE_PATH, text);
    if marked {
        let message = "the file begins with a byte-order mark; the next write leaves it out";
        issues.warning(0, &KeyPath::ROOT, message, "");
    }
    let read = read_document(&json::parse(STATE_PATH, text)?, &issues);
    let warnings = issues.finish()?;
    let (state, version) = read.expect("a document that cannot be read left an error");
    let broken = invariant::check_state(&state);
    if broken.is_empty() {
        Ok(Loaded {
            state,
            version,
            warnings,
        })
    } else {
        Err(locate_violations(text, &broken))
    }
}

/// Writes a state file: version 5, two spaces, history in numeric order, a final newline.
#[must_use]
pub fn save(state: &State) -> String {
    written::render_text(&write_state(state))
}

/// An error that shows before the text is parsed as JSON.
fn not_json(text: &str) -> Option<Diagnostic> {
    let wrong = |message: &str| Diagnostic::error(STATE_PATH, message).help(REPAIR_HELP);
    if text.trim().is_empty() {
        return Some(wrong("the file is empty").at(1, 1));
    }
    let lines = conflict::marker_lines(text);
    if let Some(first) = lines.first() {
        let all: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let place = match all.as_slice() {
            [line] => format!("a merge-conflict marker stands in line {line}"),
            _ => format!(
                "merge-conflict markers stand in the lines {}",
                all.join(", ")
            ),
        };
        return Some(wrong(&place).at(u32::try_from(*first).unwrap_or(u32::MAX), 1));
    }
    if text.trim_start().starts_with('<') {
        let message = "this is a web page (HTML or XML), not JSON";
        let offset = text.len() - text.trim_start().len();
        return Some(wrong(message).at_offset(text, offset));
    }
    None
}

/// `None` only after an error was reported.
fn read_document(node: &Node<'_>, issues: &Issues<'_>) -> Option<(State, u64)> {
    let root = KeyPath::ROOT;
    let mut state = State::default();
    if matches!(node.value, Value::List(_)) {
        let at = node.at;
        state.history = legacy::read_history(node, &root, issues).into();
        legacy::derive_tracks(&mut state);
        legacy::count_turns(&mut state);
        legacy::warn_of_duplicates(&state, &root, at, issues);
        return Some((state, 2));
    }
    let mut fields = Fields::from_node(node, &root, issues)?;
    let version = read_version(&mut fields, issues)?;
    let path = root.join_key("history");
    match fields.take_node("history") {
        Some(history) if version < STATE_VERSION => {
            let at = history.at;
            state.history = legacy::read_history(history, &path, issues).into();
            legacy::warn_of_duplicates(&state, &path, at, issues);
        }
        Some(history) => {
            let read = read_table(history, &path, issues, HistoryEntry::from_node);
            state.history = read.unwrap_or_default().into();
        }
        None => {}
    }
    legacy::read_tracks(&mut fields, version, &mut state);
    read_state_fields(&mut fields, &mut state);
    state.extra = fields.into_extra();
    Some((state, version))
}

/// The version in the file, or else the version of its shape.
fn read_version(fields: &mut Fields<'_, '_>, issues: &Issues<'_>) -> Option<u64> {
    let path = KeyPath::ROOT;
    let at = fields.value_offset("version");
    let written = fields.take("version");
    match written {
        Some(newer) if newer > STATE_VERSION => {
            let message = format!(
                "the file has version {newer}; this program reads versions up to {STATE_VERSION}"
            );
            let help = "use a newer phileas; the file is left as it is";
            issues.newer_format(at, &path.join_key("version"), message, help);
            return None;
        }
        Some(0) => {
            let message = "there is no version 0; versions count from 1";
            issues.error(at, &path.join_key("version"), message, "");
            return None;
        }
        Some(STATE_VERSION) if fields.peek_value("history").is_none() => {
            fields.report_missing("history");
            return None;
        }
        Some(STATE_VERSION) => return Some(STATE_VERSION),
        _ => {}
    }
    let shape = legacy::version_by_shape(fields);
    if shape.is_none() {
        let message = "the key `history` is missing; this is not a state file";
        issues.error(fields.offset(), &path, message, REPAIR_HELP);
    }
    shape
}

/// Invariant violations with their locations.
fn locate_violations(text: &str, broken: &[invariant::Violation]) -> Vec<Diagnostic> {
    // Reading has consumed the tree; parse it again for these messages.
    let tree = json::parse(STATE_PATH, text).ok();
    broken
        .iter()
        .take(MAX_DIAGNOSTICS)
        .map(|violation| {
            let offset = tree
                .as_ref()
                .map_or(0, |tree| tree.nearest(&violation.path));
            Diagnostic::error(STATE_PATH, violation.to_string())
                .at_offset(text, offset)
                .key(violation.key_path())
                .help(REPAIR_HELP)
        })
        .collect()
}

#[cfg(test)]
mod tests;
