//! `phileas exchange migrate`.

use std::collections::BTreeMap;

use phileas_domain::layers::Pin;
use serde_json::Value;

use super::fresh::within_little_room;
use crate::support::child::Ended;
use crate::support::{Folder, Phileas};

const EVENT: &str = "\
schema_version: 1
id: \"pend01\"
requirement_id: \"\"   # none yet
created_at: 2026-01-05
role: taxonomy
confidence: high
title: Two names for one thing
statement: The parser calls it a step, and the runner calls it a stage.
evidence:
  - path: src/parser.rs
    loc: [12]
    note: It is called a step here.
";

const ITEM: &str = "\
schema_version: 2
id: \"item01\"
source_events: [\"deci01\"]
title: One name for a step
label: refacts
priority: high
summary: Call a step a step everywhere.
problem: Readers look for a stage and find a step.
impact: Every newcomer loses an hour over the two names.
desired_outcome: One name is used in code, docs and messages.
constraints: []
affected_areas: [src/parser.rs]
risks: []
acceptance_criteria:
  - No stage is left in the code.
verification_commands:
  - cargo test
";

const MEMORY: &str = "\
schema_version: 1
observer: taxonomy
workstream: generic
updated_at: 2026-01-05T10:00:00Z
goals: {short_term: [One, Two, Three, Four]}
biases: {assumptions: [All is well], blind_spots: [Tests], heuristics: [Look twice]}
recent_runs:
  - {created_at: 2026-01-05T10:00:00Z, summary: Two events., history_path: histories/a.yml}
learned_exclusions: [Generated code]
";

fn decided() -> String {
    EVENT
        .replace("pend01", "deci01")
        .replace("requirement_id: \"\"   # none yet", "issue_id: \"item01\"")
        .replace("role: taxonomy", "author_role: taxonomy")
}

/// A flat exchange as several older versions left it.
fn flat() -> Folder {
    let folder = Folder::empty();
    let ready =
        format!("{ITEM}implementation_ready: false\nplanner_request_reason: It touches much.\n");
    for (path, text) in [
        (".jules/exchange/events/pending/two-names.yaml", EVENT.to_owned()),
        (".jules/exchange/events/decided/old.yml", decided()),
        (".jules/exchange/issues/refacts/one-name.yml", ready),
        (".jules/exchange/issues/index.md", "# Issues\n".to_owned()),
        (".jules/exchange/innovators/recruiter/idea.yml", "schema_version: 1\n".to_owned()),
        (
            ".jules/exchange/innovators/recruiter/perspective.yml",
            "schema_version: 1\nrole: recruiter\nfocus: Who is missing among the roles.\nrecent_proposals: []\n".to_owned(),
        ),
        (".jules/workstations/taxonomy/perspective.yml", MEMORY.to_owned()),
    ] {
        folder.write(path, &text);
    }
    folder
}

fn migrate(folder: &Folder, more: &[&str]) -> Ended {
    Phileas::new(&[&["exchange", "migrate", folder.text()], more].concat()).run()
}

/// All files of a folder with their texts.
fn files(folder: &Folder) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder.path()).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            found.insert(name.to_str().unwrap().to_owned(), text);
        }
    }
    found
}

#[track_caller]
fn refused(ended: Ended, word: &str) {
    let ended = ended.expect(2);
    assert!(ended.err.contains(word), "{word:?} is not in {ended}");
}

#[track_caller]
fn line(ended: &Ended, begins: &str) {
    let found = ended.out.lines().any(|line| line.starts_with(begins));
    assert!(found, "{begins}\n{ended}");
}

