//! Tests the conversion from one layout to the other, and back.

use phileas_domain::exchange::{Layout, Next, Routes, check_exchange, migrate_layout};
use phileas_domain::model::Tree;

const STREAM: &str = ".jules/workstreams/core";
const EVENT: &str = "schema_version: 1\nid: \"even01\"\nissue_id: \"item01\"\ncreated_at: 2026-01-05\nauthor_role: taxonomy\nconfidence: high\n\
    title: Two names for one thing\nstatement: The parser calls it a step, and the runner calls it a stage.\n\
    evidence:\n  - path: src/parser.rs\n    loc: [12]\n    note: It is called a step here.\n";
const ISSUE: &str = "schema_version: 2\nid: \"item01\"\nsource_events: [\"even01\"]\ntitle: One name for a step\nlabel: refacts\npriority: high\n\
    summary: Call a step a step everywhere.\nproblem: Readers look for a stage and find a step.\n\
    impact: Every newcomer loses an hour over the two names.\ndesired_outcome: One name is used in code, docs and messages.\n\
    constraints: []\naffected_areas: [src/parser.rs]\nrisks: []\nacceptance_criteria:\n  - No stage is left in the code.\n\
    verification_commands:\n  - cargo test\nrequires_deep_analysis: false\n";
const MEMORY: &str = "schema_version: 1\nobserver: taxonomy\nworkstream: core\nupdated_at: 2026-01-05T10:00:00Z\n\
    goals: {short_term: [One name]}\nbiases: {assumptions: [], blind_spots: [], heuristics: [Look twice]}\n\
    recent_runs:\n  - {created_at: 2026-01-05T10:00:00Z, summary: Two events.}\nlearned_exclusions: [Generated code]\n";
const SUMMARY: &str = "schema_version: 1\nid: \"chan01\"\ncreated_at: \"2026-01-05T10:00:00Z\"\n\
    range:\n  from_commit: \"a123456789012345678901234567890123456789\"\n  to_commit: \"b123456789012345678901234567890123456789\"\n\
    \x20 selection_mode: incremental\n  excluded_paths: [.jules/]\n\
    stats: {commits_total: 1, commits_included: 1, files_changed: 1, insertions: 2, deletions: 1}\ncommits: []\n\
    summary:\n  overview: The parser was renamed.\n  notable_changes: [The runner follows.]\n";
const ROSTER: &str = "version = 1\nenabled = true\n[observers]\nroles = [{ name = \"taxonomy\", enabled = true }, \"docs\"]\n[deciders]\nroles = [\"triage\"]\n";

fn index() -> String {
    let mut text = String::from("# Issues\n");
    for (heading, row) in [
        ("Feats", None),
        (
            "Refacts",
            Some(
                "| [One name for a step](./refacts/one-name.yml) | Call a step a step everywhere. |",
            ),
        ),
        ("Bugs", None),
        ("Tests", None),
        ("Docs", None),
    ] {
        text.push_str(&format!(
            "\n## {heading}\n\n| Issue | Summary |\n|---|---|\n"
        ));
        text.push_str(row.unwrap_or("| no open issues | |"));
        text.push('\n');
    }
    text
}

fn streams() -> Tree {
    let mut tree = Tree::new();
    for (path, text) in [
        (format!("{STREAM}/scheduled.toml"), ROSTER.to_owned()),
        (format!("{STREAM}/events/pending/.gitkeep"), String::new()),
        (
            format!("{STREAM}/events/decided/two-names.yml"),
            EVENT.to_owned(),
        ),
        (format!("{STREAM}/issues/index.md"), index()),
        (
            format!("{STREAM}/issues/refacts/one-name.yml"),
            ISSUE.to_owned(),
        ),
        (
            format!("{STREAM}/workstations/taxonomy/perspective.yml"),
            MEMORY.to_owned(),
        ),
        (".jules/changes/latest.yml".to_owned(), SUMMARY.to_owned()),
    ] {
        tree.insert_text(path, &text);
    }
    tree
}

fn brought(tree: &Tree, to: Layout) -> Tree {
    let migration = migrate_layout(tree, to, "core").unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    assert!(!migration.steps.is_empty());
    let mut next = tree.clone();
    for (path, text) in migration.file_changes() {
        match text {
            Some(text) => next.insert_text(path, text),
            None => next.remove(path),
        }
    }
    let again = migrate_layout(&next, to, "core").unwrap();
    assert!(
        again.steps.is_empty() && again.kept.is_empty(),
        "brought once, it is there: {again:#?}"
    );
    next
}

