//! Tests lessons: they are counted, limited and kept.

use phileas_domain::pipeline::{
    Artifact, Lesson, Reading, Settings, add_lesson, list_lessons, read_artifact, read_lessons,
};

fn reading(text: &str) -> Reading {
    read_artifact(
        Artifact::Lessons,
        "lessons.yaml",
        text,
        &Settings::default(),
    )
}

fn lesson(date: &str, pattern: &str) -> Lesson {
    Lesson {
        date: date.into(),
        issue: "X-1".into(),
        pattern: pattern.into(),
        frequency: None,
        mitigation: None,
    }
}

#[test]
fn a_pattern_is_counted_once_and_the_newest_day_stays() {
    let first = add_lesson(None, &lesson("2026-01-05", "Forgets the index")).unwrap();
    assert_eq!(
        first,
        "lessons:\n  - date: 2026-01-05\n    issue: \"X-1\"\n    pattern: \"Forgets the index\"\n    frequency: 1\n"
    );
    let helped = Lesson {
        issue: "X-2".into(),
        mitigation: Some("Write it first.".into()),
        ..lesson("2026-01-04", " forgets THE index ")
    };
    let second = add_lesson(Some(&reading(&first)), &helped).unwrap();
    let known = list_lessons(&reading(&second));
    assert_eq!(known.len(), 1);
    assert_eq!(
        (
            known[0].frequency,
            known[0].date.as_str(),
            known[0].issue.as_str()
        ),
        (Some(2), "2026-01-05", "X-1")
    );
    assert_eq!(known[0].mitigation.as_deref(), Some("Write it first."));
}

#[test]
fn the_oldest_go_where_there_are_too_many_and_further_keys_stay() {
    let mut text = "owner: me\nlessons: []\n".to_owned();
    for day in 0..51 {
        let date = format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
        text = add_lesson(
            Some(&reading(&text)),
            &lesson(&date, &format!("pattern {day}")),
        )
        .unwrap();
    }
    let known = list_lessons(&reading(&text));
    assert_eq!(
        (
            known.len(),
            known[0].pattern.as_str(),
            known[49].pattern.as_str()
        ),
        (50, "pattern 1", "pattern 50")
    );
    assert!(text.starts_with("owner: \"me\"\n"), "{text}");
    // An old lesson that is new today is not the first to be removed.
    let old = add_lesson(Some(&reading(&text)), &lesson("2020-01-01", "of old")).unwrap();
    assert_eq!(
        list_lessons(&reading(&old)).last().unwrap().pattern,
        "of old"
    );
}

#[test]
fn a_broken_file_is_not_written_over() {
    assert_eq!(
        add_lesson(Some(&reading("lessons: 7")), &lesson("2026-01-05", "x")),
        None
    );
    let bare = "- date: 2026-01-05\n  issue: X\n  pattern: y\n";
    assert!(
        add_lesson(Some(&reading(bare)), &lesson("2026-01-05", "x"))
            .unwrap()
            .starts_with("lessons:\n")
    );
}

/// One bad byte, or one invalid lesson, used to hide all lessons.
#[test]
fn a_lesson_that_cannot_be_read_is_named_and_the_others_count() {
    let good =
        |day: u32| format!("  - date: 2026-01-{day:02}\n    issue: X-{day}\n    pattern: p{day}\n");
    let file = |middle: &[u8]| {
        let mut bytes = format!("\u{feff}lessons:\n{}", good(1)).into_bytes();
        bytes.extend_from_slice(middle);
        bytes.extend_from_slice(good(3).as_bytes());
        bytes
    };
    let (reading, is_partial) = read_lessons("lessons.yaml", &file(good(2).as_bytes()));
    assert_eq!((list_lessons(&reading).len(), is_partial), (3, false));
    for (bad, place) in [
        (
            &b"  - date: 2026-01-02\n    issue: X-2\n    pattern: \xff\n"[..],
            "lessons.yaml:7:14",
        ),
        (
            b"  - date: 2026-01-02\n    pattern: p2\n",
            "lessons.yaml:5:5",
        ),
        (
            b"  - date: 2026-01-02\n    issue: X-2\n    issue: X-3\n    pattern: p2\n",
            "lessons.yaml:7:5: warning: the key \"issue\" is there twice, first on line 6",
        ),
        (b"  - date: [\n", "lessons.yaml:5:"),
        (b"  - {\xff\n", "lessons.yaml:5:6"),
        (b"\xff\xfe \0-\0\n", "lessons.yaml:5:1"),
    ] {
        let (reading, is_partial) = read_lessons("lessons.yaml", &file(bad));
        let patterns: Vec<_> = list_lessons(&reading)
            .into_iter()
            .map(|one| one.pattern)
            .collect();
        let shown = String::from_utf8_lossy(bad);
        assert_eq!(patterns, ["p1", "p3"], "{shown}: {:?}", reading.diagnostics);
        assert!(is_partial, "{shown}");
        let first = reading.diagnostics[0].to_string();
        assert!(first.starts_with(place), "{shown}: {first}");
    }
}

#[test]
fn a_faulty_file_is_read_whatever_letters_stand_at_its_edge() {
    for torn in ["für Umlaute", "日本", "é"] {
        let text = format!(
            "lessons:\n  - date: 2026-01-05\n    issue: X-1\n    pattern: One\n{torn}\n  - date: 2026-01-06\n    issue: X-2\n    pattern: Two\n"
        );
        let (reading, is_partial) = read_lessons("lessons.yaml", text.as_bytes());
        assert_eq!(
            (list_lessons(&reading).len(), is_partial),
            (1, true),
            "{torn}"
        );
    }
}
