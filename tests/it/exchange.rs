//! `phileas exchange` as people and scripts meet it.

use serde_json::Value;

use crate::support::child::Ended;
use crate::support::{Folder, Phileas};

const EVENT: &str = ".jules/exchange/events/pending/doubled-names.yml";

fn exchange(arguments: &[&str]) -> Ended {
    Phileas::new(&[&["exchange"], arguments].concat()).run()
}

fn event(id: &str, issue: &str) -> String {
    format!(
        "schema_version: 1\nid: \"{id}\"\nissue_id: \"{issue}\"\ncreated_at: 2026-01-05\nauthor_role: taxonomy\nconfidence: high\n\
         title: Two names for one thing\nstatement: The parser calls it a step, and the runner a stage.\n\
         evidence:\n  - path: src/parser.rs\n    loc: [12]\n    note: It is called a step here.\n"
    )
}

fn flat() -> Folder {
    let folder = Folder::empty();
    folder.write(EVENT, &event("a1b2c3", ""));
    folder
}

fn streams() -> Folder {
    let folder = Folder::empty();
    for (stream, id) in [("core", "core01"), ("docs", "docs01")] {
        let path = format!(".jules/workstreams/{stream}/events/pending/doubled-names.yml");
        folder.write(&path, &event(id, ""));
    }
    folder
}

#[test]
fn a_sound_exchange_is_clean_and_so_is_none() {
    let clean = exchange(&["check", flat().text()]).expect(0);
    let expected = "ok: flat layout, 1 stream, 1 event pending, 0 decided, 0 work items, 0 proposals; 0 errors, 0 warnings\n";
    assert_eq!(clean.out, expected);
    let json = exchange(&["check", flat().text(), "--json", "--strict"]).expect(0);
    assert_eq!(json.out, "");
    let ledger = Folder::ledger("{\"version\": 5, \"history\": {}}");
    let none = exchange(&["check", ledger.text()]).expect(0);
    assert_eq!(
        none.out,
        "ok: no exchange has begun here; 0 errors, 0 warnings\n"
    );
    let two = exchange(&["check", streams().text()]).expect(0);
    assert!(
        two.out
            .starts_with("ok: workstreams layout, 2 streams, 2 events pending"),
        "{two}"
    );
}

/// Without the branch there is nothing that could be right.
#[test]
fn a_folder_without_the_branch_is_told_how_to_get_it() {
    let default_branch = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    // A mistake there is not what is wrong with this folder.
    default_branch.write(".jlo/config.toml", "[observers\n");
    let missing = Folder::empty().join("missing");
    for command in ["check", "inspect"] {
        for folder in [Folder::empty().text(), default_branch.text()] {
            for stream in [&[][..], &["--stream", "docs"]] {
                let ended = exchange(&[&[command, folder], stream].concat()).expect(2);
                let said = "git worktree add ../ledger jules";
                assert!(ended.err.contains(said) && ended.out.is_empty(), "{ended}");
            }
        }
        let ended = exchange(&[command, missing.to_str().unwrap()]).expect(2);
        assert!(ended.err.contains("there is no such folder"), "{ended}");
    }
}

#[test]
fn findings_name_file_line_column_key_and_fix() {
    let folder = flat();
    folder.write(
        EVENT,
        &event("123", "").replace("confidence: high", "confidence: sure"),
    );
    let text = exchange(&["check", folder.text()]).expect(1);
    let place = format!(
        "{EVENT}:6:13: error: `sure` is none of the words it may be (at confidence); write `low`, `medium` or `high`\n"
    );
    assert!(text.out.contains(&place), "{text}");
    assert!(
        text.out.contains(&format!("{EVENT}:2:5: ")),
        "both mistakes at once\n{text}"
    );
    assert!(text.out.contains("\nnot ok: flat layout"), "{text}");
    let lines = exchange(&["check", folder.text(), "--json"])
        .expect(1)
        .lines();
    assert_eq!(lines.len(), 2);
    let one = lines.iter().find(|one| one["key"] == "confidence").unwrap();
    let keys: Vec<&str> = one
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "file", "line", "column", "key", "severity", "message", "help"
        ]
    );
    assert_eq!(
        (&one["file"], &one["line"], &one["column"]),
        (&Value::from(EVENT), &Value::from(6), &Value::from(13))
    );
}

/// git holds no empty folder, so only a work tree has this mistake.
#[test]
fn a_folder_with_the_name_of_an_artifact_is_named() {
    let folder = flat();
    let path = ".jules/exchange/events/pending/dir.yml";
    std::fs::create_dir_all(folder.join(path)).unwrap();
    let ended = exchange(&["check", folder.text()]).expect(1);
    let wanted = format!("{path}: error: it is a folder; put a file here");
    assert!(ended.out.contains(&wanted), "{ended}");
}