/// What a migration to the flat layout says about the roster.
fn roster_notes(tree: &Tree) -> String {
    let kept = migrate_layout(tree, Layout::Flat, "core").unwrap().kept;
    let mut of_roster = kept.iter().filter(|one| one.file == ".jlo/config.toml");
    of_roster.next().map(ToString::to_string).unwrap()
}

#[track_caller]
fn sound(tree: &Tree) {
    let found = check_exchange(tree).diagnostics;
    let errors: Vec<_> = found.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn workstreams_become_one_flat_exchange_and_go_back() {
    let first = streams();
    sound(&first);
    let flat = brought(&first, Layout::Flat);
    sound(&flat);
    let paths: Vec<&str> = flat.iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            ".jules/exchange/changes.yml",
            ".jules/exchange/events/decided/two-names.yml",
            ".jules/exchange/requirements/one-name.yml",
            ".jules/workstations/taxonomy/perspective.yml",
        ]
    );
    assert_eq!(
        roster_notes(&first),
        ".jlo/config.toml: warning: the workstreams had these observers: taxonomy, docs; write `roles = [\"taxonomy\", \"docs\"]` below `[observers]` in this file of the default branch"
    );
    assert!(
        flat.text(".jules/exchange/changes.yml")
            .unwrap()
            .contains("The runner follows.")
    );
    let exchange = check_exchange(&flat).exchange.unwrap();
    let routes = Routes::of(&exchange.streams["generic"], None);
    assert_eq!(
        routes.next_of(".jules/exchange/requirements/one-name.yml"),
        Next::Implementer
    );

    let mut with_roster = flat.clone();
    with_roster.insert_text(
        ".jlo/config.toml",
        "version = 1\n[observers]\nroles = [\"taxonomy\", \"docs\"]\n",
    );
    let back = brought(&with_roster, Layout::Workstreams);
    sound(&back);
    let event = format!("{STREAM}/events/decided/two-names.yml");
    assert_eq!(
        back.text(&event),
        first.text(&event),
        "what says the same in both stays as it is"
    );
    let memory = back
        .text(&format!("{STREAM}/workstations/taxonomy/perspective.yml"))
        .unwrap();
    for said in ["One name", "Look twice", "Generated code", "Two events."] {
        assert!(memory.contains(said), "{said}: {memory}");
    }
    let roster = back.text(&format!("{STREAM}/scheduled.toml")).unwrap();
    assert!(
        roster.contains("\"taxonomy\"") && roster.contains("\"docs\""),
        "{roster}"
    );
    assert!(
        back.text(&format!("{STREAM}/issues/index.md"))
            .unwrap()
            .contains("One name for a step")
    );
}

/// Two versions of the original program kept rosters elsewhere.
#[test]
fn rosters_of_older_places_count_where_the_usual_one_is_missing() {
    for older in [
        ".jlo/workstreams/core/scheduled.toml",
        ".jlo/scheduled.toml",
    ] {
        let mut tree = streams();
        tree.remove(&format!("{STREAM}/scheduled.toml"));
        tree.insert_text(older, ROSTER);
        let roster = |tree: &Tree| {
            let exchange = check_exchange(tree).exchange.unwrap();
            exchange.streams["core"].roster.clone()
        };
        let observers = roster(&tree).map(|roster| roster.observers);
        assert_eq!(observers.unwrap(), ["taxonomy", "docs"], "{older}");
        let flat = brought(&tree, Layout::Flat);
        let told = roster_notes(&tree);
        assert!(told.contains("[\"taxonomy\", \"docs\"]"), "{told}");
        assert!(flat.get(older).is_none(), "{older}");

        // A stream's own roster takes precedence.
        tree.insert_text(
            format!("{STREAM}/scheduled.toml"),
            &ROSTER.replace("\"docs\"", "\"tests\""),
        );
        let observers = roster(&tree).map(|roster| roster.observers);
        assert_eq!(observers.unwrap(), ["taxonomy", "tests"], "{older}");
        // A mistake in it is reported once, with its position.
        tree.remove(&format!("{STREAM}/scheduled.toml"));
        tree.insert_text(
            older,
            "version = 1\nenabled = 1\n[observers]\nroles = []\n[deciders]\nroles = []\n",
        );
        let found = check_exchange(&tree).diagnostics;
        let told = found.iter().filter(|one| one.file == older).count();
        assert_eq!(told, 1, "{found:#?}");
    }
}

