//! Properties of fingerprints and of their similarity.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::plan::limits::MAX_ID_BYTES;
use crate::state::Outcome;

const NONE: fn(&str) -> bool = |_| false;

/// A file with its hunks, each a list of added and a list of removed lines.
#[derive(Debug, Clone)]
struct File {
    path: String,
    hunks: Vec<(Vec<String>, Vec<String>)>,
}

impl File {
    fn patch(&self, end: &str) -> String {
        let mut text = String::new();
        for (removed, added) in &self.hunks {
            text += &format!(
                "@@ -1,{} +1,{} @@ fn main() {{{end}",
                removed.len(),
                added.len()
            );
            text += &format!(" context{end}");
            for line in removed {
                text += &format!("-{line}{end}");
            }
            for line in added {
                text += &format!("+{line}{end}");
            }
            text += &format!(" more{end}");
        }
        text
    }

    fn reverted(&self) -> Self {
        let hunks = self.hunks.iter().cloned();
        Self {
            path: self.path.clone(),
            hunks: hunks.map(|(removed, added)| (added, removed)).collect(),
        }
    }
}

fn fingerprint(title: &str, files: &[File], end: &str) -> Fingerprint {
    let patches: Vec<String> = files.iter().map(|file| file.patch(end)).collect();
    let count = |lines: fn(&(Vec<String>, Vec<String>)) -> usize, file: &File| {
        file.hunks.iter().map(lines).sum::<usize>() as u64
    };
    let listed: Vec<ChangedFile<'_>> = files
        .iter()
        .zip(&patches)
        .map(|(file, patch)| ChangedFile {
            path: &file.path,
            added: count(|hunk| hunk.1.len(), file),
            removed: count(|hunk| hunk.0.len(), file),
            patch: Some(patch),
        })
        .collect();
    Fingerprint::from_pull(title, &listed, NONE)
}

prop_compose! {
    fn any_lines()(lines in prop::collection::vec("[a-z]{1,6}( [a-z(){};=]{1,8}){0,4}", 0..8)) -> Vec<String> {
        lines
    }
}

prop_compose! {
    fn any_file()(
        path in "src/[a-z]{1,8}/[a-z]{1,8}\\.rs",
        hunks in prop::collection::vec((any_lines(), any_lines()), 1..5),
    ) -> File {
        File { path, hunks }
    }
}

fn any_files() -> impl Strategy<Value = Vec<File>> {
    prop::collection::vec(any_file(), 0..6).prop_map(|mut files| {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        files
    })
}

proptest! {
    #[test]
    fn similarity_is_symmetric(
        files in any_files(), others in any_files(), title in ".{0,40}", other in ".{0,40}",
    ) {
        let (one, other) = (fingerprint(&title, &files, "\n"), fingerprint(&other, &others, "\n"));
        prop_assert_eq!(Similarity::between(&one, &other), Similarity::between(&other, &one));
    }

    #[test]
    fn work_of_eight_shingles_is_the_same_as_itself(files in any_files(), title in ".{0,40}") {
        let work = fingerprint(&title, &files, "\n");
        let likeness = Similarity::between(&work, &work).likeness();
        if work.sketch.shingles >= 8 {
            prop_assert_eq!(likeness, Likeness::Same);
        }
        if work.sketch.shingles == 0 {
            prop_assert_ne!(likeness, Likeness::Same);
        }
    }

    #[test]
    fn order_line_ends_and_emoji_change_nothing(files in any_files(), turned in any::<prop::sample::Index>()) {
        let plain = fingerprint("Escape quotes in attributes", &files, "\n");
        let mut moved = files.clone();
        moved.reverse();
        for file in &mut moved {
            let at = turned.index(file.hunks.len());
            file.hunks.rotate_left(at);
        }
        let moved = fingerprint("⚡ escape Quotes in attributes! 🚀", &moved, "\r\n");
        prop_assert_eq!(plain, moved);
    }

    #[test]
    fn a_revert_has_the_opposite_lines(files in any_files()) {
        let work = fingerprint("Escape quotes", &files, "\n");
        let back: Vec<String> = files.iter().map(|file| file.reverted().patch("\n")).collect();
        let back = || back.iter().map(String::as_str);
        prop_assert_eq!(&Sketch::from_reverted_patches(back()), &work.sketch);
        prop_assert!(Sketch::from_patches(back()).similarity(&work.sketch) < 1e-9);
    }

    #[test]
    fn the_estimate_is_near_the_truth(shared in 0_usize..200, own in 0_usize..200, others in 0_usize..200) {
        let lines = |from: usize, count: usize| -> Vec<(Vec<String>, Vec<String>)> {
            (from..from + count).map(|line| (vec![], vec![format!("line {line}")])).collect()
        };
        let file = |hunks| [File { path: "a.rs".to_owned(), hunks }];
        let one = file([lines(0, shared), lines(1000, own)].concat());
        let other = file([lines(0, shared), lines(2000, others)].concat());
        let (one, other) = (fingerprint("", &one, "\n"), fingerprint("", &other, "\n"));
        let found = one.sketch.similarity(&other.sketch);
        let whole = shared + own + others;
        let truth = if whole == 0 { 0.0 } else { shared as f64 / whole as f64 };
        let small = shared + own <= 32 && shared + others <= 32 && whole <= 32;
        let allowed = if small { 1e-9 } else { 0.45 };
        prop_assert!((found - truth).abs() <= allowed, "{found} for {truth}");
    }

    #[test]
    fn a_record_is_read_as_it_was_written(files in any_files(), title in ".{0,60}") {
        let record = record(7, fingerprint(&title, &files, "\n"));
        let text = serde_json::to_string(&record).unwrap();
        prop_assert_eq!(serde_json::from_str::<WorkRecord>(&text).unwrap(), record);
        prop_assert!(text.len() < 4096, "{}", text.len());
    }
}

