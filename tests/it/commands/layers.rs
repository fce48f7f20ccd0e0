//! The layers from the command line: `init --layers`, `bootstrap`, `role`, `upgrade`, `prompt render`.

use std::path::Path;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::bench::{alone, text_of};
use super::fresh::{git, repository, within};
use crate::support::Folder;

const PIN: &str = "phileas/phileas@0123456789abcdef0123456789abcdef01234567";
const NEWER: &str = "phileas/phileas@fedcba9876543210fedcba9876543210fedcba98";
const WORKFLOW: &str = ".github/workflows/phileas.yml";
const CONFIG: &str = ".jlo/config.toml";
const VERSION: &str = ".jlo/.phileas-version";
const DOCS: &str = ".jlo/roles/observers/docs/role.yml";

fn with_layers() -> Folder {
    let folder = repository();
    within(&folder, &["init", "--layers", "--yes", "--action", PIN]).done();
    folder
}

/// Every file below a folder with its text, so that one sees what was changed.
fn texts(root: &Path) -> std::collections::BTreeMap<String, String> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, text_of(&path));
            }
        }
    }
    found
}

#[test]
fn a_fresh_repository_gets_layers_and_has_no_findings() {
    let folder = repository();
    let ran = within(&folder, &["init", "--layers", "--yes", "--action", PIN]).done();
    let staged = git(&folder, &["diff", "--cached", "--name-only"]);
    let staged: Vec<&str> = staged.lines().collect();
    assert_eq!(staged, [WORKFLOW, VERSION, CONFIG], "{ran:?}");
    // A pass begins on a schedule, not with the push.
    let push = ran
        .out
        .lines()
        .find(|line| line.contains("Commit and push to main"));
    let push = push.unwrap();
    assert!(
        push.contains("; the first session starts at its time, ") && push.contains(" 02:17 UTC, "),
        "{push}"
    );
    let note = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        note.contains("takes 6 sessions (narrator, 4 observers, decider)")
            && note.contains("set `daily_sessions = 12` in `[budget]` in .jules/schedules.toml"),
        "{ran:?}"
    );
    let config = text_of(&folder.join(CONFIG));
    assert!(
        config.contains("{ name = \"errors\", enabled = true }"),
        "{config}"
    );
    assert!(
        config.contains("{ name = \"security\", enabled = false }"),
        "{config}"
    );
    assert!(!config.contains('@'), "{config}");
    let checked = within(&folder, &["validate"]).done();
    assert!(
        checked.out.contains("ok: 1 track with 5 steps"),
        "{checked:?}"
    );
    assert!(checked.out.contains("0 errors, 0 warnings"), "{checked:?}");
    // Once more changes nothing; taking it out leaves nothing.
    within(&folder, &["init", "--layers", "--yes", "--action", PIN]).done();
    assert_eq!(text_of(&folder.join(CONFIG)), config);
    within(&folder, &["deinit", "--yes"]).done();
    assert!(!folder.join(".jlo").exists() && !folder.join(WORKFLOW).exists());
}

/// The note on the budget counts the layers that the plan has.
#[test]
fn the_budget_is_too_small_only_for_the_layers_of_the_plan() {
    for (config, needed) in [
        (
            "",
            Some("takes 6 sessions (narrator, 4 observers, decider)"),
        ),
        // Five sessions are as many as the budget lets start in a day.
        ("[workflow]\nlayers = [\"observers\", \"decider\"]\n", None),
        ("[workflow]\nlayers = [\"decider\", \"planner\"]\n", None),
        ("[workflow]\nenabled = false\n", None),
    ] {
        let folder = repository();
        folder.write(CONFIG, config);
        let ran = within(&folder, &["init", "--layers", "--yes", "--action", PIN]).done();
        let note = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        match needed {
            Some(needed) => assert!(note.contains(needed), "{ran:?}"),
            None => assert!(!note.contains("daily_sessions"), "{ran:?}"),
        }
    }
}