#[test]
fn older_places_and_shapes_of_a_flat_exchange_become_the_present_ones() {
    let folder = flat();
    let before = files(&folder);
    let dry = migrate(&folder, &["--dry-run"]).expect(0);
    assert_eq!(files(&folder), before, "a dry run changes nothing");
    line(&dry, ".jules/exchange/issues/index.md: would be removed: ");
    line(&dry, "5 files would be changed");
    let ended = migrate(&folder, &[]).expect(0);
    for begins in [
        ".jules/exchange/events/pending/two-names.yaml: moved to .jules/exchange/events/pending/two-names.yml: artifacts end in `.yml`; `requirement_id` is called `issue_id`; `role` is called `author_role`",
        ".jules/exchange/issues/index.md: removed: a flat exchange has no list of its work items",
        ".jules/exchange/issues/refacts/one-name.yml: moved to .jules/exchange/requirements/one-name.yml: an older place of work items; `requires_deep_analysis` is the contrary of `implementation_ready`",
        ".jules/exchange/innovators/recruiter/perspective.yml: moved to .jules/workstations/recruiter/perspective.yml: an older place of memories; `role` is called `persona`",
        ".jules/workstations/taxonomy/perspective.yml: rewritten: the memory of a workstream became one of the flat layout",
        ".jules/exchange/innovators/recruiter/idea.yml: warning: nothing of the exchange belongs here; ideas and comments became proposals",
        "5 files changed",
    ] {
        line(&ended, begins);
    }
    assert!(
        ended
            .out
            .contains("it says what `desired_outcome` says (at goal); look it over"),
        "{ended}"
    );
    let after = files(&folder);
    let text = |path: &str| {
        after
            .get(path)
            .unwrap_or_else(|| panic!("{path}: {:?}", after.keys()))
    };
    let event = text(".jules/exchange/events/pending/two-names.yml");
    assert!(
        event.contains("issue_id: \"\"   # none yet\n")
            && event.contains("author_role: taxonomy\n"),
        "{event}"
    );
    let item = text(".jules/exchange/requirements/one-name.yml");
    for has in [
        "verification_criteria:\n  - cargo test\n",
        "requires_deep_analysis: true\n",
        "deep_analysis_reason: It touches much.\n",
        "goal: \"One name is used in code, docs and messages.\"\n",
    ] {
        assert!(item.contains(has), "{has}\n{item}");
    }
    let memory = text(".jules/workstations/taxonomy/perspective.yml");
    for word in [
        "One",
        "Two",
        "Three",
        "Goal: Four",
        "Assumption: All is well",
        "Blind spot: Tests",
        "Look twice",
        "Two events. (histories/a.yml)",
        "Generated code",
    ] {
        assert!(memory.contains(&format!("\"{word}\"")), "{word}\n{memory}");
    }
    assert_eq!(
        text(".jules/exchange/innovators/recruiter/idea.yml"),
        "schema_version: 1\n"
    );
    // What is left is what could not be placed.
    let check = Phileas::new(&["exchange", "check", folder.text()])
        .run()
        .expect(1);
    assert_eq!(check.out.matches(": error: ").count(), 1, "{check}");
    line(
        &check,
        ".jules/exchange/innovators/recruiter/idea.yml: error: ",
    );
    let again = migrate(&folder, &[]).expect(0);
    line(&again, "there is nothing to migrate");
    assert_eq!(files(&folder), after);
}

#[test]
fn a_workstream_in_two_forms_becomes_one() {
    let folder = Folder::empty();
    let stream = ".jules/workstreams/core";
    folder.write(
        &format!("{stream}/exchange/events/decided/old.yml"),
        &decided(),
    );
    folder.write(&format!("{stream}/events/pending/new.yml"), EVENT);
    // An older contract of the planner sorts by priority.
    folder.write(&format!("{stream}/issues/high/one-name.yml"), ITEM);
    folder.write(&format!("{stream}/issues/index.md"), "# Issues\n");
    folder.write(
        ".jules/roles/observers/taxonomy/feedbacks/x.yml",
        "date: 2026-01-05\ntopic: a\ncritique: b\nguidance: c\nrejected_content: d\n",
    );
    let ended = migrate(&folder, &["--json"]).expect(0);
    let said: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let moved = said
        .iter()
        .find(|one| one["to"] == format!("{stream}/exchange/issues/refacts/one-name.yml"))
        .unwrap();
    assert_eq!(moved["file"], format!("{stream}/issues/high/one-name.yml"));
    assert_eq!(
        (moved["action"].as_str(), moved["dry_run"].as_bool()),
        (Some("moved"), Some(false))
    );
    assert!(
        moved["why"][0].as_str().unwrap().contains("an older place"),
        "{ended}"
    );
    assert!(ended.out.contains("names no event"), "{ended}");
    let after = files(&folder);
    let below = format!("{stream}/exchange/");
    let streams: Vec<&String> = after
        .keys()
        .filter(|path| path.starts_with(stream))
        .collect();
    assert!(
        streams.iter().all(|path| path.starts_with(&below)),
        "{streams:?}"
    );
    assert!(after[&format!("{below}issues/index.md")].contains("(./refacts/one-name.yml)"));
    assert!(after.contains_key(".jules/roles/observers/taxonomy/feedbacks/x.yml"));
    migrate(&folder, &[]).expect(0);
    assert_eq!(files(&folder), after, "a second run changes nothing");
}

