//! `pipeline lessons`.

use super::{pipeline, repository};
use crate::commands::bench::text_of;

#[test]
fn a_lesson_is_added_counted_and_listed() {
    let folder = repository();
    let list = ["lessons", "list"];
    let listed = pipeline(folder.path(), &list).done();
    assert_eq!(listed.out, "there is no lesson yet\n");
    let listed = pipeline(folder.path(), &["lessons", "list", "--json"]).done();
    assert_eq!(listed.out, "");
    let add = |date: &str, issue: &str| {
        let arguments = [
            "lessons",
            "add",
            "--issue",
            issue,
            "--pattern",
            "Forgets empty input",
            "--date",
            date,
        ];
        pipeline(folder.path(), &arguments)
    };
    assert_eq!(add("2026-01-05", "X-1").done().out, "learned\n");
    add("2026-01-07", "X-2").done();
    assert_eq!(
        pipeline(folder.path(), &list).done().out,
        "2026-01-07 X-2 (2x): Forgets empty input\n"
    );
    let line = &pipeline(folder.path(), &["lessons", "list", "--json"])
        .done()
        .lines()[0];
    assert_eq!(
        (&line["frequency"], &line["mitigation"]),
        (&2.into(), &serde_json::Value::Null)
    );
    pipeline(folder.path(), &["validate", ".pipeline/lessons.yaml"]).done();
    add("2026-02-30", "X-1").refused(2, "--date");
    let empty = ["lessons", "add", "--issue", "X-1", "--pattern", "  "];
    pipeline(folder.path(), &empty).refused(1, "it says nothing");
}

#[test]
fn a_broken_file_is_not_written_over() {
    let folder = repository();
    folder.write(".pipeline/lessons.yaml", "lessons: none\n");
    let add = ["lessons", "add", "--issue", "X-1", "--pattern", "x"];
    pipeline(folder.path(), &add).refused(
        1,
        "lessons.yaml:1:10: error: a text stands where a list belongs",
    );
    pipeline(folder.path(), &["lessons", "list"]).refused(1, "lessons.yaml:1:10");
    assert_eq!(
        text_of(&folder.join(".pipeline/lessons.yaml")),
        "lessons: none\n"
    );
}

#[test]
fn a_lesson_is_added_beside_one_that_cannot_be_read() {
    let folder = repository();
    let lesson = |day: u32, pattern: &str| {
        format!("  - date: 2026-01-0{day}\n    issue: X-{day}\n    pattern: {pattern}\n")
    };
    let text = format!("lessons:\n{}{}", lesson(1, "[torn"), lesson(2, "sound"));
    folder.write(".pipeline/lessons.yaml", &text);
    let listed = pipeline(folder.path(), &["lessons", "list"]).done();
    assert_eq!(listed.out, "2026-01-02 X-2 (1x): sound\n");
    assert!(listed.err.contains("lessons.yaml:"), "{}", listed.err);
    let add = ["lessons", "add", "--issue", "X-3", "--pattern", "new"];
    pipeline(folder.path(), &add).done();
    let listed = pipeline(folder.path(), &["lessons", "list"]).done();
    assert_eq!(listed.out.lines().count(), 2, "{}", listed.out);
    let kept = text_of(&folder.join(".pipeline/lessons.yaml.unreadable"));
    assert_eq!(kept, text);
}