#[test]
fn deinit_leaves_copied_roles_and_names_them() {
    let folder = with_layers();
    within(&folder, &["role", "add", "observers", "docs", "--copy"]).done();
    let ran = within(&folder, &["deinit", "--yes"]).done();
    let path = ".jlo/roles/observers/docs/role.yml";
    let named = ran.out.lines().find(|line| line.contains(path));
    assert!(
        named.is_some_and(|line| line.trim_start().starts_with("leave")),
        "{ran:?}"
    );
    assert!(folder.join(path).exists());
}

#[test]
fn a_config_that_people_have_changed_stays() {
    let folder = with_layers();
    let own = text_of(&folder.join(CONFIG)) + "# mine\n";
    folder.write(CONFIG, &own);
    let ran = within(&folder, &["deinit", "--yes"]).done();
    assert!(
        ran.out
            .contains("it was changed since phileas init wrote it"),
        "{ran:?}"
    );
    assert_eq!(text_of(&folder.join(CONFIG)), own);
    let named = ran.out.lines().find(|line| line.contains(VERSION));
    assert!(named.is_some_and(|line| line.contains("leave")), "{ran:?}");
    assert!(folder.join(VERSION).exists());
}

#[test]
fn bootstrap_writes_a_ledger_without_findings_once() {
    let (folder, ledger) = (with_layers(), Folder::empty());
    let arguments = ["bootstrap", folder.text(), "--output", ledger.text()];
    let dry = alone(&[&arguments[..], &["--dry-run", "--json"]].concat()).done();
    assert!(texts(ledger.path()).is_empty(), "{dry:?}");
    let ran = alone(&arguments).done();
    assert!(
        ran.out
            .contains(", 0 removed, 0 kept as they are, 0 conflicts"),
        "{ran:?}"
    );
    let written = texts(ledger.path());
    for path in [
        ".jules/JULES.md",
        ".jules/README.md",
        ".jules/github-labels.json",
        ".jules/.phileas-version",
        ".jules/layers/narrator/tasks/bootstrap_summary.yml",
        ".jules/layers/narrator/tasks/overwrite_summary.yml",
        ".jules/layers/observers/observers_prompt.j2",
        ".jules/layers/observers/schemas/event.yml",
        ".jules/layers/observers/schemas/perspective.yml",
        ".jules/layers/decider/schemas/issue.yml",
        ".jules/layers/planner/contracts.yml",
        ".jules/layers/implementer/tasks/bugs.yml",
        ".jules/layers/innovators/tasks/create_three_proposals.yml",
        ".jules/layers/innovators/schemas/proposal.yml",
        ".jules/layers/integrator/integrator_prompt.j2",
        ".jules/roles/observers/taxonomy/role.yml",
        ".jules/exchange/events/pending/.gitkeep",
        ".jules/exchange/events/decided/.gitkeep",
        ".jules/exchange/requirements/.gitkeep",
        ".jules/exchange/proposals/.gitkeep",
        ".jules/workstations/errors/perspective.yml",
    ] {
        assert!(
            written.contains_key(path),
            "{path} is missing: {:?}",
            written.keys()
        );
    }
    assert!(!written.contains_key(".jules/workstations/security/perspective.yml"));
    let checked = alone(&["exchange", "check", ledger.text()]).done();
    assert!(
        !checked.out.contains("error") || checked.out.contains("0 errors"),
        "{checked:?}"
    );
    let again = alone(&arguments).done();
    assert!(
        again.out.contains(": 0 files written, 0 removed"),
        "{again:?}"
    );
    assert_eq!(texts(ledger.path()), written);
}

/// Copies on the default branch would replace the texts of a newer phileas.
#[test]
fn bootstrap_writes_nothing_beside_a_plan() {
    let folder = with_layers();
    within(&folder, &["bootstrap", "--output", "."]).refused(2, "not the branch `jules`");
    assert!(!folder.join(".jules/JULES.md").exists());
}