/// It is unknown which of two forms counts: nothing is changed, and each location is reported.
#[test]
fn what_stands_half_way_is_refused_with_its_place() {
    let older = EVENT.replace(
        "requirement_id: \"\"   # none yet\n",
        "issue_id: \"\"\nrequirement_id: \"item01\"\n",
    );
    let ready = format!("{ITEM}requires_deep_analysis: true\nimplementation_ready: true\n");
    let memory = format!("{MEMORY}ignore: []\n");
    for (path, text, begins) in [
        (
            ".jules/exchange/events/pending/half.yml",
            older.as_str(),
            ".jules/exchange/events/pending/half.yml:4:17: error: `requirement_id` is the older form of `issue_id`, and both are there (at requirement_id); keep the one that counts",
        ),
        (
            ".jules/exchange/requirements/half.yml",
            &ready,
            ".jules/exchange/requirements/half.yml:19:23: error: `implementation_ready` is the older form of `requires_deep_analysis`",
        ),
        (
            ".jules/workstations/qa/perspective.yml",
            &memory,
            ".jules/workstations/qa/perspective.yml:3:13: error: `workstream` is the older form of `ignore`",
        ),
        (
            ".jules/exchange/events/pending/two-names.yml",
            "x: 1\n",
            ".jules/exchange/events/pending/two-names.yaml:1:1: error: it belongs to `.jules/exchange/events/pending/two-names.yml`, and another file is there",
        ),
        (
            ".jules/exchange/issues/bugs/one-name.yml",
            ITEM,
            ".jules/exchange/issues/refacts/one-name.yml: error: `.jules/exchange/issues/bugs/one-name.yml` would go to `.jules/exchange/requirements/one-name.yml`, too",
        ),
        (
            ".jules/workstreams/core/events/pending/a.yml",
            EVENT,
            ".jules/workstreams/core/events/pending/a.yml: error: files of two layouts are there",
        ),
    ] {
        let folder = flat();
        folder.write(path, text);
        let before = files(&folder);
        let ended = migrate(&folder, &[]).expect(1);
        line(&ended, begins);
        line(&ended, "nothing was changed; correct 1 mistake first");
        assert_eq!(files(&folder), before, "{path}");
    }
}

/// A run that was cut off between writing and removing has lost nothing, and the next one ends it.
#[test]
fn a_run_that_was_cut_off_is_ended_by_the_next() {
    let whole = flat();
    migrate(&whole, &[]).expect(0);
    let done = files(&whole);
    let cut = flat();
    let path = ".jules/exchange/requirements/one-name.yml";
    cut.write(path, &done[path]);
    // A temporary file of the run that was cut off is left.
    let (aside, beside) = (
        ".phileas-new-a1b2c3/0.new",
        ".jules/exchange/events/pending/.phileas-new-d4e5f6",
    );
    cut.write(aside, EVENT);
    cut.write(beside, EVENT);
    migrate(&cut, &[]).expect(0);
    let mut ended = files(&cut);
    for left in [aside, beside] {
        assert_eq!(ended.remove(left).as_deref(), Some(EVENT));
    }
    assert_eq!(ended, done);
}

/// The disk is full amid the work: all of it stays as it was.
#[test]
fn where_there_is_no_room_nothing_is_changed() {
    let folder = flat();
    let criteria = "  - No stage is left in a file whose name is as long as this one's.\n";
    let long = ITEM.replace("  - No stage is left in the code.\n", &criteria.repeat(150));
    folder.write(".jules/exchange/issues/refacts/one-name.yml", &long);
    let before = files(&folder);
    let place = ".jules/exchange/requirements/one-name.yml: ";
    let ran = within_little_room(&folder, &["exchange", "migrate", "."]).refused(70, place);
    for word in [
        "make room for it, and run this again",
        "nothing was changed",
    ] {
        assert!(ran.err.contains(word), "{ran:?}");
    }
    assert_eq!(ran.out, "");
    assert_eq!(files(&folder), before);
    migrate(&folder, &[]).expect(0);
    assert_ne!(files(&folder), before);
}

