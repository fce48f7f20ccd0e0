//! `pipeline validate`: one file by itself.

use super::{PLAN, pipeline};
use crate::support::Folder;

#[test]
fn a_sound_file_is_ok_and_everything_else_says_why() {
    let folder = Folder::empty();
    folder.write("plan.json", PLAN);
    let ok = pipeline(folder.path(), &["validate", "plan.json"]).done();
    assert_eq!((ok.out.as_str(), ok.err.as_str()), ("OK\n", ""));
    let broken = PLAN.replace("\"order\": 1", "\"order\": \"first\"");
    folder.write("a/plan.json", &broken);
    let wrong = pipeline(folder.path(), &["validate", "a/plan.json"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (1, ""));
    assert_eq!(
        wrong.err,
        "a/plan.json:3:24: error: a text stands where a whole number belongs (at steps[0].order); write a whole number from 0\n"
    );
    for (name, text, code, said) in [
        (
            "plan.json",
            "{\"affected_files\": [",
            1,
            "the file is cut off",
        ),
        ("plan.json", "[]", 1, "a list stands where a map belongs"),
        ("plan.json", "", 1, "there is nothing in it"),
        (
            "plans.json",
            "{}",
            1,
            "unknown artifact: plans.json; did you mean `plan.json`?",
        ),
        ("state.yaml", "issue: [", 1, "this is not YAML"),
        (
            "lessons.yaml",
            "lessons: 7",
            1,
            "a number stands where a list belongs",
        ),
    ] {
        folder.write(name, text);
        pipeline(folder.path(), &["validate", name]).refused(code, said);
    }
    pipeline(folder.path(), &["validate", "git-result.json"])
        .refused(1, "file not found: git-result.json");
    pipeline(folder.path(), &["validate"]).refused(2, "Usage");
    std::fs::write(folder.join("git-result.json"), b"{\"branch\": \"\xff\"}").unwrap();
    pipeline(folder.path(), &["validate", "git-result.json"])
        .refused(2, "line 1, column 13 is not text in UTF-8");
}

#[test]
fn variants_are_ok_with_a_warning_beside() {
    let folder = Folder::empty();
    folder.write(
        "test-result-fail.json",
        "{\n  \"verdict\": \"FAIL\",\n  \"phase_1\": {\"lint\": \"FAIL\"}\n}\n",
    );
    let ran = pipeline(folder.path(), &["validate", "test-result-fail.json"]).done();
    assert_eq!(ran.out, "OK\n");
    assert!(
        ran.err.starts_with(
            "test-result-fail.json:3:23: warning: the check is a bare word (at phase_1.lint); "
        ),
        "{ran:?}"
    );
    let lines = pipeline(
        folder.path(),
        &["validate", "test-result-fail.json", "--json"],
    )
    .done();
    let lines = lines.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(
        (&lines[0]["severity"], &lines[0]["line"]),
        (&"warning".into(), &3.into())
    );
}

#[test]
fn a_repository_asks_for_self_assessments_by_its_configuration() {
    let folder = Folder::empty();
    folder.write(".pipeline/X-1/plan.json", PLAN);
    let validate = ["validate", ".pipeline/X-1/plan.json"];
    pipeline(folder.path(), &validate).done();
    folder.write(".pipeline/config.toml", "self_assessment = \"required\"\n");
    pipeline(folder.path(), &validate).refused(1, "`self_assessment` is missing");
    folder.write(".pipeline/config.toml", "self_assessment = \"optional\"\n");
    pipeline(folder.path(), &validate).done();
    folder.write(".pipeline/config.toml", "Self_assessment = \"required\"\n");
    pipeline(folder.path(), &validate).refused(2, "config.toml:1:1: unknown key `Self_assessment`");
}

#[test]
#[cfg(unix)]
fn no_link_is_followed() {
    let folder = Folder::empty();
    folder.write("elsewhere.json", PLAN);
    std::os::unix::fs::symlink(folder.join("elsewhere.json"), folder.join("plan.json")).unwrap();
    pipeline(folder.path(), &["validate", "plan.json"]).refused(2, "not a regular file");
}
