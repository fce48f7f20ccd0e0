//! The archive: old history in files of its own, so that the state file stays small however old a project gets.
//!
//! When more than [`HISTORY_SEGMENT`] entries are in the state file, [`rotate`] moves the oldest finished ones, as one
//! unbroken run of keys, to `.jules/history/<first>-<last>.json`. What becomes known of an archived entry later is kept
//! as an [amendment](amend) in the state file until the next rotation folds it into its segment.

mod archive;
mod format;

use std::collections::{BTreeMap, BTreeSet};

use super::{Amendment, HistoryEntry, State};
use crate::Diagnostic;

pub use archive::check_archive;
pub use format::{Segment, load_segment, parse_segment_path, save_segment, segment_path};

/// How many entries stay in the state file before the oldest are archived, and how many a segment holds at most.
pub const HISTORY_SEGMENT: usize = 500;

/// The archived files whose text [`rotate`] would use, out of those there are: the segments that amendments concern.
/// None while nothing is to be rotated.
#[must_use]
pub fn segments_wanted<'p>(
    state: &State,
    limit: usize,
    paths: impl IntoIterator<Item = &'p str>,
) -> BTreeSet<&'p str> {
    if run_length(state, limit) == 0 {
        return BTreeSet::new();
    }
    let concerned = |path: &str| {
        let range = parse_segment_path(path);
        range.is_some_and(|(first, last)| state.amendments.range(first..=last).next().is_some())
    };
    paths.into_iter().filter(|path| concerned(path)).collect()
}

/// Moves the oldest finished entries to segments while more than `limit` entries are in the state, and folds amendments
/// into the segments whose texts are given by path. At least one entry stays, so that the next key is known.
///
/// Returns the files to write, by path: none when nothing is to be rotated. An amendment whose segment is not given is
/// kept. An unfinished entry keeps itself and everything after it in the state.
///
/// # Errors
///
/// A given segment that cannot be read, or an amendment that contradicts its entry. The state is then as it was.
pub fn rotate(
    state: &mut State,
    limit: usize,
    segments: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Vec<Diagnostic>> {
    let mut files = BTreeMap::new();
    if run_length(state, limit) == 0 {
        return Ok(files);
    }
    let mut rotated = state.clone();
    for (path, text) in segments {
        let mut segment = load_segment(path, text)?;
        if fold(&mut rotated.amendments, &mut segment).map_err(|wrong| vec![wrong.in_file(path)])? {
            files.insert(path.clone(), save_segment(&segment));
        }
    }
    // Every round takes at least one entry out of the state.
    loop {
        let length = run_length(&rotated, limit);
        let Some(first) = rotated.history.first_key_value().map(|(key, _)| *key) else {
            break;
        };
        if length == 0 {
            break;
        }
        let stays = rotated.history.split_off(&(first + length as u64));
        let segment = Segment {
            entries: std::mem::replace(&mut rotated.history, stays)
                .into_iter()
                .collect(),
            ..Segment::default()
        };
        files.insert(
            segment_path(first, first + length as u64 - 1),
            save_segment(&segment),
        );
    }
    *state = rotated;
    Ok(files)
}

/// How many entries at the front would move to the next segment.
fn run_length(state: &State, limit: usize) -> usize {
    let entries = state.history.len();
    if entries <= limit {
        return 0;
    }
    let live: BTreeSet<u64> = state
        .tracks
        .values()
        .flat_map(|track| track.turns.values())
        .filter_map(|turn| turn.history_key)
        .collect();
    state
        .history
        .iter()
        .take_while(|(key, entry)| entry.is_finished() && !live.contains(key))
        .count()
        .min(entries - 1)
        .min(HISTORY_SEGMENT)
}

/// Why an amendment cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmendError {
    /// There was never such an entry.
    #[error("there is no entry {key}")]
    Unknown {
        /// The key.
        key: u64,
    },
    /// What is written already says otherwise.
    #[error("entry {key}: {detail}")]
    Contradicts {
        /// The key.
        key: u64,
        /// A sentence about it.
        detail: String,
    },
}

impl AmendError {
    fn in_file(&self, path: &str) -> Diagnostic {
        Diagnostic::error(path, self.to_string()).key("entries")
    }
}

/// Completes an entry by later news: in place, or as an amendment when it is archived.
///
/// # Errors
///
/// [`AmendError`]; the state is then as it was.
pub fn amend(state: &mut State, key: u64, news: &Amendment) -> Result<(), AmendError> {
    if let Some(entry) = state.history.get_mut(&key) {
        return complete(entry, news).map_err(|detail| AmendError::Contradicts { key, detail });
    }
    if key >= state.next_history_key() {
        return Err(AmendError::Unknown { key });
    }
    let mut amended = state.amendments.get(&key).cloned().unwrap_or_default();
    news.apply(
        &mut amended.outcome,
        &mut amended.pr_number,
        &mut amended.finished_at,
    )
    .map_err(|detail| AmendError::Contradicts { key, detail })?;
    amended.extra.extend(news.extra.clone());
    state.amendments.insert(key, amended);
    Ok(())
}

fn complete(entry: &mut HistoryEntry, news: &Amendment) -> Result<(), String> {
    news.apply(
        &mut entry.outcome,
        &mut entry.pr_number,
        &mut entry.finished_at,
    )?;
    entry.extra.extend(news.extra.clone());
    Ok(())
}

/// Folds the amendments of a segment's entries into them; whether there were any.
fn fold(
    amendments: &mut BTreeMap<u64, Amendment>,
    segment: &mut Segment,
) -> Result<bool, AmendError> {
    let mut folded = false;
    for (key, entry) in &mut segment.entries {
        let Some(news) = amendments.get(key) else {
            continue;
        };
        complete(entry, news).map_err(|detail| AmendError::Contradicts { key: *key, detail })?;
        amendments.remove(key);
        folded = true;
    }
    Ok(folded)
}

#[cfg(test)]
mod tests;