#[test]
fn nothing_is_written_through_a_link() {
    let elsewhere = Folder::empty();
    let folder = flat();
    std::os::unix::fs::symlink(
        elsewhere.path(),
        folder.join(".jules/exchange/requirements"),
    )
    .unwrap();
    let ended = migrate(&folder, &[]).expect(1);
    line(
        &ended,
        ".jules/exchange/issues/refacts/one-name.yml:1:1: error: it belongs to `.jules/exchange/requirements/one-name.yml`, and `.jules/exchange/requirements` is not a folder",
    );
    assert!(files(&elsewhere).is_empty());
    assert!(
        folder
            .join(".jules/exchange/events/pending/two-names.yaml")
            .exists()
    );
}

#[test]
fn an_exchange_goes_to_the_other_layout_and_a_dry_run_only_tells() {
    let folder = Folder::empty();
    let event = EVENT
        .replace("requirement_id: \"\"   # none yet", "issue_id: \"\"")
        .replace("role: taxonomy", "author_role: taxonomy");
    folder.write(".jules/exchange/events/pending/two-names.yml", &event);
    let there = folder.join(".jules/workstreams/core/events/pending/two-names.yml");
    let run = |more: &[&str]| {
        let fixed = [
            "exchange",
            "migrate",
            folder.text(),
            "--to",
            "workstreams",
            "--stream",
            "core",
        ];
        Phileas::new(&[&fixed[..], more].concat()).run()
    };
    let told = run(&["--dry-run"]).expect(0);
    assert!(
        told.out
            .contains("would be moved to .jules/workstreams/core/events/pending/two-names.yml"),
        "{told}"
    );
    assert!(!there.exists());
    run(&[]).expect(0);
    assert_eq!(std::fs::read_to_string(&there).unwrap(), event);
    assert!(
        !folder
            .join(".jules/exchange/events/pending/two-names.yml")
            .exists()
    );
    assert!(
        run(&[])
            .expect(0)
            .out
            .contains("there is nothing to migrate")
    );
    Phileas::new(&["exchange", "check", folder.text()])
        .run()
        .expect(0);
}

/// Where phileas does not know what is there, it does not say that all is well.
#[test]
fn a_wrong_folder_a_wrong_workstream_and_an_unreadable_file_are_named() {
    let folder = Folder::empty();
    folder.write(".jlo/config.toml", "version = 1\n");
    for more in [&[][..], &["--dry-run"], &["--to", "workstreams"]] {
        refused(migrate(&folder, more), "no files of the branch `jules`");
    }
    let folder = workstreams();
    migrate(&folder, &[]).expect(0);
    refused(
        migrate(&folder, &["--to", "workstreams", "--stream", "core"]),
        "there is no workstream `core`; the only one is `generic`",
    );
    for more in [
        &["--to", "workstreams"][..],
        &["--to", "workstreams", "--stream", "generic"],
    ] {
        line(
            &migrate(&folder, more).expect(0),
            "there is nothing to migrate",
        );
    }
    refused(
        migrate(&folder, &["--to", "flat", "--stream", "generic"]),
        "remove it",
    );

    let pending = ".jules/workstreams/generic/exchange/events/pending";
    std::fs::write(folder.join(&format!("{pending}/binary.yml")), b"\xff\xfe").unwrap();
    folder.write(&format!("{pending}/broken.yml"), "title: `One`\n");
    let ended = migrate(&folder, &[]).expect(1);
    for begins in [
        &format!("{pending}/binary.yml:1:1: error: it is not text in UTF-8"),
        &format!("{pending}/broken.yml:1:8: error: this is not YAML"),
        "nothing was changed; 2 files cannot be read",
    ] {
        line(&ended, begins);
    }
    // What can be read is migrated all the same.
    folder.write(&format!("{pending}/older.yaml"), EVENT);
    line(
        &migrate(&folder, &[]).expect(1),
        "1 file changed; 2 files cannot be read",
    );
}

