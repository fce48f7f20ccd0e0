//! Tests the migration of older locations and shapes.

use phileas_domain::Diagnostic;
use phileas_domain::exchange::{check_exchange, migrate_exchange};
use phileas_domain::model::Tree;

const ITEM: &str = "schema_version: 2\nid: \"item01\"\nsource_events: [\"even01\"]\ntitle: One name for a step\nlabel: refacts\npriority: high\nconstraints: []\nrisks: []\n";
const PERSONA: &str = "schema_version: 1\npersona: recruiter\nupdated_at: 2026-01-05\n";

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::new();
    for (path, text) in files {
        tree.insert_text((*path).to_owned(), text);
    }
    tree
}

/// The new path of each file that moves; `None` for a file that is removed.
fn goes(files: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    let migration = migrate_exchange(&tree(files)).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    let moved = migration.steps.into_iter();
    moved
        .filter(|step| step.to.as_ref() != Some(&step.path))
        .map(|step| (step.path, step.to))
        .collect()
}

/// The reasons for each move.
fn why(files: &[(&str, &str)]) -> Vec<String> {
    let migration = migrate_exchange(&tree(files)).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    migration
        .steps
        .into_iter()
        .flat_map(|step| step.why)
        .collect()
}

fn replacement(from: &str, to: &str) -> (String, Option<String>) {
    (from.to_owned(), Some(to.to_owned()))
}

#[test]
fn work_items_of_a_flat_exchange_lay_among_issues() {
    let files = [
        (".jules/exchange/issues/one.yml", ITEM),
        (".jules/exchange/issues/refacts/two.yaml", ITEM),
        (".jules/exchange/events/pending/.gitkeep", ""),
    ];
    let expected = [
        replacement(
            ".jules/exchange/issues/one.yml",
            ".jules/exchange/requirements/one.yml",
        ),
        replacement(
            ".jules/exchange/issues/refacts/two.yaml",
            ".jules/exchange/requirements/two.yml",
        ),
    ];
    assert_eq!(goes(&files), expected);
    let said = why(&files);
    assert_eq!(
        said.iter()
            .filter(|one| *one == "an older place of work items")
            .count(),
        2,
        "{said:#?}"
    );
}

#[test]
fn memories_of_innovators_lay_in_the_exchange() {
    let files = [
        (
            ".jules/exchange/innovators/recruiter/perspective.yml",
            PERSONA,
        ),
        (".jules/exchange/innovators/scout/perspective.yaml", PERSONA),
        // No role's name, so no role wrote it.
        (
            ".jules/exchange/innovators/Not a name/perspective.yml",
            PERSONA,
        ),
        (".jules/exchange/events/pending/.gitkeep", ""),
    ];
    let expected = [
        replacement(
            ".jules/exchange/innovators/recruiter/perspective.yml",
            ".jules/workstations/recruiter/perspective.yml",
        ),
        replacement(
            ".jules/exchange/innovators/scout/perspective.yaml",
            ".jules/workstations/scout/perspective.yml",
        ),
    ];
    assert_eq!(goes(&files), expected);
    assert!(why(&files).contains(&"an older place of memories".to_owned()));
}

/// Only parts of proposals are explained as such.
#[test]
fn what_has_no_place_stays_and_is_told_what_to_do_with_it() {
    for (path, help) in [
        (
            ".jules/exchange/innovators/recruiter/idea.yml",
            "ideas and comments became proposals of one piece: write what still counts as one",
        ),
        (
            ".jules/exchange/notes/idea.yml",
            "move it to where artifacts of its kind lie, or remove it",
        ),
    ] {
        let files = [
            (path, PERSONA),
            (".jules/exchange/events/pending/.gitkeep", ""),
        ];
        let migration = migrate_exchange(&tree(&files)).unwrap();
        assert_eq!(migration.steps, [], "{path}");
        let kept: Vec<_> = migration.kept.iter().map(ToString::to_string).collect();
        let said = format!("{path}: warning: nothing of the exchange belongs here; {help}");
        assert_eq!(kept, [said]);
    }
}

