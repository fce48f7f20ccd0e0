//! `pipeline write`: checked first, replaced whole.

use super::{FAILED, PLAN, WORKER, names, on, repository, write, write_with};
use crate::commands::bench::text_of;

#[test]
fn what_is_written_is_the_normal_form() {
    let folder = repository();
    let variant = PLAN
        .replace("\"order\"", "\"id\"")
        .replace("{\n", "{ \"note\": {\"by\": \"me\"},\n");
    let ran = write(&folder, "plan", &variant).done();
    assert_eq!(ran.out, "wrote .pipeline/X-1/plan.json\n");
    assert!(
        ran.err
            .contains("plan.json:3:15: warning: the step is numbered by `id`"),
        "{ran:?}"
    );
    let expected = r#"{
  "note": {
    "by": "me"
  },
  "affected_files": [
    "src/parse.rs"
  ],
  "steps": [
    {
      "order": 1,
      "action": "modify",
      "file": "src/parse.rs",
      "description": "Take an empty line."
    }
  ],
  "acceptance_mapping": {
    "AC-1: an empty line is no error": "tests/parse.rs::empty_line"
  }
}
"#;
    assert_eq!(text_of(&folder.join(".pipeline/X-1/plan.json")), expected);
    assert_eq!(
        names(&folder.join(".pipeline/X-1")),
        ["pipeline-trace.json", "plan.json"]
    );
}

#[test]
fn what_is_not_sound_replaces_nothing() {
    let folder = repository();
    let said = "nothing was written, because of 3 mistakes; correct what is named, and try again";
    write(&folder, "plan", "{}").refused(1, said);
    assert!(!folder.join(".pipeline").exists(), "not even a folder");
    write(&folder, "plan", PLAN).done();
    let before = (
        text_of(&folder.join(".pipeline/X-1/plan.json")),
        text_of(&folder.join(".pipeline/X-1/pipeline-trace.json")),
    );
    for text in ["", "{", "[]", "{\"steps\": 7}"] {
        write(&folder, "plan", text).refused(1, "plan.json:1:");
    }
    let after = (
        text_of(&folder.join(".pipeline/X-1/plan.json")),
        text_of(&folder.join(".pipeline/X-1/pipeline-trace.json")),
    );
    assert_eq!(before, after);
    write(&folder, "lessons", "{}").refused(2, "invalid value");
    folder.write(".pipeline/config.toml", "self_assessment = \"required\"");
    write(&folder, "worker-result", WORKER).refused(1, "`self_assessment` is missing");
}

/// What is not read is reported as every other mistake is.
#[test]
fn a_text_that_is_too_long_is_a_diagnostic() {
    let folder = repository();
    let long = " ".repeat((1 << 20) + 1);
    let said = "standard input: error: it is larger than 1048576 bytes; shorten it";
    write(&folder, "plan", &long).refused(1, said);
    let ran = write_with(&folder, "plan", &long, &["--json"]).refused(1, "nothing was written");
    let found = ran.json();
    assert_eq!(found["file"], "standard input");
    assert_eq!(found["message"], "it is larger than 1048576 bytes");
    assert!(!folder.join(".pipeline").exists());
}

/// The stage that wrote a file that cannot be read can write it again.
#[test]
fn a_file_that_is_no_text_or_too_large_is_written_again() {
    let folder = repository();
    let plan = folder.join(".pipeline/X-1/plan.json");
    let large = vec![b' '; (1 << 20) + 1];
    for (bytes, said) in [
        (
            &b"{\"steps\": \"\xff\"}"[..],
            "plan.json:1:12: error: it is not text in UTF-8; save it as UTF-8",
        ),
        (
            &large,
            "plan.json: error: it has more than 1048576 bytes, so it is not read; shorten it",
        ),
    ] {
        folder.write(".pipeline/X-1/plan.json", "");
        std::fs::write(&plan, bytes).unwrap();
        let next = on(&folder, &["next"]).done().out;
        let again = "jg-subplanner, try 2: ";
        assert!(next.starts_with(again) && next.contains(said), "{next}");
        let check = on(&folder, &["check", "--stage", "plan"]);
        assert!(
            check.code == 1 && check.out.contains("plan_valid"),
            "{check:?}"
        );
        write(&folder, "plan", PLAN).done();
        on(&folder, &["check", "--stage", "plan"]).done();
        std::fs::write(&plan, bytes).unwrap();
        on(&folder, &["archive"]).refused(1, "so the run is not finished");
        on(&folder, &["archive", "--unfinished"]).done();
        std::fs::remove_dir_all(folder.join(".pipeline")).unwrap();
    }
}

#[test]
fn a_broken_trace_is_fixed_by_a_person() {
    let folder = repository();
    write(&folder, "plan", PLAN).done();
    folder.write(".pipeline/X-1/pipeline-trace.json", "{\"stages\": [");
    write(&folder, "worker-result", WORKER)
        .refused(1, "pipeline-trace.json:1:13: error: the file is cut off");
    assert!(!folder.join(".pipeline/X-1/worker-result.json").exists());
    assert_eq!(
        text_of(&folder.join(".pipeline/X-1/pipeline-trace.json")),
        "{\"stages\": ["
    );
}

/// Writers that come together each leave their artifact and their line in the trace.
#[test]
fn no_attempt_is_lost() {
    let folder = repository();
    write(&folder, "plan", PLAN).done();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| write(&folder, "worker-result", WORKER).done());
            scope.spawn(|| write(&folder, "test-result", FAILED).done());
        }
    });
    let status = on(&folder, &["status", "--json"]).done().json();
    assert_eq!(status["attempts"].as_array().unwrap().len(), 9, "{status}");
    on(&folder, &["check", "--stage", "trace"]).done();
    assert_eq!(
        names(&folder.join(".pipeline/X-1")),
        [
            "pipeline-trace.json",
            "plan.json",
            "test-result.json",
            "worker-result.json"
        ]
    );
}

#[test]
#[cfg(unix)]
fn nothing_is_written_through_a_link() {
    let (folder, outside) = (repository(), crate::support::Folder::empty());
    folder.write(".pipeline/config.toml", "");
    std::os::unix::fs::symlink(outside.path(), folder.join(".pipeline/X-1")).unwrap();
    write(&folder, "plan", PLAN).refused(2, "links are not followed");
    assert_eq!(names(outside.path()), [""; 0]);
}