#[test]
fn warnings_count_when_that_is_asked_for() {
    let folder = flat();
    folder.write(
        EVENT,
        &event("a1b2c3", "").replace(
            "The parser calls it a step, and the runner a stage.",
            "Short.",
        ),
    );
    let lax = exchange(&["check", folder.text()]).expect(0);
    assert!(
        lax.out.contains("warning: `statement` says little")
            && lax.out.contains("0 errors, 1 warning"),
        "{lax}"
    );
    let strict = exchange(&["check", folder.text(), "--strict"]).expect(1);
    assert!(strict.out.contains("not ok"), "{strict}");
}

#[test]
fn a_stream_is_looked_at_alone_and_a_missing_one_fails_at_once() {
    let folder = streams();
    folder.write(".jules/workstreams/docs/events/pending/broken.yml", "a: [");
    exchange(&["check", folder.text()]).expect(1);
    exchange(&["check", folder.text(), "--stream", "core"]).expect(0);
    exchange(&["check", folder.text(), "--stream", "docs"]).expect(1);
    for command in ["check", "inspect"] {
        let missing = exchange(&[command, folder.text(), "--stream", "croe"]).expect(2);
        assert!(missing.out.is_empty(), "{missing}");
        assert!(
            missing
                .err
                .contains("there is no workstream `croe`; did you mean `core`?"),
            "{missing}"
        );
    }
}

#[test]
fn what_has_one_answer_is_fixed_and_the_rest_is_reported() {
    let folder = streams();
    for stream in ["core", "docs"] {
        let path = format!(".jules/workstreams/{stream}/issues/index.md");
        folder.write(&path, "| [Gone](./bugs/gone.yml) | x |\n");
    }
    folder.write(".jules/workstreams/core/events/pending/broken.yml", "a: [");
    let one = exchange(&["check", folder.text(), "--fix", "--stream", "core"]).expect(1);
    assert!(
        one.out
            .contains("core/issues/index.md: fixed: wrote the list of issues again"),
        "{one}"
    );
    assert!(
        one.out.contains("broken.yml") && !one.out.contains("docs/"),
        "{one}"
    );
    let all = exchange(&["check", folder.text(), "--fix", "--json"]).expect(1);
    assert_eq!(
        all.lines()[0]["fixed"],
        "wrote the list of issues again",
        "{all}"
    );
    assert_eq!(
        all.lines().len(),
        2,
        "the other stream's list, and the broken file\n{all}"
    );
    let again = exchange(&["check", folder.text(), "--fix", "--json"]).expect(1);
    assert_eq!(again.lines().len(), 1, "{again}");
}

/// Only `migrate` writes what older releases wrote in another way, so the check names it.
#[test]
fn what_migrate_corrects_is_said() {
    let folder = flat();
    let older = event("a1b2c3", "")
        .replace("high", "High")
        .replace("[12]", "12");
    folder.write(EVENT, &older);
    let hint = "; `phileas exchange migrate` corrects what has one answer in 1 file\n";
    for more in [&[][..], &["--fix"]] {
        let checked = exchange(&[&["check", folder.text()], more].concat()).expect(1);
        assert!(checked.out.ends_with(hint), "{checked}");
    }
    exchange(&["migrate", folder.text()]).expect(0);
    let checked = exchange(&["check", folder.text()]).expect(0);
    assert!(!checked.out.contains("migrate"), "{checked}");
}

/// A rename has two files, and is told once.
#[test]
fn a_fix_is_told_once() {
    let folder = Folder::empty();
    let older = EVENT.replace(".yml", ".yaml");
    folder.write(&older, &event("a1b2c3", ""));
    let fixed = exchange(&["check", folder.text(), "--fix"]).expect(0);
    let said = format!("{older}: fixed: moved it to `{EVENT}`\n");
    assert!(fixed.out.starts_with(&said), "{fixed}");
    assert_eq!(fixed.out.matches("fixed:").count(), 1, "{fixed}");
}