/// Editors and people leave files beside artifacts. Only `.yaml` is another spelling of an artifact's name.
#[test]
fn what_is_no_artifact_by_its_name_is_told_once_and_stays() {
    for path in [
        ".jules/exchange/NOTES.md",
        ".jules/exchange/events/pending/NOTES.md",
        ".jules/exchange/events/pending/.abc123.yml.swp",
        ".jules/exchange/events/pending/README.txt",
        ".jules/exchange/events/pending/abc123.yml.bak",
        ".jules/exchange/events/pending/abc123.yml~",
        ".jules/exchange/events/pending/abc123.YML",
        ".jules/exchange/requirements/req111.yml.bak",
        ".jules/exchange/proposals/idea",
        ".jules/workstations/taxonomy/notes.txt",
        ".jules/workstreams/core/issues/bugs/one.yml.orig",
        ".jules/workstreams/core/workstations/qa/histories/one.txt",
        ".jules/roles/observers/qa/feedbacks/NOTES.md",
    ] {
        let flat = path.contains("exchange") || path.contains(".jules/workstations");
        let kept = match flat {
            true => ".jules/exchange/events/pending/.gitkeep",
            false => ".jules/workstreams/core/issues/index.md",
        };
        let files = tree(&[(path, ITEM), (kept, "")]);
        let migration = migrate_exchange(&files).unwrap();
        let said = format!(
            "{path}: warning: it is no artifact, because its name does not end in `.yml`; phileas leaves it here; remove it, or move it out of the exchange"
        );
        let told = |found: &[Diagnostic]| -> Vec<String> {
            found.iter().map(ToString::to_string).collect()
        };
        assert_eq!(told(&migration.kept), std::slice::from_ref(&said));
        assert_eq!(migration.steps, []);
        assert_eq!(told(&check_exchange(&files).diagnostics), [said]);
    }
}

#[test]
fn issues_of_a_workstream_go_to_the_folder_of_the_label_that_they_give_themselves() {
    let unlabelled = ITEM.replace("label: refacts", "label: nothing-of-ours");
    let files = [
        (".jules/workstreams/core/issues/one.yml", ITEM),
        (
            ".jules/workstreams/core/issues/two.yml",
            unlabelled.as_str(),
        ),
        (".jules/workstreams/core/events/pending/.gitkeep", ""),
    ];
    let to = ".jules/workstreams/core/issues/refacts/one.yml";
    let moved = goes(&files);
    assert!(
        moved.contains(&replacement(".jules/workstreams/core/issues/one.yml", to)),
        "{moved:#?}"
    );
    assert!(
        moved.iter().all(|(path, _)| !path.ends_with("two.yml")),
        "{moved:#?}"
    );
}

/// An older contract had a folder for each priority.
#[test]
fn issues_of_a_folder_that_is_no_label_go_to_that_of_their_label_and_the_list_follows() {
    let from = ".jules/workstreams/core/issues/high/one.yml";
    let list = ".jules/workstreams/core/issues/index.md";
    let to = ".jules/workstreams/core/issues/refacts/one.yml";
    let files = [
        (from, ITEM),
        (list, "# Issues\n\n| [One](./high/one.yml) | x |\n"),
    ];
    assert_eq!(goes(&files), [replacement(from, to)]);
    let steps = migrate_exchange(&tree(&files)).unwrap().steps;
    let of_list = steps.iter().find(|step| step.path == list).unwrap();
    assert_eq!(of_list.why, ["the list of issues follows"]);
    assert!(
        of_list
            .text
            .contains("| [One name for a step](./refacts/one.yml) |"),
        "{}",
        of_list.text
    );
    // A folder that is a label is kept, whatever the item says: a person decides which of the two counts.
    let labelled = [(".jules/workstreams/core/issues/bugs/one.yml", ITEM)];
    assert_eq!(goes(&labelled), []);
}

#[test]
fn a_flag_that_was_turned_over_says_the_same_as_before() {
    let path = ".jules/exchange/requirements/one.yml";
    for ready in [true, false] {
        let text = format!("{ITEM}implementation_ready: {ready}\n");
        let steps = migrate_exchange(&tree(&[(path, &text)])).unwrap().steps;
        let expected = format!("{ITEM}requires_deep_analysis: {}\n", !ready);
        assert_eq!(steps[0].text, expected);
        let contrary = "`requires_deep_analysis` is the contrary of `implementation_ready`";
        assert_eq!(steps[0].why, [contrary]);
    }
}

/// Workstreams require commands; a requirement with only criteria gets a hint to write some.
#[test]
fn criteria_are_told_to_be_no_commands_only_where_there_are_none() {
    let path = ".jules/workstreams/core/issues/refacts/one.yml";
    let criteria = "verification_criteria: [It reads better.]\n";
    let commands = "verification_commands: [cargo test]\n";
    let folder = (".jules/workstreams/core/events/pending/.gitkeep", "");
    for (more, is_told) in [
        (criteria.to_owned(), true),
        (commands.to_owned(), false),
        (format!("{criteria}{commands}"), false),
    ] {
        let text = format!("{ITEM}{more}");
        let kept = migrate_exchange(&tree(&[(path, &text), folder]))
            .unwrap()
            .kept;
        let told = kept
            .iter()
            .any(|one| one.message.contains("criteria are not commands"));
        assert_eq!(told, is_told, "{more}{kept:#?}");
    }
}