/// A file at an older place is read by no check, so `migrate` itself must name one that cannot be read.
#[test]
fn a_file_at_an_older_place_that_cannot_be_read_is_named() {
    for place in [
        ".jules/exchange/events",
        ".jules/exchange/issues/bugs",
        ".jules/workstreams/core/events",
    ] {
        let folder = Folder::empty();
        let (binary, linked) = (format!("{place}/binary.yml"), format!("{place}/linked.yml"));
        folder.write(&binary, "");
        std::fs::write(folder.join(&binary), b"\xff\xfe").unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.join(&linked)).unwrap();
        let ended = migrate(&folder, &[]).expect(1);
        for begins in [
            &format!("{binary}:1:1: error: it is not text in UTF-8"),
            &format!("{linked}: error: it is a symbolic link"),
            "nothing was changed; 2 files cannot be read",
        ] {
            line(&ended, begins);
        }
        assert_eq!(ended.out.matches(": error: ").count(), 2, "{ended}");
    }
    // Files that are no artifacts are named, too.
    let folder = workstreams();
    let history = ".jules/workstreams/generic/workstations/qa/histories/one.yml";
    std::fs::write(folder.join(history), b"\xff\xfe").unwrap();
    let ended = migrate(&folder, &[]).expect(1);
    line(&ended, &format!("{history}:1:1: error: it is not text"));
}

#[test]
fn an_artifact_that_cannot_be_read_is_named_in_the_other_layout() {
    let folder = Folder::empty();
    folder.write(
        ".jules/exchange/events/pending/broken.yml",
        "title: `One`\n",
    );
    let broken = ".jules/workstreams/core/events/pending/broken.yml:1:8: error: this is not YAML";
    let to = ["--to", "workstreams", "--stream", "core"];
    let ended = migrate(&folder, &to).expect(1);
    line(&ended, broken);
    assert!(ended.out.ends_with("; 1 file cannot be read\n"), "{ended}");
    // It is named again until it is corrected.
    let ended = migrate(&folder, &to).expect(1);
    line(&ended, broken);
    line(&ended, "nothing was changed; 1 file cannot be read");
}

/// Each obstacle says how to remove it, and the last line alone says that nothing was changed.
#[test]
fn what_is_in_the_way_of_the_other_layout_is_named_with_its_remedy() {
    let folder = Folder::empty();
    let pending = ".jules/exchange/events/pending";
    folder.write(&format!("{pending}/binary.yml"), "");
    std::fs::write(folder.join(&format!("{pending}/binary.yml")), b"\xff\xfe").unwrap();
    std::os::unix::fs::symlink("/dev/null", folder.join(&format!("{pending}/linked.yml"))).unwrap();
    for (path, text) in [
        (".jules/exchange/notes/today.yml", "Remember.\n"),
        (".jules/exchange/proposals/idea.yml", "schema_version: 1\n"),
        (".jules/exchange/requirements/broken.yml", "title: `One`\n"),
        (
            ".jules/exchange/requirements/bare.yml",
            "schema_version: 2\nconstraints: []\nrisks: []\n",
        ),
        (".jules/workstations/qa/perspective.yml", "goals: `One`\n"),
    ] {
        folder.write(path, text);
    }
    let ended = migrate(&folder, &["--to", "workstreams"]).expect(1);
    for begins in [
        ".jules/exchange/events/pending/binary.yml:1:1: error: it is not text in UTF-8; save it as UTF-8",
        ".jules/exchange/events/pending/linked.yml: error: it is a symbolic link, and links are not followed; put the file itself here",
        ".jules/exchange/notes/today.yml: error: it has no place in the other layout; move it or remove it",
        ".jules/exchange/proposals/idea.yml: error: workstreams have no proposals; wait until phileas has opened an issue for it, or remove it",
        ".jules/exchange/requirements/bare.yml: error: it has no label, which is its folder among workstreams; write its `label`",
        ".jules/exchange/requirements/broken.yml: error: it cannot be read, so its kind is unknown; run `phileas exchange check`, and correct the mistakes that it names",
        ".jules/workstations/qa/perspective.yml: error: it cannot be read, so its kind is unknown; run `phileas exchange check`, and correct the mistakes that it names",
        "nothing was changed; correct 7 mistakes first",
    ] {
        line(&ended, begins);
    }
    assert_eq!(
        ended.out.matches("nothing was changed").count(),
        1,
        "{ended}"
    );
}