fn record(pr: u64, fingerprint: Fingerprint) -> WorkRecord {
    WorkRecord {
        pr,
        persona: Some("curator".to_owned()),
        turn: None,
        opened_at: "2026-01-05T00:00:00Z".parse().unwrap(),
        closed_at: None,
        fingerprint,
        outcome: None,
        refused: None,
        forgotten: false,
        unknown: BTreeMap::new(),
    }
}

/// A record of a settled pull request, with these words and paths.
fn settled(pr: u64, title: &str, path: &str) -> WorkRecord {
    let opened_at = Timestamp::from_second(1_767_571_200 + 3600 * pr as i64).unwrap();
    let lines = |from: u64| (from..from + 60).map(|line| format!("let value = {line};"));
    let file = |at: u64| File {
        path: format!("{path}/part{at}/module.rs"),
        hunks: vec![(vec![], lines(pr * 1000 + at * 100).collect())],
    };
    WorkRecord {
        turn: Some("k3v9w2m1q8zt".to_owned()),
        opened_at,
        closed_at: Some(opened_at),
        outcome: Some(Outcome::Merged),
        ..record(pr, fingerprint(title, &[file(1), file(2), file(3)], "\n"))
    }
}

#[test]
fn no_size_is_too_large_to_add() {
    let file = |path| ChangedFile {
        path,
        added: u64::MAX,
        removed: u64::MAX,
        patch: None,
    };
    let work = Fingerprint::from_pull("x", &[file("a.rs"), file("b.rs")], NONE);
    assert_eq!(work.size, (u64::MAX, u64::MAX));
}

#[test]
fn ten_thousand_records_take_at_most_five_megabytes() {
    let remember = SignedDuration::from_hours(180 * 24);
    let (mut hot, mut segments) = (WorkFile::default(), BTreeMap::<String, WorkFile>::new());
    let title = "Escape quotes in the attributes of rendered elements";
    let first = settled(1, title, "src/render");
    for pr in 1..=10_000 {
        let opened_at = first.opened_at + SignedDuration::from_hours(i64::try_from(pr).unwrap());
        let mut record = first.clone();
        (record.pr, record.opened_at, record.closed_at) = (pr, opened_at, Some(opened_at));
        hot.insert(record);
        // A commit settles one or a few; the oldest leave with it.
        if pr % 20 != 0 {
            continue;
        }
        let now = hot.get(pr).unwrap().opened_at;
        let leaving = hot.leaving(now, remember);
        for leaving in leaving.into_iter().take(files::LEAVING_AT_ONCE) {
            let mut record = hot.remove(leaving).unwrap();
            record.compact();
            segments
                .entry(segment_path(leaving))
                .or_default()
                .insert(record);
        }
        // Writing it each time would take most of the test.
        assert!(pr % 500 != 0 || hot.text().len() <= files::HOT_LIMIT_BYTES + 20 * 4096);
    }
    let sizes: Vec<usize> = segments.values().map(|file| file.text().len()).collect();
    let whole = hot.text().len() + sizes.iter().sum::<usize>();
    assert_eq!(
        hot.len() + segments.values().map(WorkFile::len).sum::<usize>(),
        10_000
    );
    assert!(sizes.iter().all(|size| *size <= files::SEGMENT_LIMIT_BYTES));
    assert!(whole <= 5 * 1000 * 1000, "{whole}");
    println!(
        "10,000 records: {whole} bytes, of these {} in hot.json",
        hot.text().len()
    );
}

