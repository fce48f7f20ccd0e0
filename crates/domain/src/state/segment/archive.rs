//! For tests, because phileas only writes the archive: reads it, and checks that it and the state file contain the whole
//! history.

use std::collections::BTreeMap;

use super::amend::complete_entry;
use super::format::{SEGMENT_VERSION, Segment, segment_path};
use crate::Diagnostic;
use crate::json;
use crate::state::fields::Fields;
use crate::state::issues::{Issues, KeyPath};
use crate::state::records::Record as _;
use crate::state::values::Key as _;
use crate::state::{HISTORY_FOLDER, HistoryEntry, STATE_PATH, State};

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

/// First and last key of the archive file at a path; `None` for any other file.
pub(in crate::state) fn parse_segment_path(path: &str) -> Option<(u64, u64)> {
    let name = path.strip_prefix(HISTORY_FOLDER)?.strip_prefix('/')?;
    let (first, last) = name.strip_suffix(".json")?.split_once('-')?;
    let range = (u64::parse_key(first)?, u64::parse_key(last)?);
    (range.0 <= range.1).then_some(range)
}

/// Reads an archive file.
///
/// Returns everything that is wrong with it: text that is no JSON, a newer version, values of the wrong kind, a gap between its
/// keys, or other keys than its name promises.
pub(in crate::state) fn load_segment(path: &str, text: &str) -> Result<Segment, Vec<Diagnostic>> {
    let Some((first, last)) = parse_segment_path(path) else {
        let wrong = Diagnostic::error(path, "this is not the name of an archive file");
        return Err(vec![
            wrong.help(format!("it reads `{}`", segment_path(0, 499))),
        ]);
    };
    let node = json::parse(path, text)?;
    let issues = Issues::new(path, text);
    let segment = read_segment(&node, (first, last), &issues);
    issues.finish()?;
    Ok(segment.expect("an archive file that cannot be read left an error"))
}

/// `None` only after an error was noted.
fn read_segment(
    node: &json::Node<'_>,
    (first, last): (u64, u64),
    issues: &Issues<'_>,
) -> Option<Segment> {
    let root = KeyPath::ROOT;
    let mut fields = Fields::from_node(node, &root, issues)?;
    let place = fields.value_offset("version");
    match fields.take("version") {
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
        if fields.take(name) != Some(promised) {
            let message = format!("the file's name says {promised}");
            issues.error(place, &root.join_key(name), message, "");
        }
    }
    let place = fields.value_offset("entries");
    let entries = fields.take_table("entries", HistoryEntry::from_node);
    if !entries.keys().copied().eq(first..=last) {
        let message = format!("the entries are not those from {first} to {last}");
        issues.error(place, &root.join_key("entries"), message, "");
    }
    Some(Segment {
        entries,
        extra: fields.into_extra(),
    })
}