/// Nothing else knows the roles of a roster, so one that cannot be read stays.
#[test]
fn a_roster_that_cannot_be_read_is_not_removed() {
    let folder = workstreams();
    migrate(&folder, &[]).expect(0);
    for path in [
        ".jules/workstreams/generic/scheduled.toml",
        ".jlo/scheduled.toml",
    ] {
        for (bytes, error) in [
            (&b"version =\n"[..], ":1:10: error: this is not TOML"),
            (b"\xff\xfe", ":1:1: error: it is not text in UTF-8"),
            (
                b"version = 1\nenabled = false\n[observers]\nroles = \"qa\"\n[deciders]\nroles = []\n",
                ":4:9: error: it is not a list",
            ),
        ] {
            folder.write(path, "");
            std::fs::write(folder.join(path), bytes).unwrap();
            let ended = migrate(&folder, &["--to", "flat"]).expect(1);
            line(&ended, &format!("{path}{error}"));
            line(&ended, "nothing was changed; correct 1 mistake first");
            assert!(folder.join(path).exists(), "{path}");
            if path.starts_with(".jules") {
                line(&migrate(&folder, &[]).expect(1), &format!("{path}{error}"));
            }
        }
        std::fs::remove_file(folder.join(path)).unwrap();
    }
    migrate(&folder, &["--to", "flat"]).expect(0);
    folder.write(".jlo/config.toml", "[observers\n");
    let ended = migrate(&folder, &["--to", "workstreams"]).expect(1);
    line(&ended, ".jlo/config.toml:1:");
    line(&ended, "nothing was changed; correct 1 mistake first");
    // A pin that is not text is named without doubling the word "error".
    folder.write(".jlo/config.toml", "");
    std::fs::write(folder.join(".jules/.phileas-version"), b"\xff").unwrap();
    refused(
        migrate(&folder, &["--to", "workstreams"]),
        "error: .jules/.phileas-version:1:1: it is not text in UTF-8",
    );
}

/// The copies that `bootstrap` writes belong to a layout. They are replaced, unless a person has changed them.
#[test]
fn phileas_own_texts_follow_the_layout() {
    let (repository, folder) = (Folder::empty(), Folder::empty());
    let bootstrap = || {
        let words = ["bootstrap", repository.text(), "--output", folder.text()];
        Phileas::new(&words).run().expect(0)
    };
    let check = || {
        let words = ["exchange", "check", folder.text(), "--strict"];
        Phileas::new(&words).run()
    };
    bootstrap();
    let (event, change) = (
        ".jules/layers/observers/schemas/event.yml",
        ".jules/layers/narrator/schemas/change",
    );
    let own = files(&folder)[event].clone() + "# ours\n";
    folder.write(event, &own);
    for (to, narrators) in [("workstreams", ".yml"), ("flat", "s.yml")] {
        let moved = migrate(&folder, &["--to", to]).expect(0);
        line(
            &moved,
            &format!("{change}{narrators}: created: phileas' own text"),
        );
        line(
            &moved,
            ".jules/layers/decider/schemas/issue.yml: rewritten: phileas' own text",
        );
        if to == "workstreams" {
            let list = ".jules/workstreams/generic/issues/index.md";
            line(&moved, &format!("{list}: created: the list of issues"));
        }
        line(&check().expect(0), &format!("ok: {to} layout"));
        let after = files(&folder);
        assert_eq!(after[event], own);
        let narrators = format!("{change}{narrators}");
        let schemas: Vec<&String> = after
            .keys()
            .filter(|path| path.starts_with(change))
            .collect();
        assert_eq!(schemas, [&narrators]);
        let again = bootstrap();
        assert!(again.out.contains(" 0 conflicts"), "{again}");
        assert_eq!(files(&folder)[&narrators], after[&narrators]);
    }
}

/// The pin has the digest of each copy that was replaced, so that a newer version can replace it again.
#[test]
fn the_pin_of_the_ledger_follows_the_layout() {
    const PIN: &str = ".jules/.phileas-version";
    let (repository, folder) = (Folder::empty(), Folder::empty());
    let words = ["bootstrap", repository.text(), "--output", folder.text()];
    Phileas::new(&words).run().expect(0);
    let pin = || {
        let text = std::fs::read_to_string(folder.join(PIN)).unwrap();
        Pin::read_pin(&text, env!("CARGO_PKG_VERSION")).unwrap()
    };
    // An older version wrote another text.
    let (flat, streams) = (
        ".jules/layers/narrator/schemas/changes.yml",
        ".jules/layers/narrator/schemas/change.yml",
    );
    let mut older = pin();
    older.note(flat, "schema_version: 0\n");
    folder.write(flat, "schema_version: 0\n");
    folder.write(PIN, &older.text());
    for (to, narrators, gone) in [("workstreams", streams, flat), ("flat", flat, streams)] {
        migrate(&folder, &["--to", to]).expect(0);
        let after = files(&folder);
        assert!(!after.contains_key(gone), "{to}");
        assert!(!pin().digests.contains_key(gone), "{to}");
        assert!(pin().digests.contains_key(narrators), "{to}");
        let mut found = pin();
        for path in pin().digests.keys() {
            found.note(path, &after[path]);
        }
        assert_eq!(pin(), found, "{to}");
    }
    // The digests of a newer version are not this version's to replace.
    let newer = std::fs::read_to_string(folder.join(PIN)).unwrap();
    let newer = newer.replace(env!("CARGO_PKG_VERSION"), "999.0.0");
    folder.write(PIN, &newer);
    let before = files(&folder);
    refused(
        migrate(&folder, &["--to", "workstreams"]),
        ".jules/.phileas-version: it was written by phileas 999.0.0",
    );
    assert_eq!(files(&folder), before);
}