#[test]
fn a_hot_file_above_its_limit_loses_as_many_of_its_oldest_settled_records_as_it_must() {
    const FIRST: u64 = 100_000;
    let first = settled(1, "Escape quotes in attributes", "src/render");
    let (now, remember) = (first.opened_at, SignedDuration::from_hours(24));
    let file = |count: u64| {
        let mut hot = WorkFile::default();
        for pr in FIRST..FIRST + count {
            let mut record = first.clone();
            record.pr = pr;
            hot.insert(record);
        }
        hot
    };
    let line = file(2).text().len() - file(1).text().len();
    let room = (files::HOT_LIMIT_BYTES / line) as u64;
    assert_eq!(file(room).leaving(now, remember), [0; 0]);
    let mut full = file(room + 3);
    let oldest = [FIRST, FIRST + 1, FIRST + 2];
    assert_eq!(full.leaving(now, remember), oldest);
    let mut open = full.remove(FIRST).unwrap();
    (open.closed_at, open.outcome) = (None, None);
    full.insert(open);
    let leaving = full.leaving(now, remember);
    assert_eq!(leaving[..2], oldest[1..], "an open one stays");
    assert!(!leaving.contains(&FIRST));
    let mut unwanted = full.remove(FIRST + 1).unwrap();
    unwanted.refused = Some(Refusal {
        reason: RefusalReason::Wrong,
        comment: None,
        digest: None,
        until: None,
        never: true,
        unknown: BTreeMap::new(),
    });
    full.insert(unwanted);
    let leaving = full.leaving(now, remember);
    assert_eq!(
        leaving[..2],
        [FIRST + 2, FIRST + 3],
        "so does what forbids work"
    );
}

#[test]
fn the_largest_segment_keeps_its_limit() {
    let mut segment = WorkFile::default();
    for pr in 18_446_744_073_709_551_500..=18_446_744_073_709_551_599_u64 {
        let title: String = (0..40)
            .map(|word| format!("{word:02}{} ", "é".repeat(200)))
            .collect();
        let mut record = settled(1, &title, "src");
        record.pr = pr;
        record.persona = Some("p".repeat(MAX_ID_BYTES));
        record.refused = Some(Refusal {
            reason: RefusalReason::OutOfScope,
            comment: Some(u64::MAX),
            digest: Some(format!("sha256:{}", "0".repeat(64))),
            until: Some(Timestamp::MAX),
            never: true,
            unknown: BTreeMap::new(),
        });
        record.compact();
        assert_eq!(segment_path(pr), segment_path(18_446_744_073_709_551_500));
        segment.insert(record);
    }
    let text = segment.text();
    assert!(text.len() <= files::SEGMENT_LIMIT_BYTES, "{}", text.len());
    assert_eq!(WorkFile::parse(&text), Ok(segment));
}

#[test]
fn a_file_is_read_as_it_was_written_and_one_of_another_version_is_refused() {
    let mut file = WorkFile::default();
    assert!(file.is_empty());
    assert_eq!(file.text(), "{\n  \"version\": 1,\n  \"records\": []\n}\n");
    file.insert(record(9, some_work()));
    file.insert(record(7, some_work()));
    assert!(!file.is_empty());
    let text = file.text();
    assert_eq!(
        text.lines().filter(|line| line.contains("\"pr\":")).count(),
        2
    );
    assert_eq!(WorkFile::parse(&text), Ok(file));
    assert!(WorkFile::parse(&text.replace("\"version\": 1", "\"version\": 2")).is_err());
    assert_eq!(segment_path(2401), ".jules/work/2400-2499.json");
    assert_eq!(segment_path(7), ".jules/work/0-99.json");
}