/// The roster lies on the default branch, and a checkout of the ledger has nothing to make one of.
#[test]
fn no_roster_is_made_up() {
    let kept = [(".jules/exchange/events/pending/.gitkeep", "")];
    let mut tree = Tree::from_texts(kept);
    let there = migrate_layout(&tree, Layout::Workstreams, "core").unwrap();
    let told: Vec<String> = there.kept.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [format!(
            "{STREAM}/scheduled.toml: warning: the roster of the flat layout is not here, so this workstream has none yet; write {STREAM}/scheduled.toml on the default branch, with the observers of `.jlo/config.toml`"
        )]
    );
    for to in [Layout::Workstreams, Layout::Flat] {
        tree = brought(&tree, to);
        sound(&tree);
        assert_eq!(Layout::detect(&tree), Ok(Some(to)));
    }
    let paths: Vec<&str> = tree.iter().map(|(path, _)| path).collect();
    assert_eq!(paths, [".jules/exchange/events/pending/.gitkeep"]);
}

/// A flat summary has five themes, and no commits.
#[test]
fn what_a_flat_summary_has_no_room_for_is_reported() {
    let mut tree = streams();
    let (long, end) = ("word ".repeat(100), "the end of it");
    let told = SUMMARY
        .replace(
            "[The runner follows.]",
            "[A, B, C, D, E, F]\n  truncation_note: Cut.",
        )
        .replace("The parser was renamed.", &format!("{long}{end}"))
        .replace(
            "selection_mode: incremental",
            "selection_mode: bootstrap\n  selection_detail: The last month.",
        );
    tree.insert_text(".jules/changes/latest.yml", &told);
    let migration = migrate_layout(&tree, Layout::Flat, "generic").unwrap();
    let step = migration
        .steps
        .iter()
        .find(|step| step.path == ".jules/changes/latest.yml");
    assert_eq!(
        step.unwrap().why,
        [
            "a summary of the other layout, without its commits and counts, and without these notable changes: E; F, \
             and without the end of its overview: the end of it, and without its `truncation_note`: Cut., and without its `selection_detail`: The last month."
        ]
    );
}

/// What a step of a migration says.
#[track_caller]
fn why(tree: &Tree, to: Layout, path: &str) -> Vec<String> {
    let steps = migrate_layout(tree, to, "core").unwrap().steps;
    let step = steps.into_iter().find(|step| step.path == path);
    step.unwrap_or_else(|| panic!("{path}")).why
}

#[test]
fn what_a_workstream_has_no_place_for_is_named_or_kept() {
    let mut flat = brought(&streams(), Layout::Flat);
    let changes = ".jules/exchange/changes.yml";
    assert_eq!(
        why(&flat, Layout::Workstreams, changes),
        [
            "its themes name no commits, so they have no place in the other layout: Overview; The runner follows.; Nothing further; Nothing further; Nothing further; the narrator writes a new summary"
        ]
    );
    let item = ".jules/exchange/requirements/one-name.yml";
    let text = flat
        .text(item)
        .unwrap()
        .replace("goal: \"One", "goal: \"Only one");
    flat.insert_text(item, &format!("# By hand.\n{text}"));
    assert_eq!(
        why(&flat, Layout::Workstreams, item),
        [
            "a work item of the other layout",
            "put `goal` before `desired_outcome`, as one text",
            "comments went to its beginning",
            "`verification_criteria` is called `verification_commands`",
        ]
    );
    // A flat memory has five sessions, one of a workstream three.
    let memory = ".jules/workstations/taxonomy/perspective.yml";
    let sessions: String = ["A", "B", "C", "D", "E"]
        .map(|name| format!("  - {{at: 2026-01-05T10:00:00Z, summary: {name}.}} # {name}#1\n"))
        .concat();
    let text = format!(
        "# Ours.\nschema_version: 2\nobserver: taxonomy\nupdated_at: 2026-01-05T10:00:00Z\n\
         goals: [\"One # name\"]\nrules:\n  - |-\n    # no comment\nignore: [] # nothing\nlog:\n{sessions}"
    );
    flat.insert_text(memory, &text);
    assert_eq!(
        why(&flat, Layout::Workstreams, memory),
        [
            "a memory of the other layout",
            "the memory became one of a workstream, without its older sessions: D.; E.",
            "comments went to its beginning",
        ]
    );
    let there = brought(&flat, Layout::Workstreams);
    let moved = format!("{STREAM}/workstations/taxonomy/perspective.yml");
    let moved = there.text(&moved).unwrap();
    let begin = "# Ours.\n# nothing\n# A#1\n# B#1\n# C#1\n# D#1\n# E#1\nschema_version: 1\n";
    assert!(moved.starts_with(begin), "{moved}");
    let moved = format!("{STREAM}/issues/refacts/one-name.yml");
    assert!(there.text(&moved).unwrap().starts_with("# By hand.\n"));
    // What the other shape has no place for would be lost.
    let unknown = format!("{text}notes: [Ours]\n");
    for (text, begin) in [
        (unknown, ":16:8: error: no memory has this key"),
        (
            text.replace("summary: B.", "summary: B., pr: 12"),
            ":11:3: error: the other form has no place for `log[1].pr`",
        ),
        (
            text.replace("summary: E.", "text: E."),
            ":11:3: error: the other form has no place for `log[4].text`",
        ),
        (
            text.replacen("{at: 2026-01-05T10:00:00Z", "{at: 20260105", 1),
            ":11:3: error: `log[0].at` is not a text",
        ),
        (
            text.replace("[\"One # name\"]", "One name"),
            ":5:8: error: `goals` is not a list",
        ),
    ] {
        flat.insert_text(memory, &text);
        let wrong = migrate_layout(&flat, Layout::Workstreams, "core").unwrap_err();
        let begin = format!("{memory}{begin}");
        assert!(wrong[0].to_string().starts_with(&begin), "{wrong:#?}");
    }
}

