//! For tests: checks that the archive and the state file contain the whole history.

use std::collections::BTreeMap;

use super::amend::complete_entry;
use super::format::{load_segment, parse_segment_path};
use crate::Diagnostic;
use crate::state::{HISTORY_FOLDER, STATE_PATH, State};

/// Checks that the archive files (all of them, text by path) and the state together hold the entries 0 to n-1, each
/// once, and that amendments fit their entries. Returns what is wrong; nothing for a whole history.
pub(in crate::state) fn check_archive(
    state: &State,
    files: &BTreeMap<String, String>,
) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let mut ranges = Vec::new();
    for (path, text) in files {
        let Some((first, last)) = parse_segment_path(path) else {
            wrong.push(Diagnostic::warning(
                path,
                "this is not the name of an archive file",
            ));
            continue;
        };
        ranges.push((first, last, path));
        match load_segment(path, text) {
            Ok(mut segment) => {
                for (key, entry) in &mut segment.entries {
                    let news = state.amendments.get(key);
                    if let Some(Err(detail)) = news.map(|news| complete_entry(entry, news)) {
                        let contradiction = format!("entry {key}: {detail}");
                        wrong.push(Diagnostic::error(STATE_PATH, contradiction).key("amendments"));
                    }
                }
            }
            Err(mistakes) => wrong.extend(mistakes),
        }
    }
    ranges.sort_unstable();
    let mut next = 0_u64;
    for (first, last, path) in ranges {
        if first > next {
            wrong.push(missing_entries(next, first - 1));
        } else if first < next {
            let message =
                format!("the entries from {first} on stand in an older archive file as well");
            wrong.push(Diagnostic::error(path, message));
        }
        next = next.max(last.saturating_add(1));
    }
    match state.history.first_key_value().map(|(key, _)| *key) {
        Some(first) if first > next => wrong.push(missing_entries(next, first - 1)),
        Some(first) if first < next => {
            let message = format!("the entries from {first} on stand in the archive as well");
            wrong.push(Diagnostic::error(STATE_PATH, message).key("history"));
        }
        None if next > 0 => {
            let message = format!(
                "the archive ends with entry {}, and no entry follows",
                next - 1
            );
            wrong.push(Diagnostic::error(STATE_PATH, message).key("history"));
        }
        _ => {}
    }
    wrong
}

fn missing_entries(first: u64, last: u64) -> Diagnostic {
    Diagnostic::error(
        HISTORY_FOLDER,
        format!("the entries {first} to {last} are missing"),
    )
    .help("restore their file from the history of the branch")
}