/// A newer version may write keys that this one does not know; a rewrite keeps them, and takes no known key for one.
#[test]
fn unknown_keys_survive_a_rewrite() {
    let mut whole = settled(7, "Escape quotes", "src/render");
    whole.refused = Some(Refusal {
        reason: RefusalReason::Wrong,
        comment: Some(1),
        digest: Some("sha256:0".to_owned()),
        until: Some(Timestamp::UNIX_EPOCH),
        never: true,
        unknown: BTreeMap::new(),
    });
    let lines = |word: &str| {
        (0..60)
            .map(|line| format!("{word} {word}_{line};"))
            .collect()
    };
    let hunks = vec![(lines("drop"), lines("keep"))];
    let changed = File {
        path: "src/render/module.rs".to_owned(),
        hunks,
    };
    whole.forgotten = true;
    whole.fingerprint = fingerprint("Escape quotes", &[changed], "\n");
    let written = serde_json::to_value(&whole).unwrap();
    let mut written: Vec<&str> = written
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut known = record::KEYS.to_vec();
    written.sort_unstable();
    known.sort_unstable();
    assert_eq!(written, known, "each key is known, and no other");
    let mut file = WorkFile::default();
    file.insert(whole);
    let text = file.text();
    let read = WorkFile::parse(&text).unwrap();
    assert_eq!(read.get(7).unwrap().unknown, BTreeMap::new());
    let newer = text
        .replace("\"pr\":7,", "\"pr\":7,\"seen\":[1,\"a\"],")
        .replace("\"never\":true", "\"never\":true,\"by\":{\"id\":3}")
        .replace("\n  ]\n}", "\n  ],\n  \"made \\\"by\\\"\": null\n}");
    let read = WorkFile::parse(&newer).unwrap();
    let again = WorkFile::parse(&read.text()).unwrap();
    assert_eq!(again, read);
    for part in [
        "\"seen\":[1,\"a\"]",
        "\"by\":{\"id\":3}",
        "\"made \\\"by\\\"\": null",
    ] {
        assert_eq!(read.text().matches(part).count(), 1, "{}", read.text());
    }
}

fn some_work() -> Fingerprint {
    let added = (0..12).map(|line| format!("let value = {line};")).collect();
    let hunks = vec![(vec![], added)];
    let path = "src/render.rs".to_owned();
    fingerprint("Escape quotes in attributes", &[File { path, hunks }], "\n")
}

#[test]
fn an_older_open_pull_request_is_repeated_and_a_newer_one_is_not() {
    let now = "2026-01-06T00:00:00Z".parse().unwrap();
    let mut earlier = record(7, some_work());
    assert!(earlier.is_repeated_by(8, &some_work()));
    assert!(!earlier.is_repeated_by(7, &some_work()));
    assert!(!earlier.is_repeated_by(6, &some_work()));
    assert!(!earlier.is_repeated_by(8, &Fingerprint::default()));
    assert!(earlier.forbids_repeats(now));
    earlier.closed_at = Some(now);
    assert!(!earlier.forbids_repeats(now));
}

#[test]
fn merged_work_counts_for_its_span() {
    let merged_at: Timestamp = "2026-01-06T00:00:00Z".parse().unwrap();
    let month = SignedDuration::from_hours(30 * 24);
    let mut earlier = record(7, some_work());
    earlier.closed_at = Some(merged_at);
    earlier.outcome = Some(Outcome::Merged);
    let counts = |earlier: &WorkRecord, after_hours: i64, span: SignedDuration| {
        earlier.is_merged_within(merged_at + SignedDuration::from_hours(after_hours), span)
    };
    assert!(counts(&earlier, 0, month));
    assert!(counts(&earlier, 30 * 24 - 1, month));
    assert!(!counts(&earlier, 30 * 24, month));
    assert!(!counts(&earlier, 0, SignedDuration::ZERO));
    let forgotten = WorkRecord {
        forgotten: true,
        ..earlier.clone()
    };
    assert!(!counts(&forgotten, 0, month));
    for other in [Outcome::Reverted, Outcome::Rejected, Outcome::Superseded] {
        earlier.outcome = Some(other);
        assert!(!counts(&earlier, 0, month));
    }
}