/// A file that phileas did not write stays where the other layout has a copy, whatever it is.
#[test]
fn what_lies_where_the_other_layout_has_a_copy_stays() {
    let path = ".jules/layers/narrator/schemas/change.yml";
    let bootstrapped = || {
        let (repository, folder) = (Folder::empty(), Folder::empty());
        let words = ["bootstrap", repository.text(), "--output", folder.text()];
        Phileas::new(&words).run().expect(0);
        folder
    };
    let folder = bootstrapped();
    std::fs::write(folder.join(path), b"\xff\xfe").unwrap();
    migrate(&folder, &["--to", "workstreams"]).expect(0);
    assert_eq!(std::fs::read(folder.join(path)).unwrap(), b"\xff\xfe");

    let folder = bootstrapped();
    std::os::unix::fs::symlink("/dev/null", folder.join(path)).unwrap();
    migrate(&folder, &["--to", "workstreams"]).expect(0);
    assert!(folder.join(path).is_symlink());

    let folder = bootstrapped();
    std::fs::create_dir(folder.join(path)).unwrap();
    migrate(&folder, &["--to", "workstreams"]).expect(0);
    assert!(folder.join(path).is_dir());

    // Nothing is written through a link either.
    let folder = bootstrapped();
    let schemas = folder.join(".jules/layers/narrator/schemas");
    std::fs::remove_dir_all(&schemas).unwrap();
    std::os::unix::fs::symlink("/dev/null", &schemas).unwrap();
    migrate(&folder, &["--to", "workstreams"]).expect(0);
    assert!(schemas.is_symlink());
}

/// A tree of workstreams with everything that repositories of the releases around seed 000 have in it.
fn workstreams() -> Folder {
    let folder = Folder::empty();
    let stream = ".jules/workstreams/generic";
    for kept in [
        ".jules/.gitkeep",
        ".jules/changes/.gitkeep",
        ".jules/workstreams/.gitkeep",
        ".jules/workstreams/generic/.gitkeep",
        ".jules/workstreams/generic/exchange/.gitkeep",
        ".jules/workstreams/generic/exchange/events/pending/.gitkeep",
        ".jules/workstreams/generic/exchange/events/decided/.gitkeep",
        ".jules/workstreams/generic/exchange/issues/.gitkeep",
        ".jules/workstreams/generic/exchange/issues/bugs/.gitkeep",
        ".jules/workstreams/generic/exchange/innovators/.gitkeep",
        ".jules/workstreams/generic/workstations/.gitkeep",
        ".jules/workstreams/generic/workstations/qa/.gitkeep",
        ".jules/workstreams/generic/workstations/qa/histories/.gitkeep",
        ".jules/roles/observers/.gitkeep",
        ".jules/roles/observers/qa/feedbacks/.gitkeep",
        ".jules/roles/planners/schemas/.gitkeep",
    ] {
        folder.write(kept, "");
    }
    let memory = "schema_version: 2\n\nobserver: qa\nworkstream: generic\n\nupdated_at: \"2026-02-05T10:00:00Z\"\n\n# One to three.\ngoals:\n  - Find what is untested.\nrules: []\nignore:\n  - Generated code\nlog: []\n";
    for (path, text) in [
        (
            ".jules/roles/observers/qa/role.yml",
            "role: qa\nfocus: Tests.\nanalysis_points:\n  - Code without a test\nlearned_exclusions: []\n",
        ),
        (
            ".jules/roles/observers/cov/role.yml",
            "role: cov\nfocus: Coverage.\nanalysis_points:\n  - Lines\n",
        ),
        (".jules/roles/observers/contracts.yml", "layer: observers\n"),
        (
            ".jules/roles/narrator/prompt.yml",
            "role: narrator\nlayer: narrator\ncontracts:\n  - .jules/roles/narrator/contracts.yml\n",
        ),
        (".jules/roles/narrator/contracts.yml", "layer: narrator\n"),
        (
            ".jules/roles/observers/cov/feedbacks/generated-code.yml",
            "date: \"2026-02-03\"\ntopic: Generated code\ncritique: |\n  It is generated.\nguidance: |\n  Leave it alone.\nrejected_content: |\n  id: abc123\n",
        ),
    ] {
        folder.write(path, text);
    }
    for (path, text) in [
        ("scheduled.toml", "version = 1\nenabled = true\n\n[observers]\nroles = [\n  { name = \"qa\", enabled = true },\n  { name = \"cov\", enabled = false },\n]\n\n[deciders]\nroles = []\n".to_owned()),
        ("exchange/events/pending/two-names.yml", EVENT.replace("confidence: high", "confidence: High").replace("role: taxonomy", "author_role: qa")),
        ("exchange/events/decided/old.yml", decided()),
        ("exchange/issues/refacts/one-name.yml", ITEM.replace("priority: high", "priority: Medium")),
        ("workstations/qa/perspective.yml", memory.to_owned()),
    ] {
        folder.write(&format!("{stream}/{path}"), &text);
    }
    folder
}

