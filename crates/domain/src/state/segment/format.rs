//! One archive file.

use std::collections::BTreeMap;

use crate::Diagnostic;
use crate::json;
use crate::state::decode::read_entry;
use crate::state::encode;
use crate::state::fields::Fields;
use crate::state::issues::{Issues, KeyPath};
use crate::state::values::parse_history_key;
use crate::state::written::{JsonObject, render_text};
use crate::state::{Extra, HISTORY_FOLDER, HistoryEntry};

/// The newest version of an archive file that this program writes, and the newest that it reads.
const SEGMENT_VERSION: u64 = 1;

/// One archive file: entries with consecutive keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Segment {
    /// The entries by their keys.
    pub entries: BTreeMap<u64, HistoryEntry>,
    /// Unknown keys.
    pub extra: Extra,
}

/// Where the entries `first` to `last` are archived.
#[must_use]
pub fn segment_path(first: u64, last: u64) -> String {
    format!("{HISTORY_FOLDER}/{first}-{last}.json")
}

/// First and last key of the archive file at a path; `None` for any other file.
#[must_use]
pub fn parse_segment_path(path: &str) -> Option<(u64, u64)> {
    let name = path.strip_prefix(HISTORY_FOLDER)?.strip_prefix('/')?;
    let (first, last) = name.strip_suffix(".json")?.split_once('-')?;
    let range = (parse_history_key(first)?, parse_history_key(last)?);
    (range.0 <= range.1).then_some(range)
}

/// Writes an archive file, in the manner of the state file.
#[must_use]
pub fn save_segment(segment: &Segment) -> String {
    let mut out = JsonObject::default();
    out.put("version", SEGMENT_VERSION);
    out.put(
        "first",
        segment.entries.first_key_value().map(|(key, _)| *key),
    );
    out.put(
        "last",
        segment.entries.last_key_value().map(|(key, _)| *key),
    );
    out.put_table("entries", &segment.entries, encode::write_entry);
    render_text(&out.finish(&segment.extra))
}

/// Reads an archive file.
///
/// # Errors
///
/// Everything that is wrong with it: text that is no JSON, a newer version, values of the wrong kind, a gap between its
/// keys, or other keys than its name promises.
pub fn load_segment(path: &str, text: &str) -> Result<Segment, Vec<Diagnostic>> {
    let Some((first, last)) = parse_segment_path(path) else {
        let wrong = Diagnostic::error(path, "this is not the name of an archive file");
        return Err(vec![
            wrong.help(format!("it reads `{}`", segment_path(0, 499))),
        ]);
    };
    let node = json::parse(path, text)?;
    let issues = Issues::new(path, text);
    let segment = read_segment(node, (first, last), &issues);
    issues.finish()?;
    Ok(segment.expect("an archive file that cannot be read left an error"))
}

/// `None` only after an error was noted.
fn read_segment(
    node: json::Node<'_>,
    (first, last): (u64, u64),
    issues: &Issues<'_>,
) -> Option<Segment> {
    let root = KeyPath::ROOT;
    let mut fields = Fields::from_node(node, &root, issues)?;
    let place = fields.value_offset("version");
    match fields.take_number("version") {
        Some(SEGMENT_VERSION) => {}
        Some(other) => {
            let message = format!(
                "the archive file has version {other}; this program reads {SEGMENT_VERSION}"
            );
            issues.error(
                place,
                &root.join_key("version"),
                message,
                "use a newer phileas",
            );
            return None;
        }
        None => fields.report_missing("version"),
    }
    for (name, promised) in [("first", first), ("last", last)] {
        let place = fields.value_offset(name);
        if fields.take_number(name) != Some(promised) {
            let message = format!("the file's name says {promised}");
            issues.error(place, &root.join_key(name), message, "");
        }
    }
    let place = fields.value_offset("entries");
    let entries = fields.take_table("entries", parse_history_key, read_entry);
    if !entries.keys().copied().eq(first..=last) {
        let message = format!("the entries are not those from {first} to {last}");
        issues.error(place, &root.join_key("entries"), message, "");
    }
    Some(Segment {
        entries,
        extra: fields.into_extra(),
    })
}