#[test]
fn what_a_flat_memory_has_no_place_for_is_kept() {
    let path = format!("{STREAM}/workstations/taxonomy/perspective.yml");
    for (from, to, said) in [
        (
            "short_term: [One name]",
            "short_term: [One name], long_term: [B]",
            "the other form has no place for `goals.long_term`",
        ),
        (
            "{short_term: [One name]}",
            "[One name]",
            "`goals` has no keys",
        ),
        (
            "blind_spots: []",
            "blind_spots: none",
            "`biases.blind_spots` is not a list",
        ),
        (
            "summary: Two events.",
            "summary: Two events., pr: 12",
            "the other form has no place for `recent_runs[0].pr`",
        ),
        (
            "[Generated code]",
            "Generated code",
            "`learned_exclusions` is not a list",
        ),
    ] {
        let mut tree = streams();
        assert!(MEMORY.contains(from));
        tree.insert_text(&path, &MEMORY.replace(from, to));
        let wrong = migrate_layout(&tree, Layout::Flat, "core").unwrap_err();
        assert_eq!(wrong[0].message, said);
        assert_eq!(wrong[0].file, path);
    }
}

#[test]
fn nothing_is_changed_where_two_things_would_become_one() {
    // If two workstreams have a file of the same name, the workstream's name is prefixed.
    let mut tree = streams();
    let other = ".jules/workstreams/web";
    tree.insert_text(format!("{other}/scheduled.toml"), ROSTER);
    let second = EVENT.replace("even01", "even02").replace("item01", "");
    tree.insert_text(format!("{other}/events/pending/two-names.yml"), &second);
    let flat = brought(&tree, Layout::Flat);
    sound(&flat);
    assert!(
        flat.text(".jules/exchange/events/pending/web-two-names.yml")
            .is_some()
    );
    assert!(
        flat.text(".jules/exchange/events/decided/core-two-names.yml")
            .is_some()
    );
    // If one id means two things, a person must decide.
    tree.insert_text(
        format!("{other}/events/pending/two-names.yml"),
        &EVENT.replace("item01", ""),
    );
    let wrong = migrate_layout(&tree, Layout::Flat, "core").unwrap_err();
    assert!(wrong[0].message.contains("even01"), "{wrong:#?}");
    // So must a person if two workstreams have a memory of one role.
    tree.remove(&format!("{other}/events/pending/two-names.yml"));
    let of_web = MEMORY.replace("workstream: core", "workstream: web");
    tree.insert_text(
        format!("{other}/workstations/taxonomy/perspective.yml"),
        &of_web,
    );
    let wrong = migrate_layout(&tree, Layout::Flat, "core").unwrap_err();
    assert!(wrong[0].message.contains("perspective.yml"), "{wrong:#?}");
    // And if a file has no place in the other layout.
    tree.remove(&format!("{other}/workstations/taxonomy/perspective.yml"));
    tree.insert_text(format!("{other}/notes/today.yml"), "Remember.");
    let wrong = migrate_layout(&tree, Layout::Flat, "core").unwrap_err();
    assert!(
        wrong.iter().any(|one| one.file.ends_with("today.yml")),
        "{wrong:#?}"
    );
}

