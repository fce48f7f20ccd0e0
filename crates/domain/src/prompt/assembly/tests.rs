//! Tests whole prompts, and every error.

mod older;
mod refusals;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::*;

const OBSERVERS: &str = ".jules/layers/observers/observers_prompt.j2";
const TEMPLATE: &str = "\
{{ section(\"Role\", include_required(\".jlo/roles/observers/\" ~ role ~ \"/role.yml\")) }}
{{ section(\"Layer Contracts\", include_required(\".jules/layers/observers/contracts.yml\")) }}
{{ section(\"Task: Observe\", include_required(\".jules/layers/observers/tasks/observe.yml\")) }}
{{ section(\"Memory\", include_required(\".jules/workstations/\" ~ role ~ \"/perspective.yml\")) }}
{{ section(\"Change Summary\", include_optional(\".jules/exchange/changes.yml\")) }}
";

/// A repository with an observers layer that uses this template.
fn repository(template: &str) -> Tree {
    Tree::from_texts([
        (OBSERVERS, template),
        (
            ".jules/layers/observers/contracts.yml",
            "layer: observers\n",
        ),
        (".jules/layers/observers/tasks/observe.yml", "id: observe\n"),
        (
            ".jules/layers/observers/schemas/perspective.yml",
            "# 1 to 3 goals\nobserver: <role>\n",
        ),
        (
            ".jules/layers/observers/parts/more.j2",
            "more {{ include_required(\".jules/gone.yml\") }}\n",
        ),
        (
            ".jules/layers/observers/parts/outer.j2",
            "\n{% include \".jules/layers/observers/parts/more.j2\" %}\n",
        ),
        (
            ".jules/layers/observers/parts/self.j2",
            "{% include \".jules/layers/observers/parts/self.j2\" %}",
        ),
        (".jlo/roles/observers/qa/role.yml", "role: qa\n"),
        (
            ".jules/exchange/changes.yml",
            "from the default branch: never read\n",
        ),
    ])
}

fn ledger() -> Tree {
    Tree::from_texts([(
        ".jules/exchange/changes.yml",
        "schema_version: 1\n{{ role }}\n",
    )])
}

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn request<'a>(
    tree: &'a Tree,
    ledger: &'a Tree,
    variables: &'a BTreeMap<String, String>,
) -> Assembly<'a> {
    Assembly {
        layer: "observers",
        tree,
        ledger,
        variables,
        task: None,
        attached: &[],
        turn: "t1",
        now: now(),
        entropy: &[7; 32],
    }
}

fn now() -> Timestamp {
    "2026-01-05T10:00:00Z".parse().unwrap()
}

fn assembled(template: &str) -> Result<Assembled, String> {
    let (tree, ledger, variables) = (repository(template), ledger(), variables(&[("role", "qa")]));
    assemble_prompt(&request(&tree, &ledger, &variables)).map_err(|said| said.to_string())
}

fn paths(included: &[Include]) -> Vec<&str> {
    included.iter().map(|one| one.path.as_str()).collect()
}

#[test]
fn a_layer_gets_its_sections_in_order_after_the_rules() {
    let made = assembled(TEMPLATE).unwrap();
    let at = |text: &str| {
        made.prompt
            .find(text)
            .unwrap_or_else(|| panic!("{text}\n{}", made.prompt))
    };
    let order = [
        "---\n# Rules for all layers\nThese rules hold",
        "---\n# Role\nrole: qa\n",
        "---\n# Layer Contracts\nlayer: observers\n",
        "---\n# Task: Observe\nid: observe\n",
        "---\n# Memory\n",
        "observer: qa\n",
        "---\n# Change Summary\n",
        "schema_version: 1\n{{ role }}\n",
    ];
    assert_eq!(at(order[0]), 0);
    assert!(
        order.windows(2).all(|pair| at(pair[0]) < at(pair[1])),
        "{}",
        made.prompt
    );
    assert!(!made.prompt.contains("never read"), "{}", made.prompt);
    assert_eq!(
        paths(&made.included),
        [
            ".jules/JULES.md",
            ".jlo/roles/observers/qa/role.yml",
            ".jules/layers/observers/contracts.yml",
            ".jules/layers/observers/tasks/observe.yml",
            ".jules/workstations/qa/perspective.yml",
            ".jules/exchange/changes.yml",
        ]
    );
    assert_eq!(
        assembled(TEMPLATE).unwrap(),
        made,
        "the same request gives the same bytes"
    );
}

/// Untrusted texts are enclosed by an unpredictable boundary.
#[test]
fn what_agents_wrote_is_fenced() {
    let made = assembled(TEMPLATE).unwrap();
    for path in [
        ".jules/workstations/qa/perspective.yml",
        ".jules/exchange/changes.yml",
    ] {
        assert!(
            made.prompt
                .contains(&format!("(the file {path}) was written by others")),
            "{}",
            made.prompt
        );
    }
    assert!(!made.prompt.contains("(the file .jlo/"), "{}", made.prompt);
}

/// Files that agents write on the default branch are fenced and read from there.
#[test]
fn tasks_sprints_and_journals_are_read_from_the_default_branch() {
    let paths = [
        ".jules/tasks/todo/a.md",
        ".jules/sprints/sprint-1/plan.md",
        ".jules/personas/a/journals/2026-01-05.md",
    ];
    for path in paths {
        for function in ["include_required", "include_optional"] {
            let mut tree = repository(&format!("{{{{ {function}(\"{path}\") }}}}"));
            tree.insert_text(path, "from the default branch\n");
            let (ledger, variables) = (ledger(), variables(&[]));
            let made = assemble_prompt(&request(&tree, &ledger, &variables)).unwrap();
            let fenced = format!("(the file {path}) was written by others");
            assert!(
                made.prompt.contains("\nfrom the default branch\n</data-")
                    && made.prompt.contains(&fenced),
                "{path}: {}",
                made.prompt
            );
            assert_eq!(made.skipped, []);
        }
        let mut tree = repository(&format!("{{{{ include_required(\"{path}\") }}}}"));
        tree.insert_text(".jules/layers/observers/schemas/a.md", "x");
        let (mut ledger, variables) = (ledger(), variables(&[]));
        ledger.insert_text(path, "from the ledger: never read\n");
        let said = assemble_prompt(&request(&tree, &ledger, &variables)).unwrap_err();
        assert!(said.to_string().contains("there is no file"), "{said}");
    }
}

#[test]
fn a_missing_memory_is_seeded_and_nothing_is_written() {
    let made = assembled(TEMPLATE).unwrap();
    let seed = Seed {
        to: ".jules/workstations/qa/perspective.yml".to_owned(),
        text: crate::exchange::seed_text(crate::exchange::Owner::Observer("qa"), now()),
        required: true,
    };
    assert!(
        made.prompt.contains("# 1 to 3 goals\nobserver: qa\n"),
        "{}",
        made.prompt
    );
    let origin = |made: &Assembled| {
        let memory = made.included.iter().find(|one| one.path == seed.to);
        memory.unwrap().from.clone()
    };
    let schema = ".jules/layers/observers/schemas/perspective.yml".to_owned();
    assert_eq!(origin(&made), Origin::Schema(schema.clone()));
    assert_eq!(made.seeds, std::slice::from_ref(&seed));
    // Without a schema, the prompt shows the memory's initial text.
    let bare: Vec<(String, String)> = repository(TEMPLATE)
        .iter()
        .filter(|(path, _)| *path != schema)
        .map(|(path, entry)| (path.to_owned(), entry.text.as_deref().unwrap().to_owned()))
        .collect();
    let tree = Tree::from_texts(bare);
    let (given, empty) = (variables(&[("role", "qa")]), Tree::new());
    let made = assemble_prompt(&request(&tree, &empty, &given)).unwrap();
    assert_eq!(origin(&made), Origin::Seed);
    assert!(made.prompt.contains(&seed.text), "{}", made.prompt);
    assert_eq!(made.seeds, [seed]);
    let optional =
        assembled("{{ include_optional(\".jules/workstations/qa/perspective.yml\") }}").unwrap();
    assert!(!optional.seeds[0].required);
    // Once the ledger has the file, it is used.
    let mut ledger = ledger();
    ledger.insert_text(
        ".jules/workstations/qa/perspective.yml",
        "observer: qa\ngoals: [x]\n",
    );
    let (tree, variables) = (repository(TEMPLATE), variables(&[("role", "qa")]));
    let made = assemble_prompt(&request(&tree, &ledger, &variables)).unwrap();
    assert!(
        made.seeds.is_empty() && made.prompt.contains("goals: [x]"),
        "{}",
        made.prompt
    );
    // Only the role's own memory is created. For a summary or another role's memory the prompt shows the schema at
    // most.
    let mut tree = repository(
        "{{ include_optional(\".jules/exchange/changes.yml\") }}{{ include_optional(\".jules/workstations/dev/perspective.yml\") }}",
    );
    let changes = ".jules/layers/observers/schemas/changes.yml";
    tree.insert_text(changes, "created_at: <when>\n");
    let made = assemble_prompt(&request(&tree, &Tree::new(), &variables)).unwrap();
    assert_eq!(made.seeds, []);
    assert_eq!(made.included[1].from, Origin::Schema(changes.to_owned()));
    // Only files of the ledger are created.
    let said = assembled("{{ include_required(\".jlo/perspective.yml\") }}").unwrap_err();
    assert!(
        said.contains("there is no file `.jlo/perspective.yml`"),
        "{said}"
    );
}

#[test]
fn what_may_be_missing_is_told_as_skipped() {
    let made = assembled(
        "{{ section(\"A\", include_optional(\".jules/gone.yml\")) }}x{{ section(\"B\", \" \\n\") }}\n{{ include_required(\"./.jules/JULES.md\") }}\n",
    )
    .unwrap();
    assert!(
        made.prompt.ends_with("\nx\n")
            && !made.prompt.contains("# A")
            && !made.prompt.contains("# B"),
        "{}",
        made.prompt
    );
    let skipped: Vec<_> = made
        .skipped
        .iter()
        .map(|one| (one.path.as_str(), one.reason.as_str()))
        .collect();
    assert_eq!(
        skipped,
        [
            (".jules/gone.yml", "there is no such file"),
            (
                ".jules/JULES.md",
                "it is the first section of every prompt already"
            ),
        ]
    );
    assert_eq!(made.prompt.matches("# Rules for all layers").count(), 1);
}

#[test]
fn a_repository_s_own_rules_go_before_ours() {
    let mut tree = repository("body");
    tree.insert_text(".jules/JULES.md", "Ours.\n");
    let (ledger, variables) = (ledger(), variables(&[]));
    let made = assemble_prompt(&request(&tree, &ledger, &variables)).unwrap();
    assert_eq!(made.prompt, "---\n# Rules for all layers\nOurs.\n\nbody\n");
    assert_eq!(made.included[0].from, Origin::Repository);
    let made = assemble_prompt(&request(&repository("body"), &ledger, &variables)).unwrap();
    assert_eq!(made.included[0].from, Origin::BuiltIn);
}

#[test]
fn a_file_can_be_asked_for() {
    let ask = |path: &str| {
        let template = format!("{{% if file_exists(\"{path}\") %}}[there]{{% endif %}}.");
        assembled(&template).unwrap().prompt.contains("[there]")
    };
    assert!(ask(".jlo/roles/observers/qa/role.yml") && ask("./.jules/exchange/changes.yml"));
    for path in [
        ".jules/gone.yml",
        "../x",
        "/etc/passwd",
        ".jules/../.jlo/roles/observers/qa/role.yml",
        "src/main.rs",
        "",
    ] {
        assert!(!ask(path), "{path}");
    }
}

#[test]
fn a_task_is_text_and_name_and_a_missing_one_names_its_place() {
    let tree = repository("{{ task_name }}: {{ task }}");
    let (ledger, variables) = (ledger(), variables(&[]));
    let ask = |task| {
        assemble_prompt(&Assembly {
            task: Some(task),
            ..request(&tree, &ledger, &variables)
        })
    };
    assert!(
        ask("observe")
            .unwrap()
            .prompt
            .ends_with("observe: id: observe\n")
    );
    let said = ask("bugs").unwrap_err().to_string();
    assert_eq!(
        said,
        ".jules/layers/observers/tasks/bugs.yml: error: there is no task `bugs`; write this file"
    );
    for task in ["", "../contracts", "a/b"] {
        assert!(
            ask(task)
                .unwrap_err()
                .to_string()
                .contains("cannot be a task's name"),
            "{task}"
        );
    }
    assert!(
        ask("..")
            .unwrap_err()
            .to_string()
            .contains("there is no task")
    );
}

#[test]
fn what_a_turn_is_about_is_fenced_below() {
    let tree = repository("body");
    let (ledger, variables) = (ledger(), variables(&[]));
    let attached = [Attached {
        title: "Requirement Content",
        what: "the file r.yml",
        text: "id: \"abc123\"\n",
    }];
    let made = assemble_prompt(&Assembly {
        attached: &attached,
        ..request(&tree, &ledger, &variables)
    })
    .unwrap();
    let (_, below) = made
        .prompt
        .split_once("body\n\n---\n# Requirement Content\n")
        .unwrap();
    assert!(
        below.starts_with("What stands between <data-")
            && below.contains("\nid: \"abc123\"\n</data-"),
        "{below}"
    );
}

/// Layers without roles have several turns in one tick.
#[test]
fn prompts_of_one_tick_have_boundaries_of_their_own() {
    let tree = repository("body");
    let (ledger, variables) = (ledger(), variables(&[]));
    let attached = [Attached {
        title: "Requirement",
        what: "the file r.yml",
        text: "x",
    }];
    let boundary = |turn| {
        let whole = Assembly {
            attached: &attached,
            turn,
            ..request(&tree, &ledger, &variables)
        };
        let prompt = assemble_prompt(&whole).unwrap().prompt;
        prompt.split_once("<data-").unwrap().1[..16].to_owned()
    };
    assert_ne!(boundary("t1"), boundary("t2"));
    assert_eq!(boundary("t1"), boundary("t1"));
}

#[test]
fn layers_are_found_in_every_spelling_and_place() {
    for (path, layer) in [
        (".jules/layers/decider/decider_prompt.j2", "deciders"),
        (".jules/roles/decider/decider_prompt.j2", "decider"),
        (".jules/roles/deciders/deciders_prompt.j2", "decider"),
        (".jules/layers/observers/observers_prompt.j2", "observer"),
    ] {
        let tree = Tree::from_texts([(path, "body")]);
        let (ledger, variables) = (Tree::new(), variables(&[]));
        let made = assemble_prompt(&Assembly {
            layer,
            ..request(&tree, &ledger, &variables)
        });
        assert!(made.unwrap().prompt.ends_with("body\n"), "{path}");
    }
    let (tree, ledger, variables) = (Tree::new(), Tree::new(), variables(&[]));
    let ask = |layer| {
        assemble_prompt(&Assembly {
            layer,
            ..request(&tree, &ledger, &variables)
        })
        .unwrap_err()
        .to_string()
    };
    assert!(ask("planner").starts_with(
        ".jules/layers/planner/planner_prompt.j2: error: the layer `planner` has no prompt"
    ));
    assert!(ask("planer").contains("did you mean `planner`?"));
    assert!(ask("x").contains("the layers are narrator"));
}

const ASSEMBLY: &str = "\
schema_version: 1
layer: observers
runtime_context:
  workstream: the stream
  role: the role
includes:
  - title: Role
    path: .jules/roles/observers/roles/{{role}}/role.yml
  - title: Layer Contracts
    path: .jules/roles/observers/contracts.yml
  - title: Change Summary
    path: .jules/changes/latest.yml
    optional: true
  - title: Memory
    path: .jules/workstreams/{{ workstream }}/workstations/{{role}}/perspective.yml
";