#[test]
fn bootstrap_shows_a_repositorys_own_texts_and_overwrites_none() {
    let (folder, ledger) = (with_layers(), Folder::empty());
    let own = "layer: decider\nbranch_prefix: jules-decider-\npurpose: ours\nconstraints: [few]\n";
    folder.write(".jules/layers/decider/contracts.yml", own);
    let arguments = ["bootstrap", folder.text(), "--output", ledger.text()];
    alone(&arguments).done();
    let contracts = ledger.join(".jules/layers/decider/contracts.yml");
    assert_eq!(text_of(&contracts), own);
    // Changes of the default branch come through; changes that a person made in the ledger stay.
    folder.write(
        ".jules/layers/decider/contracts.yml",
        &own.replace("few", "fewer"),
    );
    alone(&arguments).done();
    assert_eq!(text_of(&contracts), own.replace("few", "fewer"));
    ledger.write(".jules/layers/decider/contracts.yml", "theirs\n");
    ledger.write(".jules/workstations/errors/perspective.yml", "memory\n");
    std::fs::remove_file(ledger.join(".jules/README.md")).unwrap();
    let ran = alone(&arguments).done();
    assert!(
        ran.out.contains("2 kept as they are, 0 conflicts"),
        "{ran:?}"
    );
    folder.write(".jules/layers/decider/contracts.yml", own);
    let ran = alone(&[&arguments[..], &["--json"]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines = ran.lines();
    let conflict = lines
        .iter()
        .find(|one| one["action"] == "conflict")
        .unwrap();
    assert_eq!(
        (&conflict["file"], &conflict["text"]),
        (&".jules/layers/decider/contracts.yml".into(), &own.into())
    );
    assert_eq!(lines.last().unwrap()["summary"]["conflicts"], 1);
    assert_eq!(text_of(&contracts), "theirs\n");
    // A conflict is reported once. The text that was not written can be read all the same.
    let later = alone(&[&arguments[..], &["--dry-run", "--json"]].concat())
        .done()
        .lines();
    let kept = later.iter().find(|one| one["file"] == conflict["file"]);
    assert_eq!(kept.unwrap()["action"], "leave");
    assert_eq!(kept.unwrap()["text"], own);
    assert_eq!(
        text_of(&ledger.join(".jules/workstations/errors/perspective.yml")),
        "memory\n"
    );
    assert!(!ledger.join(".jules/README.md").exists());
}

#[test]
fn a_ledger_of_a_newer_version_is_left_alone() {
    let (folder, ledger) = (Folder::empty(), Folder::empty());
    ledger.write(".jules/.phileas-version", "999.0.0\n");
    alone(&["bootstrap", folder.text(), "--output", ledger.text()])
        .refused(2, "written by phileas 999.0.0");
    ledger.write(".jules/.phileas-version", "soon\n");
    alone(&["bootstrap", folder.text(), "--output", ledger.text()])
        .refused(2, "line 1 is not what phileas writes");
    assert_eq!(texts(ledger.path()).len(), 1);
}

#[test]
fn roles_are_listed_with_where_they_come_from_and_whether_they_work() {
    let folder = with_layers();
    let lines = within(&folder, &["role", "list", "--json"]).done().lines();
    assert_eq!(lines.len(), 11);
    let of = |name: &str| lines.iter().find(|one| one["role"] == name).unwrap();
    assert_eq!(
        (&of("errors")["state"], &of("errors")["source"]),
        (&"on".into(), &"built-in".into())
    );
    assert_eq!(of("security")["state"], "off");
    assert_eq!(of("security")["sensitive"], true);
    let added = within(&folder, &["role", "add", "observers", "security"]).done();
    assert!(
        added
            .out
            .contains("in a public repository the role security does not work: "),
        "{added:?}"
    );
    let copied = "change the copied text";
    let added = within(&folder, &["role", "add", "observers", "docs", "--copy"]).done();
    assert!(added.out.contains(copied), "{added:?}");
    // Its text is there already.
    let again = within(&folder, &["role", "add", "observers", "docs", "--copy"]).done();
    assert!(!again.out.contains(copied), "{again:?}");
    let listed = within(&folder, &["role", "list", "--layer", "observers"]).done();
    let headings = listed.out.lines().next().unwrap();
    let headings: Vec<&str> = headings.split_whitespace().collect();
    assert_eq!(headings, ["layer", "role", "state", "from", "description"]);
    let line = listed
        .out
        .lines()
        .find(|line| line.contains("security"))
        .unwrap();
    assert!(line.contains("private"), "{listed:?}");
    within(
        &folder,
        &["role", "add", "observers", "security", "--sensitive"],
    )
    .done();
    let listed = within(&folder, &["role", "list", "--layer", "observers"]).done();
    assert!(!listed.out.contains("private"), "{listed:?}");
    // A repository that never heard of layers has the catalogue all the same.
    let bare = Folder::empty();
    let shown = alone(&["role", "list", bare.text()]).done().out;
    let whys = |line: &&str| line.contains("phileas init --layers");
    let layers = shown.lines().filter(whys).count();
    assert_eq!((layers, shown.lines().count()), (2, 1 + 11 + 2), "{shown}");
    // No session works there, and the reason is reported.
    let lines = alone(&["role", "list", bare.text(), "--json"])
        .done()
        .lines();
    for line in lines {
        assert_eq!(line["state"], "off", "{line}");
        if line["role"] == "errors" {
            let why = line["why"].as_str().unwrap();
            assert!(why.contains("phileas init --layers"), "{line}");
        }
    }
    // Without a table of their own innovators do not work by themselves.
    bare.write(".jlo/config.toml", "[observers]\nroles = [\"errors\"]\n");
    let lines = alone(&["role", "list", bare.text(), "--json"])
        .done()
        .lines();
    let on: Vec<&str> = lines
        .iter()
        .filter(|line| line["state"] == "on")
        .map(|line| line["role"].as_str().unwrap())
        .collect();
    assert_eq!(on, ["errors"]);
    // What turns all layers off is named, for programs too.
    bare.write(".jlo/config.toml", "[workflow]\nenabled = false\n");
    let off = "`enabled = false` in `[workflow]` of .jlo/config.toml turns all layers off";
    let added = ["role", "add", "observers", "docs", bare.text()];
    let shown = alone(&added).done();
    assert!(
        shown.out.contains(&format!("observers: {off}")),
        "{shown:?}"
    );
    let lines = alone(&[&added[..], &["--json"]].concat()).done().lines();
    let note = lines.last().unwrap()["note"].as_str().unwrap();
    assert!(note.contains(off), "{lines:?}");
}

/// A prompt includes these files as they are, so a mistake in one would reach a session unseen.
#[test]
fn a_broken_text_of_ones_own_is_neither_shown_nor_copied() {
    let (folder, ledger) = (with_layers(), Folder::empty());
    let render = ["prompt", "render", "observers", "--role", "docs"];
    let bootstrap = ["bootstrap", ".", "--output", ledger.text()];
    let contract = ".jules/layers/observers/contracts.yml";
    for (path, text, expected) in [
        (DOCS, "role: [\n", ":2:1: error: this is not YAML"),
        (DOCS, "- focus: f\n", ":1:1: error: it has no keys such as"),
        (DOCS, "", ": error: it has no keys"),
        (
            contract,
            "layer: decider\n",
            ":1:8: error: `layer` is `decider`",
        ),
    ] {
        folder.write(path, text);
        for arguments in [&render[..], &bootstrap] {
            let ran = within(&folder, arguments);
            let line = format!("{path}{expected}");
            assert!(ran.code == 1 && ran.out.contains(&line), "{ran:?}");
        }
        let lines = within(&folder, &[&render[..], &["--json"]].concat()).lines();
        assert_eq!(lines[0]["file"], path);
        std::fs::remove_file(folder.join(path)).unwrap();
    }
    assert!(texts(ledger.path()).is_empty());
    // The mistake of another role is not in this prompt.
    folder.write(".jlo/roles/observers/tests/role.yml", "- focus: f\n");
    within(&folder, &render).done();
}

/// What stands in the place of a file is named, and is not called missing.
#[test]
fn a_configuration_that_cannot_be_read_is_told_by_every_command() {
    let folder = with_layers();
    let config = folder.join(CONFIG);
    let whole = text_of(&config);
    let commands: [(&[&str], i32); 6] = [
        (&["role", "add", "observers", "tests"], 2),
        (&["role", "list"], 1),
        (&["validate"], 1),
        (&["simulate", "."], 1),
        (&["sandbox", ".", "--headless"], 2),
        (&["bootstrap", ".", "--output", "ledger"], 1),
    ];
    let tell = |commands: &[(&[&str], i32)], expected: &str| {
        for (arguments, code) in commands {
            let ran = within(&folder, arguments);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(ran.code == *code && said.contains(expected), "{ran:?}");
            for untrue in [
                "there is no .jlo",
                "it has no plan",
                "because no role of it",
            ] {
                assert!(!said.contains(untrue), "{ran:?}");
            }
        }
    };
    std::fs::remove_file(&config).unwrap();
    std::fs::create_dir(&config).unwrap();
    tell(&commands, "it is a folder; put a file here");
    std::fs::remove_dir(&config).unwrap();
    std::fs::write(&config, b"# caf\xe9\n").unwrap();
    tell(&commands, "it is not text in UTF-8; save it as UTF-8");
    let placed = within(&folder, &["validate"]).out;
    assert!(placed.contains("config.toml:1:6: error"), "{placed}");
    // A line that is no TOML has its own place, whatever it breaks below.
    std::fs::write(&config, whole.replace("[observers]", "[observers\n")).unwrap();
    let line = 1 + whole
        .lines()
        .position(|line| line == "[observers]")
        .unwrap();
    // The observers' pass is in the plan all the same, so a sandbox runs.
    tell(&commands[..4], &format!("{CONFIG}:{line}:"));
}

#[test]
fn a_role_of_ones_own_begins_with_blanks_and_works_when_they_are_filled() {
    let folder = with_layers();
    let path = ".jlo/roles/observers/colours/role.yml";
    within(&folder, &["role", "create", "observers", "colours"]).done();
    let config = text_of(&folder.join(CONFIG));
    assert!(
        config.contains("  { name = \"colours\", enabled = false },\n]"),
        "{config}"
    );
    // A draft is off, so its blanks are no errors yet.
    let blanks = format!("{path}:4:14: warning: a blank is not filled in (at description)");
    let checked = within(&folder, &["validate"]).done();
    assert!(checked.out.contains(&blanks), "{checked:?}");
    let added = within(&folder, &["role", "add", "observers", "colours"]).done();
    assert!(
        added.out.contains(&format!(
            "fill in or correct {path}, then check it with phileas validate;"
        )),
        "{added:?}"
    );
    let again = ["role", "add", "observers", "colours", "--json"];
    let lines = within(&folder, &again).done().lines();
    let note = lines.last().unwrap()["note"].as_str().unwrap();
    assert!(added.out.contains(note), "{lines:?}");
    // It is on the roster, so it is not called off.
    let lines = within(&folder, &["role", "list", "--json"]).lines();
    let listed = lines.iter().find(|line| line["role"] == "colours").unwrap();
    assert_eq!(listed["state"], "broken");
    assert!(
        listed["why"].as_str().unwrap().contains("phileas validate"),
        "{listed}"
    );
    let listed = within(&folder, &["role", "list"]);
    let line = listed.out.lines().find(|line| line.contains(" colours "));
    assert!(line.unwrap().contains(" broken "), "{listed:?}");
    let told = blanks.replace("warning", "error");
    assert!(listed.code == 1 && listed.out.contains(&told), "{listed:?}");
    let checked = within(&folder, &["validate"]);
    assert!(
        checked.code == 1 && checked.out.contains(&blanks.replace("warning", "error")),
        "{checked:?}"
    );
    let blank = text_of(&folder.join(path));
    let filled = blank
        .replace(": <", ": ")
        .replace("- <", "- ")
        .replace(">\n", "\n");
    folder.write(path, &filled);
    within(&folder, &["role", "add", "observers", "colours"]).done();
    within(&folder, &["validate"]).done();
    let shown = within(
        &folder,
        &["prompt", "render", "observers", "--role", "colours"],
    )
    .done();
    assert!(shown.out.contains("# Your role: colours\n"), "{shown:?}");
    for (arguments, word) in [
        (
            ["create", "observers", "colours"],
            "has a role `colours` already",
        ),
        (["create", "innovators", "colours"], "one memory"),
        (["create", "observers", "a/b"], "cannot be a role"),
        (["add", "observers", "erors"], "did you mean `errors`?"),
        (
            ["add", "observers", "leverage"],
            "`leverage` is a role of `innovators`",
        ),
        (
            ["delete", "observers", "absent-role"],
            "phileas role list --layer observers",
        ),
    ] {
        within(&folder, &[&["role"], &arguments[..]].concat()).refused(2, word);
    }
    // What people have written is not deleted without a word.
    within(&folder, &["role", "delete", "observers", "colours"]).refused(2, "--yes");
    within(
        &folder,
        &["role", "delete", "observers", "colours", "--keep"],
    )
    .done();
    assert_eq!(text_of(&folder.join(path)), filled);
    let warned = within(&folder, &["validate"]).done();
    assert!(
        warned.out.contains("the role is on no roster"),
        "{warned:?}"
    );
    within(
        &folder,
        &["role", "delete", "observers", "colours", "--yes"],
    )
    .done();
    assert!(!folder.join(path).exists());
    let bare = Folder::empty();
    alone(&["role", "add", "observers", "docs", bare.text()]).refused(2, "phileas init --layers");
}

/// The usual roster is not that of a repository whose own cannot be read.
#[test]
fn a_roster_that_cannot_be_read_is_told_and_no_memory_is_written_for_it() {
    let folder = Folder::empty();
    folder.write(".jlo/config.toml", "[workflow\n");
    let dir = folder.text();
    let listed = alone(&["role", "list", dir]).refused(1, "");
    assert!(listed.out.contains(".jlo/config.toml:1:"), "{listed:?}");
    let ledger = Folder::empty();
    let begun = alone(&["bootstrap", dir, "--output", ledger.text()]).refused(1, "");
    assert!(begun.out.contains(".jlo/config.toml:1:"), "{begun:?}");
    assert!(!ledger.join(".jules").exists());
    std::fs::remove_file(folder.join(".jlo/config.toml")).unwrap();
    folder.write(".jlo/config.toml/x", "");
    let validated = alone(&["validate", dir]).refused(1, "");
    assert!(
        validated
            .out
            .contains(".jlo/config.toml: error: it is a folder"),
        "{validated:?}"
    );
}

#[test]
fn upgrade_replaces_only_what_is_unchanged() {
    let folder = with_layers();
    within(
        &folder,
        &["role", "add", "observers", "docs,tests,docs", "--copy"],
    )
    .done();
    git(&folder, &["add", "--all"]);
    git(&folder, &["commit", "--quiet", "--message", "begin"]);
    let upgrade = |more: &[&str]| {
        within(
            &folder,
            &[&["upgrade", "--yes", "--action", PIN], more].concat(),
        )
    };
    let same = upgrade(&[]).done();
    assert!(same.out.contains(": 0 files written"), "{same:?}");

    // An older version wrote another text for `docs`, and it is unchanged since.
    let catalogue = text_of(&folder.join(DOCS));
    let older = catalogue.replace("description: ", "description: Once ");
    let pin = text_of(&folder.join(VERSION));
    let of_older = sha256(&older);
    let line = pin.lines().find(|line| line.ends_with(DOCS)).unwrap();
    let old_pin = pin.replace(line, &format!("{of_older}  {DOCS}"));
    let begin = |text: &str| {
        folder.write(VERSION, &old_pin);
        folder.write(DOCS, text);
    };
    begin(&older);
    let dry = upgrade(&["--dry-run"]).done();
    assert!(dry.out.contains(&format!("replace  {DOCS}")), "{dry:?}");
    assert_eq!(text_of(&folder.join(DOCS)), older);
    upgrade(&[]).done();
    assert_eq!(text_of(&folder.join(DOCS)), catalogue);
    assert_eq!(text_of(&folder.join(VERSION)), pin);

    // A person changed it, and so did this version.
    let own = older.replace("Once", "Ours");
    begin(&own);
    let ran = upgrade(&[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains(&format!("conflict {DOCS}")), "{ran:?}");
    assert_eq!(text_of(&folder.join(DOCS)), own);
    // Told once: against this version's text it is a change of theirs.
    upgrade(&[]).done();
    assert_eq!(text_of(&folder.join(DOCS)), own);

    // A person removed it.
    begin(&own);
    std::fs::remove_file(folder.join(DOCS)).unwrap();
    upgrade(&[]).done();
    assert!(!folder.join(DOCS).exists());
    assert_eq!(text_of(&folder.join(CONFIG)).matches("\"docs\"").count(), 2);

    folder.write(VERSION, "999.0.0\n");
    upgrade(&[]).refused(2, "written by phileas 999.0.0");
}

#[test]
fn upgrade_raises_the_workflows_action_and_keeps_what_was_changed() {
    let folder = with_layers();
    git(&folder, &["add", "--all"]);
    git(&folder, &["commit", "--quiet", "--message", "begin"]);
    within(&folder, &["upgrade", "--yes", "--action", NEWER]).done();
    let workflow = text_of(&folder.join(WORKFLOW));
    assert!(
        workflow.contains(NEWER) && !workflow.contains(PIN),
        "{workflow}"
    );
    assert_eq!(
        git(&folder, &["diff", "--cached", "--name-only"]).trim(),
        WORKFLOW
    );
    let own = workflow.replace("contents: write", "contents: read");
    assert_ne!(own, workflow);
    folder.write(WORKFLOW, &own);
    let pinned = within(&folder, &["upgrade", "--yes", "--action", PIN]).done();
    assert!(
        pinned.out.contains(&format!("pin      {WORKFLOW}")),
        "{pinned:?}"
    );
    assert_eq!(text_of(&folder.join(WORKFLOW)), own.replace(NEWER, PIN));
    // Without a commit to name, the workflow is left alone, and that is said.
    let ran = within(&folder, &["upgrade", "--yes"]).done();
    assert!(ran.err.contains("is left alone"), "{ran:?}");
    // One that was written by hand stays as it is.
    folder.write(WORKFLOW, "on: push\njobs: {}\n");
    for action in [&[][..], &["--action", PIN]] {
        let ran = within(&folder, &[&["upgrade", "--yes"], action].concat()).done();
        assert!(ran.err.contains("so it is yours"), "{ran:?}");
    }
    assert_eq!(text_of(&folder.join(WORKFLOW)), "on: push\njobs: {}\n");
}

fn sha256(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

#[test]
fn every_layers_prompt_can_be_seen_without_a_repository() {
    let bare = Folder::empty();
    for (layer, more) in [
        ("narrator", &[][..]),
        ("observers", &["--role", "taxonomy"][..]),
        ("decider", &[]),
        ("planner", &[]),
        ("implementer", &["--task", "bugs"]),
        ("innovators", &["--role", "leverage"]),
        ("integrator", &[]),
    ] {
        let arguments = [&["prompt", "render", layer, bare.text()], more].concat();
        let ran = alone(&arguments).done();
        assert!(
            ran.out.starts_with("---\n# Rules for all layers\n"),
            "{layer}: {ran:?}"
        );
        let told = format!("included  phileas' own .jules/layers/{layer}/contracts.yml");
        assert!(ran.err.contains(&told), "{layer}: {}", ran.err);
        let ran = alone(&[&arguments[..], &["--json"]].concat()).done();
        assert_eq!(ran.json()["included"][0]["from"], "phileas");
    }
    let arguments = [
        "prompt",
        "render",
        "observers",
        bare.text(),
        "--role",
        "taxonmy",
    ];
    alone(&arguments).refused(2, "did you mean `taxonomy`?");
}

#[test]
fn a_mistyped_name_is_not_called_a_layer() {
    let folder = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let near = "no persona and no layer `curatr`; did you mean the persona `curator`?";
    alone(&["prompt", "render", "curatr", folder.text()]).refused(2, near);
    let layer = "no persona and no layer `narratr`; did you mean `narrator`?";
    alone(&["prompt", "render", "narratr", folder.text()]).refused(2, layer);
    alone(&["prompt", "render", "layer:curatr", folder.text()])
        .refused(2, "there is no layer `curatr`");
}

/// The prompt of an implementer depends on its task, and no template has to work that out.
#[test]
fn an_implementers_prompt_is_not_shown_without_a_task() {
    let bare = Folder::empty();
    for layer in ["implementer", "implementers"] {
        let arguments = ["prompt", "render", layer, bare.text()];
        let ran = alone(&arguments).refused(2, "needs a task: --task NAME");
        assert!(!ran.err.contains(".j2"), "{ran:?}");
        let item = [&arguments[..], &["--item", ".jules/nothing.yml"]].concat();
        alone(&item).refused(2, "no work item `.jules/nothing.yml`");
        let both = [&item[..], &["--task", "bugs"]].concat();
        alone(&both).refused(2, "no work item `.jules/nothing.yml`");
    }
    // A template that needs none is shown.
    bare.write(
        ".jules/layers/implementer/implementer_prompt.j2",
        "Do what you are told.\n",
    );
    let ran = alone(&["prompt", "render", "implementer", bare.text()]).done();
    assert!(ran.out.contains("Do what you are told."), "{ran:?}");
}

/// The path of a work item names its workstream, so the message can.
#[test]
fn a_work_item_of_another_workstream_is_shown_with_the_workstream() {
    let folder = Folder::empty();
    let path = ".jules/workstreams/core/issues/refacts/one-name.yml";
    folder.write(
        path,
        "schema_version: 2\nid: \"item01\"\nsource_events: []\ntitle: One name\nlabel: refacts\npriority: high\n",
    );
    for layer in ["planner", "implementer"] {
        let arguments = ["prompt", "render", layer, folder.text(), "--item", path];
        alone(&arguments).refused(2, "is in the workstream `core`; add --stream core");
        alone(&[&arguments[..], &["--stream", "core"]].concat()).done();
    }
}

#[test]
fn mistakes_of_the_config_are_told_with_their_place() {
    let folder = with_layers();
    folder.write(CONFIG, "[observers]\nroles = [\"dcos\"]\n");
    let ran = within(&folder, &["validate"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out
            .contains(".jlo/config.toml:2:10: error: the layer `observers` has no role `dcos`"),
        "{ran:?}"
    );
    let doctor = within(&folder, &["doctor", "--repo", "acme/widget"]);
    assert!(doctor.out.contains("has no role `dcos`"), "{doctor:?}");
    folder.write(CONFIG, "");
    folder.write(
        ".jules/layers/observers/observers_prompt.j2",
        "{{ absent }}\n",
    );
    let ran = within(&folder, &["validate"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out
            .contains(".jules/layers/observers/observers_prompt.j2:1:4: error:"),
        "{ran:?}"
    );
}