#[test]
#[cfg(unix)]
fn nothing_is_fixed_through_a_link() {
    let (folder, outside) = (streams(), Folder::empty());
    let path = folder.join(".jules/workstreams/core/issues");
    std::os::unix::fs::symlink(outside.path(), path).unwrap();
    let checked = exchange(&["check", folder.text(), "--fix"]).expect(1);
    assert!(checked.out.contains("it is a symbolic link"), "{checked}");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn inspection_is_json_for_programs() {
    let seen = exchange(&["inspect", flat().text(), "--json"]).expect(0);
    let seen = &seen.lines()[0];
    assert_eq!(seen["schema_version"], 1);
    assert_eq!(seen["layout"], "flat");
    assert_eq!(
        seen["streams"]["generic"]["events"]["pending_files"][0],
        EVENT
    );
    let people = exchange(&["inspect", flat().text()]).expect(0);
    assert_eq!(&serde_json::from_str::<Value>(&people.out).unwrap(), seen);
    let one = exchange(&["inspect", streams().text(), "--stream", "docs", "--json"]).expect(0);
    assert_eq!(one.lines()[0]["streams"].as_object().unwrap().len(), 1);
    let ledger = Folder::ledger("{\"version\": 5, \"history\": {}}");
    let none = exchange(&["inspect", ledger.text()]).expect(2);
    let said = "it has neither .jules/exchange nor .jules/workstreams";
    assert!(none.err.contains(said), "{none}");
}

/// The result leaves out what cannot be read, so that is said beside it.
#[test]
fn inspection_names_what_it_could_not_read() {
    const LABELS: &str = ".jules/github-labels.json";
    let broken = ".jules/exchange/events/pending/broken.yml";
    for (path, text, said) in [
        (
            LABELS,
            Some("{"),
            ":1:1: error: this is not JSON: EOF while parsing an object; write {\"schema_version\": 1, ",
        ),
        (LABELS, None, ": error: it is a folder; put a file here"),
        (
            broken,
            Some(
                "title: `One`
",
            ),
            ":1:8: error: this is not YAML",
        ),
    ] {
        let folder = flat();
        match text {
            Some(text) => folder.write(path, text),
            None => std::fs::create_dir_all(folder.join(path)).unwrap(),
        }
        let seen = exchange(&["inspect", folder.text()]).expect(1);
        assert!(seen.err.starts_with(&format!("{path}{said}")), "{seen}");
        let seen: Value = serde_json::from_str(&seen.out).unwrap();
        assert_eq!(seen["layout"], "flat");
        let json = exchange(&["inspect", folder.text(), "--json"]).expect(1);
        let told: Value = serde_json::from_str(&json.err).unwrap();
        assert_eq!(told["file"], path);
        let check = exchange(&["check", folder.text()]).expect(1);
        assert!(check.out.contains(&format!("{path}{said}")), "{check}");
        let migrated = exchange(&["migrate", folder.text()]).expect(1);
        assert!(
            migrated.out.contains(&format!("{path}{said}")),
            "{migrated}"
        );
    }
    // `migrate` removes a summary that cannot be read, because the narrator writes it again.
    let folder = flat();
    folder.write(".jules/exchange/changes.yml", "title: `One`\n");
    let seen = exchange(&["inspect", folder.text()]).expect(1);
    assert!(seen.err.contains("changes.yml:1:8: error: "), "{seen}");
}

/// No layer reads it, so no command passes over it, and none moves it.
#[test]
fn an_event_in_no_state_stays_and_is_named() {
    let folder = flat();
    let path = ".jules/exchange/events/penidng/e1.yml";
    folder.write(path, &event("e1e1e1", ""));
    let said =
        format!("{path}: error: `penidng` is not a state of an event; did you mean `pending`?");
    let seen = exchange(&["inspect", folder.text()]).expect(1);
    assert!(seen.err.starts_with(&said), "{seen}");
    for (more, last) in [
        (&[][..], "nothing was changed; 1 file cannot be read"),
        (
            &["--to", "flat"],
            "nothing was changed; 1 file cannot be read",
        ),
        (
            &["--to", "workstreams"],
            "nothing was changed; correct 1 mistake first",
        ),
    ] {
        let migrated = exchange(&[&["migrate", folder.text()], more].concat()).expect(1);
        assert_eq!(migrated.out, format!("{said}\n{last}\n"), "{migrated}");
        assert!(folder.join(path).exists());
    }
}

/// The others are used.
#[test]
fn a_wrong_label_hides_no_other() {
    let folder = flat();
    folder.write(
        ".jules/github-labels.json",
        r#"{"schema_version": 1, "issue_labels": {"bugs": {}, "no label": {}}}"#,
    );
    exchange(&["inspect", folder.text()]).expect(0);
    let said = "`no label` cannot be a label";
    let check = exchange(&["check", folder.text()]).expect(1);
    assert!(check.out.contains(said), "{check}");
    let migrated = exchange(&["migrate", folder.text()]).expect(0);
    assert!(!migrated.out.contains("cannot be read"), "{migrated}");
}

/// What an agent gets is what the checker takes, once the blanks are filled.
#[test]
fn a_template_is_filled_and_taken() {
    let template = exchange(&["template", "event"]).expect(0).out;
    let filled = template
        .replace("<six letters and digits>", "a1b2c3")
        .replace("YYYY-MM-DD", "2026-01-05")
        .replace("\"<role>\"", "taxonomy")
        .replace("low|medium|high", "high")
        .replace(['<', '>'], "");
    let folder = Folder::empty();
    folder.write(EVENT, &filled);
    exchange(&["check", folder.text(), "--strict"]).expect(0);
    folder.write(EVENT, &template);
    let left = exchange(&["check", folder.text()]).expect(1);
    assert!(
        left.out.contains("the placeholder `<role>` was left in it"),
        "{left}"
    );
}
