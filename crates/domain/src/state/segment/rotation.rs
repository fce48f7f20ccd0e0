//! Moves the oldest finished entries from the state to archive files.

use std::collections::{BTreeMap, BTreeSet};

use super::format::{Segment, save_segment, segment_path};
use crate::state::{Amendment, Outcome, State};

/// How many entries the state file keeps before the oldest are archived, and the maximal size of a segment.
pub const HISTORY_SEGMENT: usize = 500;

/// How many entries a rotation leaves in the state file: more than the largest daily quota of Jules, so that limits that
/// count the sessions of a day see all of them.
pub const HISTORY_KEPT: usize = 350;

/// For how many archived rejected entries phileas still checks for a merge.
pub const REJECTIONS_TRACKED: usize = 100;

/// Moves the oldest finished entries to segments while the state has more than `limit` entries. The newest `kept` stay,
/// and at least one, so that the next key is known. An unfinished entry and all entries after it stay, too, and so does
/// an entry that `before`, the state of the last commit, does not have as finished: its end is recorded in the state
/// first.
///
/// Returns the files to write, by path.
pub fn rotate(
    state: &mut State,
    before: Option<&State>,
    limit: usize,
    kept: usize,
) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    // Every round removes at least one entry from the state.
    loop {
        let length = run_length(state, before, limit, kept.max(1));
        let Some(first) = state.history.first_key_value().map(|(key, _)| *key) else {
            break;
        };
        if length == 0 {
            break;
        }
        let stays = state.history.split_off(&(first + length as u64));
        let entries = std::mem::replace(&mut state.history, stays);
        let segment = Segment {
            entries: entries.into_iter().collect(),
            ..Segment::default()
        };
        track_rejections(&mut state.amendments, &segment);
        let last = first + length as u64 - 1;
        files.insert(segment_path(first, last), save_segment(&segment));
    }
    if !files.is_empty() {
        forget_old_rejections(&mut state.amendments);
    }
    files
}

/// Adds an amendment that repeats its entry. As long as it exists, phileas notices a merge of that pull request.
fn track_rejections(amendments: &mut BTreeMap<u64, Amendment>, segment: &Segment) {
    for (key, entry) in &segment.entries {
        let outcome = entry.outcome.as_ref();
        if outcome.is_some_and(Outcome::is_closed_unmerged) && entry.pr_number.is_some() {
            let watched = amendments.entry(*key).or_default();
            watched.outcome.clone_from(&entry.outcome);
            watched.pr_number = entry.pr_number;
        }
    }
}

/// Removes the amendments of old rejections. An amendment with a change stays.
fn forget_old_rejections(amendments: &mut BTreeMap<u64, Amendment>) {
    let watched = amendments.iter().rev().filter(|(_, news)| {
        let outcome = news.outcome.as_ref();
        outcome.is_some_and(Outcome::is_closed_unmerged) && news.extra.is_empty()
    });
    let old: Vec<u64> = watched
        .skip(REJECTIONS_TRACKED)
        .map(|(key, _)| *key)
        .collect();
    for key in old {
        amendments.remove(&key);
    }
}

/// How many entries at the front would move to the next segment.
fn run_length(state: &State, before: Option<&State>, limit: usize, kept: usize) -> usize {
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
    let was_open = |key: &u64| {
        let entry = before.and_then(|before| before.history.get(key));
        entry.is_some_and(|entry| !entry.is_finished())
    };
    state
        .history
        .iter()
        .take_while(|(key, entry)| entry.is_finished() && !live.contains(key) && !was_open(key))
        .count()
        .min(entries.saturating_sub(kept))
        .min(HISTORY_SEGMENT)
}
