//! The shapes that were written before version 5, and how each becomes a [`State`].
//!
//! | version | known by |
//! |---|---|
//! | 1 | flat `last_*` keys, a list of entries, newest first |
//! | 2 | nothing but a list of entries, newest first; also a bare list |
//! | 3 | list and `tracks`, whose keys begin with `last_` |
//! | 4 | `history` as an object with the keys 0, 1, 2, …, oldest first |

use std::collections::BTreeMap;

use super::fields::Fields;
use super::issues::{Issues, KeyPath};
use super::records::Record as _;
use super::values::read_table;
use super::{HistoryEntry, State, TrackState};
use crate::json::{Node, Value};
use crate::model::TrackName;

/// The track of files that knew none.
const DEFAULT_TRACK: &str = "default";
/// Track keys that versions 1 and 3 wrote with `last_` before them.
const LAST_KEYS: [(&str, &str); 4] = [
    ("last_persona_id", "persona_id"),
    ("last_session_id", "session_id"),
    ("last_pr_number", "pr_number"),
    ("last_updated_at", "updated_at"),
];

/// Finds out the version of a file that does not say it.
pub(super) fn version_by_shape(fields: &Fields<'_, '_>) -> Option<u64> {
    let flat = fields.has_key("last_persona_id") || fields.has_key("last_session_id");
    match fields.peek_value("history") {
        Some(Value::Object(_)) => Some(4),
        _ if flat => Some(1),
        Some(_) if fields.has_key("tracks") => Some(3),
        Some(_) => Some(2),
        None => None,
    }
}

/// Reads the history: an object in its order, a list (newest first) from its end.
pub(super) fn read_history(
    node: &Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> BTreeMap<u64, HistoryEntry> {
    match &node.value {
        Value::List(items) => {
            let places = items.iter().enumerate().rev();
            let read = places.filter_map(|(index, item)| {
                HistoryEntry::from_node(item, &path.join_index(index), issues)
            });
            (0..).zip(read).collect()
        }
        _ => read_table(node, path, issues, HistoryEntry::from_node).unwrap_or_default(),
    }
}

/// Reads one track of versions 3 and 4.
pub(super) fn read_old_track(
    node: &Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<TrackState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    for (old, new) in LAST_KEYS {
        fields.rename_key(old, new);
    }
    TrackState::from_fields(fields)
}

/// Reads `tracks` as the version wrote it.
pub(super) fn read_tracks(fields: &mut Fields<'_, '_>, version: u64, state: &mut State) {
    let written = fields.has_key("tracks");
    let read = if version < 5 {
        read_old_track
    } else {
        TrackState::from_node
    };
    state.tracks = fields.take_table("tracks", read);
    if version >= 5 {
        return;
    }
    if version == 1 && !state.tracks.contains_key(DEFAULT_TRACK) {
        let mut track = TrackState {
            persona_id: fields.take("last_persona_id"),
            index: fields.take("last_persona_index"),
            session_id: fields.take("last_session_id"),
            pr_number: fields.take("last_pr_number"),
            updated_at: fields.take("updated_at"),
            ..TrackState::default()
        };
        for (key, to) in LAST_KEYS.into_iter().chain([("updated_at", "updated_at")]) {
            if let Some(found) = fields.take_original(key) {
                track.extra.insert(to.to_owned(), found);
            }
        }
        state.tracks.insert(DEFAULT_TRACK.into(), track);
    } else if !written {
        derive_tracks(state);
    }
    count_turns(state);
}

/// Gives each track of the history the position of its newest entry.
pub(super) fn derive_tracks(state: &mut State) {
    for entry in state.history.values() {
        let track = TrackState {
            persona_id: Some(entry.persona_id.clone()),
            session_id: entry.session_id.clone(),
            pr_number: entry.pr_number,
            updated_at: entry.created_at,
            ..TrackState::default()
        };
        state.tracks.insert(entry.track_name(), track);
    }
}

/// Old files count no turns: every entry was one. A live turn's number is part of its id, so a track with one keeps it.
pub(super) fn count_turns(state: &mut State) {
    let mut turns: BTreeMap<TrackName, u64> = BTreeMap::new();
    for entry in state.history.values() {
        *turns.entry(entry.track_name()).or_default() += 1;
    }
    let idle = state.tracks.iter_mut();
    for (name, track) in idle.filter(|(_, track)| track.turns.is_empty()) {
        let counted = turns.get(name).copied().unwrap_or_default();
        track.seq = track.seq.max(counted);
    }
}

/// Warns of session ids that the history of an old file holds twice. Newer files may not hold any.
pub(super) fn warn_of_duplicates(
    state: &State,
    path: &KeyPath<'_>,
    at: usize,
    issues: &Issues<'_>,
) {
    let mut seen = BTreeMap::new();
    for (key, entry) in &state.history {
        let Some(session) = &entry.session_id else {
            continue;
        };
        if let Some(first) = seen.insert(session, key) {
            let message =
                format!("session {session} stands in the history as {first} and as {key}");
            issues.warning(at, path, message, "");
        }
    }
}
