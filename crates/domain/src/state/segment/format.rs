//! One archive file.

use std::collections::BTreeMap;

use crate::state::records::Record as _;
use crate::state::written::{JsonObject, render_text};
use crate::state::{Extra, HISTORY_FOLDER, HistoryEntry};

/// The version of an archive file.
pub(super) const SEGMENT_VERSION: u64 = 1;

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
    out.put(
        "entries",
        JsonObject::table(&segment.entries, HistoryEntry::write),
    );
    render_text(&out.finish(&segment.extra))
}