#[test]
fn older_forms_come_first_and_names_are_names() {
    let mut tree = streams();
    let path = format!("{STREAM}/issues/refacts/one-name.yml");
    tree.insert_text(
        path,
        &ISSUE.replace(
            "requires_deep_analysis: false",
            "implementation_ready: true",
        ),
    );
    let wrong = migrate_layout(&tree, Layout::Flat, "core").unwrap_err();
    assert!(
        wrong[0].help.contains("phileas exchange migrate"),
        "{wrong:#?}"
    );
    let flat = brought(&streams(), Layout::Flat);
    let wrong = migrate_layout(&flat, Layout::Workstreams, "../up").unwrap_err();
    assert!(wrong[0].message.contains("../up"), "{wrong:#?}");
    assert!(
        migrate_layout(&Tree::new(), Layout::Flat, "core")
            .unwrap()
            .steps
            .is_empty()
    );
}

#[test]
fn a_memory_of_an_innovator_is_the_same_in_both() {
    const IDEAS: &str = "schema_version: 1\npersona: architect\nfocus: What little would change much.\nrecent_proposals: [Fewer parts]\n";
    let mut flat = brought(&streams(), Layout::Flat);
    flat.insert_text(".jules/workstations/architect/perspective.yml", IDEAS);
    sound(&flat);
    let back = brought(&flat, Layout::Workstreams);
    let memory = format!("{STREAM}/workstations/architect/perspective.yml");
    assert_eq!(back.text(&memory), Some(IDEAS));
    sound(&back);
}

/// An empty keeper file is removed with its folder. What a check allows stays in both directions, and is reported.
#[test]
fn notes_and_files_that_are_no_artifacts_stay_in_both_directions() {
    let flat = brought(&streams(), Layout::Flat);
    for (first, home, to) in [
        (streams(), STREAM, Layout::Flat),
        (flat, ".jules/exchange", Layout::Workstreams),
    ] {
        for (name, text, stays) in [
            ("events/pending/README.md", "Look here first.\n", true),
            ("events/pending/README.md", "\n", false),
            ("requirements/item.yml.bak", "id: 1\n", true),
            ("readme.txt", "Remember.\n", true),
        ] {
            let path = format!("{home}/{name}");
            let mut tree = first.clone();
            tree.insert_text(path.clone(), text);
            sound(&tree);
            let kept = migrate_layout(&tree, to, "core").unwrap().kept;
            let told = kept.iter().filter(|one| one.file == path);
            assert_eq!(told.count(), usize::from(stays), "{kept:#?}");
            assert!(kept.iter().all(|one| !one.is_error()), "{kept:#?}");
            let mut next = brought(&tree, to);
            assert_eq!(next.text(&path), stays.then_some(text), "{path}");
            sound(&next);
            // Work items are removed once they are done, and memories may be. The layout stays.
            let artifacts: Vec<String> = next
                .iter()
                .map(|(path, _)| path)
                .filter(|path| path.ends_with(".yml") && !path.starts_with(home))
                .map(str::to_owned)
                .collect();
            for artifact in artifacts {
                next.remove(&artifact);
            }
            if stays {
                assert_eq!(Layout::detect(&next), Ok(Some(to)), "{path}");
            }
        }
    }
}

/// In workstreams an item without the flag needs no analysis; a flat exchange requires the key.
#[test]
fn an_item_that_does_not_say_whether_it_needs_analysis_needs_none() {
    let mut tree = streams();
    let silent = ISSUE.replace("requires_deep_analysis: false\n", "");
    tree.insert_text(format!("{STREAM}/issues/refacts/one-name.yml"), &silent);
    let flat = brought(&tree, Layout::Flat);
    let item = flat.text(".jules/exchange/requirements/one-name.yml");
    assert!(item.unwrap().contains("requires_deep_analysis: false\n"));
    let found = check_exchange(&flat).diagnostics;
    assert!(!found.iter().any(|one| one.is_error()), "{found:#?}");
}