#[test]
fn workstreams_of_real_repositories_migrate_and_are_sound_afterwards() {
    let folder = workstreams();
    migrate(&folder, &[]).expect(0);
    let check = Phileas::new(&["exchange", "check", folder.text()])
        .run()
        .expect(0);
    line(
        &check,
        "ok: workstreams layout, 1 stream, 1 event pending, 1 decided, 1 work item",
    );
    let after = files(&folder);
    let event = &after[".jules/workstreams/generic/exchange/events/pending/two-names.yml"];
    assert!(event.contains("confidence: high\n"), "{event}");
    migrate(&folder, &[]).expect(0);
    assert_eq!(files(&folder), after, "a second run changes nothing");

    migrate(&folder, &["--to", "flat"]).expect(0);
    let check = Phileas::new(&["exchange", "check", folder.text()])
        .run()
        .expect(0);
    line(
        &check,
        "ok: flat layout, 1 stream, 1 event pending, 1 decided, 1 work item",
    );
    let after = files(&folder);
    let memory = &after[".jules/workstations/qa/perspective.yml"];
    assert!(
        memory.contains("# One to three.\n") && !memory.contains("workstream"),
        "{memory}"
    );
    // What feedback taught a role is in its memory.
    let lesson = &after[".jules/workstations/cov/perspective.yml"];
    assert!(
        lesson.contains("Generated code: Leave it alone."),
        "{lesson}"
    );
}

#[test]
fn a_work_item_that_no_layer_takes_is_named_with_the_command_that_brings_it_along() {
    let folder = workstreams();
    let home = ".jules/workstreams/generic/exchange/issues";
    let unlabelled = ITEM
        .replace("item01", "item02")
        .replace("label: refacts\n", "");
    folder.write(&format!("{home}/two.yml"), &unlabelled);
    let broken = ITEM
        .replace("item01", "item03")
        .replace("title: One name", "title: `One` name");
    folder.write(&format!("{home}/refacts/three.yml"), &broken);
    folder.write(
        &format!("{home}/refacts/four.yml"),
        &ITEM
            .replace("item01", "item04")
            .replace("summary:", "brief:"),
    );
    let ended = migrate(&folder, &[]).expect(1);
    line(
        &ended,
        &format!(
            "{home}/two.yml: warning: no layer takes this work item, because none looks for it here; write its `label` (bugs, docs, feats, refacts, tests), and move it to that label's folder: git mv {home}/two.yml {home}/LABEL/two.yml"
        ),
    );
    line(
        &ended,
        &format!(
            "{home}/refacts/four.yml: warning: no layer takes this work item, because its file has mistakes; run `phileas exchange check`, and correct the mistakes that it names"
        ),
    );
    let check = Phileas::new(&["exchange", "check", folder.text()])
        .run()
        .expect(1);
    assert!(
        check.out.contains(&format!(
            "{home}/refacts/three.yml:4:8: error: this is not YAML"
        )) && check
            .out
            .contains("a text cannot begin with a backtick: put it between single quotes"),
        "{check}"
    );
}