#[test]
fn what_stands_half_way_is_told_with_its_place() {
    let path = ".jules/exchange/requirements/one.yml";
    let text = format!("{ITEM}implementation_ready: true\nrequires_deep_analysis: true\n");
    let wrong = migrate_exchange(&tree(&[(path, &text)])).unwrap_err();
    let place = format!("{path}:9:23: error: `implementation_ready` is the older form of");
    assert!(wrong[0].to_string().starts_with(&place), "{}", wrong[0]);
    let text = format!("{ITEM}implementation_ready: soon\n");
    let kept = migrate_exchange(&tree(&[(path, &text)])).unwrap().kept;
    let place = format!("{path}:9:23: warning: it is neither true nor false");
    let told: Vec<String> = kept.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|one| one.starts_with(&place)), "{told:?}");
}

#[test]
fn memories_of_a_workstream_end_as_artifacts_do() {
    let from = ".jules/workstreams/core/workstations/taxonomy/perspective.yaml";
    let files = [
        (
            from,
            "schema_version: 1\nobserver: taxonomy\nworkstream: core\n",
        ),
        (".jules/workstreams/core/events/pending/.gitkeep", ""),
    ];
    let to = ".jules/workstreams/core/workstations/taxonomy/perspective.yml";
    assert_eq!(goes(&files), [replacement(from, to)]);
    assert!(why(&files).contains(&"artifacts end in `.yml`".to_owned()));
}

/// Values that other releases omit or write differently, with an unambiguous fix.
#[test]
fn what_has_one_answer_is_written() {
    let home = ".jules/workstreams/core";
    let event = "id: 123456\ncreated_at: \"2026-01-31T23:30:00-02:00\" # then\nauthor_role: qa\nconfidence: HIGH\ntitle: T\nstatement: It is said twice in two files.\nevidence:\n  - path: a\n    loc: \"3, 5\"\n    note: n\n  - path: b\n    loc: 7\n    note: n\n";
    let item = "id: \"item01\"\nsource_events: [123456]\ntitle: T\nlabel: bugs\npriority: Low\n";
    let memory = "schema_version: 2\nobserver: qa1\nupdated_at: 2026-01-05T10:00:00Z\ngoals: [A, B, C, D]\nrules: []\nignore: []\nlog: []\n";
    let files = [
        (".jules/workstreams/core/events/one.yml", event),
        (".jules/workstreams/core/issues/bugs/two.yml", item),
        (
            ".jules/workstreams/core/workstations/qa/perspective.yml",
            memory,
        ),
        (".jules/changes/latest.yml", "mock: true\n"),
    ];
    let steps = migrate_exchange(&tree(&files)).unwrap().steps;
    let text = |path: &str| {
        let step = steps
            .iter()
            .find(|step| step.path == format!("{home}/{path}"));
        let step = step.unwrap_or_else(|| panic!("{path}: {steps:#?}"));
        (step.to.clone(), step.text.clone())
    };
    let (to, event) = text("events/one.yml");
    assert_eq!(to, Some(format!("{home}/events/pending/one.yml")));
    for has in [
        "id: \"123456\"\n",
        "created_at: \"2026-02-01\" # then\n",
        "confidence: high\n",
        "loc: [\"3, 5\"]\n",
        "loc: [7]\n",
        "schema_version: 1\n",
        "issue_id: \"\"\n",
    ] {
        assert!(event.contains(has), "{has}{event}");
    }
    let (_, item) = text("issues/bugs/two.yml");
    for has in [
        "source_events: [\"123456\"]\n",
        "priority: low\n",
        "schema_version: 2\n",
        "constraints: []\n",
        "risks: []\n",
    ] {
        assert!(item.contains(has), "{has}{item}");
    }
    let (_, memory) = text("workstations/qa/perspective.yml");
    assert!(
        memory.contains("observer: \"qa\"") && memory.contains("\"Goal: D\""),
        "{memory}"
    );
    let changes = steps
        .iter()
        .find(|step| step.path == ".jules/changes/latest.yml");
    let changes = changes.unwrap();
    assert_eq!(changes.to, None);
    assert!(
        changes.why[0].starts_with("it has mistakes (line 1: "),
        "{changes:?}"
    );
}

/// The release of seed 001 creates memories from the template, which no role has filled in.
#[test]
fn a_memory_that_is_its_template_is_begun_again() {
    let path = ".jules/workstations/qa/perspective.yml";
    let unfilled = "schema_version: 2\nobserver: qa\nupdated_at: YYYY-MM-DDTHH:MM:SSZ\ngoals:\n- <concrete goal>\nrules: []\nignore: []\nlog:\n- at: YYYY-MM-DDTHH:MM:SSZ\n  summary: <one line>\n";
    assert_eq!(goes(&[(path, unfilled)]), [(path.to_owned(), None)]);
    let filled = unfilled.replace("<concrete goal>", "Find what is untested.");
    assert_eq!(goes(&[(path, &filled)]), []);
}
