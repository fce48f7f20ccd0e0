//! What is said of an archive that is not whole, word by word.

use super::*;
use crate::Severity;

/// The archive files of these ranges, all cut from one ledger of forty entries.
fn files(ranges: &[(u64, u64)]) -> BTreeMap<String, String> {
    let whole = state_of(40).history;
    let cut = |first, last| Segment {
        entries: whole
            .range(first..=last)
            .map(|(key, entry)| (*key, entry.clone()))
            .collect(),
        ..Segment::default()
    };
    ranges
        .iter()
        .map(|&(first, last)| (segment_path(first, last), save_segment(&cut(first, last))))
        .collect()
}

/// A state that goes on from an entry; none for an empty one.
fn from(first: Option<u64>) -> State {
    let mut state = state_of(40);
    let kept = first.map(|first| state.history.split_off(&first));
    state.history = kept.unwrap_or_default();
    state
}

fn violation_texts(first: Option<u64>, ranges: &[(u64, u64)]) -> Vec<String> {
    check_archive(&from(first), &files(ranges))
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn every_gap_and_every_overlap_is_named_with_its_entries() {
    let help = "restore their file from the history of the branch";
    let missing = |first: u64, last: u64| {
        format!(".jules/history: error: the entries {first} to {last} are missing; {help}")
    };
    let nothing: [String; 0] = [];
    assert_eq!(violation_texts(Some(0), &[]), nothing);
    assert_eq!(violation_texts(Some(1), &[(0, 0)]), nothing);
    assert_eq!(violation_texts(Some(20), &[(0, 9), (10, 19)]), nothing);
    assert_eq!(
        violation_texts(Some(20), &[(0, 9), (10, 18)]),
        [missing(19, 19)]
    );
    assert_eq!(
        violation_texts(Some(20), &[(1, 9), (10, 19)]),
        [missing(0, 0)]
    );
    assert_eq!(
        violation_texts(Some(20), &[(0, 9), (12, 19)]),
        [missing(10, 11)]
    );
    assert_eq!(violation_texts(Some(3), &[]), [missing(0, 2)]);
    assert_eq!(
        violation_texts(Some(20), &[(0, 9), (9, 19)]),
        [
            ".jules/history/9-19.json: error: the entries from 9 on stand in an older archive file as well"
        ]
    );
    // A file within another one hides nothing of what follows.
    assert_eq!(
        violation_texts(Some(20), &[(0, 19), (5, 6)]),
        [
            ".jules/history/5-6.json: error: the entries from 5 on stand in an older archive file as well"
        ]
    );
    assert_eq!(
        violation_texts(Some(19), &[(0, 19)]),
        [
            ".jules/cycle_state.json: error: the entries from 19 on stand in the archive as well (at history)"
        ]
    );
    assert_eq!(
        violation_texts(None, &[(0, 0)]),
        [
            ".jules/cycle_state.json: error: the archive ends with entry 0, and no entry follows (at history)"
        ]
    );
    assert_eq!(violation_texts(None, &[]), nothing);
}

#[test]
fn an_unknown_file_among_the_archive_files_is_only_a_warning() {
    let mut archive = files(&[(0, 9)]);
    archive.insert(".jules/history/README.md".to_owned(), "# Old".to_owned());
    let said = check_archive(&from(Some(10)), &archive);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].severity, Severity::Warning);
    assert_eq!(said[0].file, ".jules/history/README.md");
}

#[test]
fn a_file_is_held_against_its_name_place_by_place() {
    let good = files(&[(3, 4)]).remove(".jules/history/3-4.json").unwrap();
    let wrong = |change: &dyn Fn(&str) -> String| {
        let text = change(&good);
        assert_ne!(text, good);
        let said = load_segment(".jules/history/3-4.json", &text).unwrap_err();
        let lines = said.iter().map(ToString::to_string);
        lines
            .map(|line| line.replace(".jules/history/3-4.json", ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        wrong(&|text| text.replace("\"version\": 1", "\"version\": 2")),
        [
            ":2:14: error: the archive file has version 2; this program reads 1 (at version); use a newer phileas"
        ]
    );
    assert_eq!(
        wrong(&|text| text.replace("  \"version\": 1,\n", "")),
        [":1:1: error: the key `version` is missing"]
    );
    assert_eq!(
        wrong(&|text| text.replace("\"first\": 3", "\"first\": 2")),
        [":3:12: error: the file's name says 3 (at first)"]
    );
    assert_eq!(
        wrong(&|text| text.replace("\"last\": 4", "\"last\": 5")),
        [":4:11: error: the file's name says 4 (at last)"]
    );
    assert_eq!(
        wrong(&|text| text.replace("\"4\": {", "\"5\": {")),
        [":5:14: error: the entries are not those from 3 to 4 (at entries)"]
    );
    let other = load_segment(".jules/history/4-3.json", &good).unwrap_err();
    assert_eq!(
        other[0].to_string(),
        ".jules/history/4-3.json: error: this is not the name of an archive file; it reads `.jules/history/0-499.json`"
    );
}

#[test]
fn amendments_are_held_against_the_entry_of_their_number() {
    let archive = files(&[(0, 9)]);
    let mut state = from(Some(10));
    state.amendments = [(3, merged(7)), (4, merged(8))].into();
    assert_eq!(check_archive(&state, &archive), []);
    let other = Amendment {
        outcome: Some(Outcome::Failed),
        ..Amendment::default()
    };
    state.amendments.insert(4, other);
    let said = check_archive(&state, &archive);
    assert_eq!(
        said[0].to_string(),
        ".jules/cycle_state.json: error: entry 4: the outcome `rejected` cannot become `failed` (at amendments)"
    );
    assert_eq!(said.len(), 1);
}