#[test]
fn only_a_refusal_of_the_work_itself_condemns_it() {
    use RefusalReason::{Duplicate, NoEvidence, OutOfScope, TooLarge, Wrong};
    let now = "2026-01-06T00:00:00Z".parse().unwrap();
    let later = "2026-02-06T00:00:00Z".parse().unwrap();
    for reason in [Duplicate, NoEvidence, OutOfScope, TooLarge, Wrong] {
        for never in [false, true] {
            let mut earlier = record(7, some_work());
            earlier.closed_at = Some(now);
            let until = Some(later);
            let (comment, digest) = (None, None);
            earlier.refused = Some(Refusal {
                reason,
                comment,
                digest,
                until,
                never,
                unknown: BTreeMap::new(),
            });
            let condemned = never || reason == OutOfScope;
            assert_eq!(earlier.forbids_repeats(now), condemned);
            assert!(!earlier.forbids_repeats(later));
        }
    }
}

#[test]
fn a_change_of_one_line_is_never_the_same_by_its_lines_alone() {
    let hunks = vec![(vec!["a = 1".to_owned()], vec!["a = 2".to_owned()])];
    let path = "src/lib.rs".to_owned();
    let one = fingerprint(
        "Bump a",
        &[File {
            path: path.clone(),
            hunks: hunks.clone(),
        }],
        "\n",
    );
    let other = fingerprint("Count letters", &[File { path, hunks }], "\n");
    let similarity = Similarity::between(&one, &other);
    assert!(similarity.hunks > 0.99);
    assert_eq!(similarity.likeness(), Likeness::Close);
}

#[test]
fn lines_that_only_move_say_nothing() {
    let lines: Vec<String> = (0..12).map(|line| format!("let value = {line};")).collect();
    let hunks = vec![(lines.clone(), vec![]), (vec![], lines)];
    let path = "src/render.rs".to_owned();
    let moved = fingerprint("Move the values", &[File { path, hunks }], "\n");
    assert_eq!(moved.sketch, Sketch::default());
    assert_eq!(
        Similarity::between(&moved, &moved).likeness(),
        Likeness::Close
    );
}

#[test]
fn excluded_and_derived_files_do_not_count() {
    let patch = "@@ -1 +1 @@\n+x\n";
    let file = |path| ChangedFile {
        path,
        added: 1,
        removed: 0,
        patch: Some(patch),
    };
    let files = [
        file("Cargo.lock"),
        file(".github/workflows/ci.yml"),
        file("src/a.rs"),
    ];
    let work = Fingerprint::from_pull("", &files, |path| path.starts_with(".github/"));
    assert_eq!(work.paths, ["src/a.rs"]);
    assert_eq!((work.size, work.sketch.shingles), ((1, 0), 1));
}

#[test]
fn a_pull_request_of_ten_thousand_files_has_a_small_fingerprint() {
    let paths: Vec<String> = (0..10_000)
        .map(|number| format!("src/{number}.rs"))
        .collect();
    let patch: String = (0..40).map(|line| format!("+line {line}\n")).collect();
    let file = |path| ChangedFile {
        path,
        added: 40,
        removed: 0,
        patch: Some(&patch),
    };
    let files: Vec<ChangedFile<'_>> = paths.iter().map(|path| file(path)).collect();
    let work = Fingerprint::from_pull("Change everything", &files, NONE);
    assert_eq!((work.paths.len(), work.size), (8, (400_000, 0)));
    assert!(serde_json::to_string(&work).unwrap().len() < 600);
}

#[test]
fn a_broken_sketch_is_refused_and_a_long_one_is_cut() {
    let read = |hunks: &str| {
        let text = format!(r#"{{"title":[],"hunks":"{hunks}","shingles":1,"size":[0,0]}}"#);
        serde_json::from_str::<Fingerprint>(&text)
    };
    assert!(read("AAAAAQ==").is_ok());
    assert!(read("AAAA").unwrap_err().to_string().contains("32-bit"));
    assert!(read("*").is_err());
    let long =
        data_encoding::BASE64.encode(&(0..400_u32).flat_map(u32::to_be_bytes).collect::<Vec<u8>>());
    assert_eq!(read(&long).unwrap().sketch.hunks.len(), 32);
}
