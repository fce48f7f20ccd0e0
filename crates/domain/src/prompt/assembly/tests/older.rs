//! Tests the older form of a layer's template, which is compiled to the newer one.

use super::{ASSEMBLY, Assembled, Tree, assemble_prompt, request, variables};

fn older(base: &str, assembly: &str, given: &[(&str, &str)]) -> Result<Assembled, String> {
    let tree = Tree::from_texts([
        (".jules/roles/observers/prompt.yml", base),
        (".jules/roles/observers/prompt_assembly.yml", assembly),
        (".jules/roles/observers/contracts.yml", "layer: observers\n"),
        (".jules/roles/observers/roles/qa/role.yml", "role: qa\n"),
        (
            ".jules/roles/observers/schemas/perspective.yml",
            "observer: <role>\n",
        ),
    ]);
    let (ledger, variables) = (Tree::new(), variables(given));
    assemble_prompt(&request(&tree, &ledger, &variables)).map_err(|said| said.to_string())
}

/// The older pair and an equivalent template give the same prompt.
#[test]
fn the_older_form_compiles_to_the_same() {
    let given = [("role", "qa"), ("workstream", "generic")];
    let made = older("role: {{ role }}\nlayer: observers\n", ASSEMBLY, &given).unwrap();
    let template = "\
role: {{ role }}
layer: observers

{{ section(\"Role\", include_required(\".jules/roles/observers/roles/\" ~ role ~ \"/role.yml\")) }}

{{ section(\"Layer Contracts\", include_required(\".jules/roles/observers/contracts.yml\")) }}


{{ section(\"Memory\", include_required(\".jules/workstreams/\" ~ workstream ~ \"/workstations/\" ~ role ~ \"/perspective.yml\")) }}
";
    let tree = Tree::from_texts([
        (".jules/roles/observers/observers_prompt.j2", template),
        (".jules/roles/observers/contracts.yml", "layer: observers\n"),
        (".jules/roles/observers/roles/qa/role.yml", "role: qa\n"),
        (
            ".jules/roles/observers/schemas/perspective.yml",
            "observer: <role>\n",
        ),
    ]);
    let (ledger, variables) = (Tree::new(), variables(&given));
    let same = assemble_prompt(&request(&tree, &ledger, &variables)).unwrap();
    let sections = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(sections(&made.prompt), sections(&same.prompt));
    assert!(
        made.prompt
            .contains("layer: observers\n\n---\n# Role\nrole: qa\n"),
        "{}",
        made.prompt
    );
    assert_eq!(made.skipped[0].path, ".jules/changes/latest.yml");
    assert_eq!((made.included, made.seeds), (same.included, same.seeds));
}

/// A variable may have any name that the compiled template could use itself.
#[test]
fn a_variable_of_the_older_form_is_the_same_in_each_include() {
    let assembly = "\
runtime_context:
  part: the part
includes:
  - title: One
    path: .jules/roles/observers/{{part}}.yml
  - title: Two
    path: .jules/roles/observers/{{part}}.yml
";
    let made = older("x\n", assembly, &[("part", "contracts")]).unwrap();
    assert_eq!(made.prompt.matches("\nlayer: observers\n").count(), 2);
}

/// Seed 000 has `prompt.yml` beside `contracts.yml`, and no `prompt_assembly.yml`.
fn alone(base: &str, given: &[(&str, &str)]) -> Result<Assembled, String> {
    let tree = Tree::from_texts([
        (".jules/roles/observers/prompt.yml", base),
        (".jules/roles/observers/contracts.yml", "branch_prefix: x\n"),
        (".jules/roles/observers/qa/role.yml", "focus: Tests\n"),
        (".jules/JULES.md", "Be kind.\n"),
    ]);
    let (ledger, variables) = (Tree::new(), variables(given));
    assemble_prompt(&request(&tree, &ledger, &variables)).map_err(|said| said.to_string())
}

#[test]
fn a_prompt_that_stands_alone_puts_in_the_contracts_that_it_lists() {
    let listed = "\
role: {{ role }}
contracts:
  - .jules/JULES.md
  - .jules/roles/observers/contracts.yml
  - \".jules/roles/observers/{{role}}/role.yml\"
instructions: [Work.]
";
    let listed = listed.replace("role: {{ role }}", "role: qa");
    let made = alone(&listed, &[("role", "qa")]).unwrap();
    for has in [
        "\nrole: qa\n",
        "- Work.\n",
        "# Layer Contracts\nbranch_prefix: x\n",
        "# Role\nfocus: Tests\n",
    ] {
        let has = has.replace("- Work.", "instructions: [Work.]");
        assert!(made.prompt.contains(&has), "{has}\n{}", made.prompt);
    }
    assert_eq!(
        made.prompt.matches("Be kind.").count(),
        1,
        "{}",
        made.prompt
    );
    let made = alone("instructions: [Work.]\n", &[]).unwrap();
    assert!(
        made.prompt
            .contains("# Layer Contracts\nbranch_prefix: x\n")
    );
}

#[test]
fn mistakes_in_a_prompt_that_stands_alone_have_their_place() {
    const FILE: &str = ".jules/roles/observers/prompt.yml";
    for (text, begins) in [
        (
            "contracts:\n  - .jules/roles/observers/gone.yml\n",
            ":2:5: error: there is no file `.jules/roles/observers/gone.yml` (at contracts[0]); write it",
        ),
        ("contracts:\n  - \".jules/{{rol}}/x.yml\"\n", ":2:"),
        (
            "contracts: x\n",
            ":1:12: error: this is not a list (at contracts)",
        ),
        (
            "contracts:\n  - [x]\n",
            ":2:5: error: this is not a path (at contracts[0])",
        ),
        ("layer: observers\nrole: \"{{ rol }}\"\n", ":2:11: error"),
        ("contracts: `x`\n", ":1:12: error: this is not YAML"),
    ] {
        let said = alone(text, &[("role", "qa")]).unwrap_err();
        assert!(said.starts_with(&format!("{FILE}{begins}")), "{text}{said}");
        assert!(!said.contains("used by"), "{said}");
    }
}

#[test]
fn mistakes_in_the_older_form_have_the_place_that_people_wrote() {
    const FILE: &str = ".jules/roles/observers/prompt_assembly.yml";
    let given = [("role", "qa"), ("workstream", "generic")];
    let said = older("x\n{{ rol }}\n", ASSEMBLY, &given).unwrap_err();
    assert!(
        said.starts_with(".jules/roles/observers/prompt.yml:2:4: error")
            && said.contains(&format!("used by `{FILE}`")),
        "{said}"
    );
    let said = older("x\n{% if role %}\n", ASSEMBLY, &given).unwrap_err();
    assert!(
        said.starts_with(".jules/roles/observers/prompt.yml:2:1: error: `{%` is not understood"),
        "{said}"
    );
    for (from, to, begins, has) in [
        (
            "contracts.yml",
            "gone.yml",
            ":10:11: error: there is no file `.jules/roles/observers/gone.yml` (at includes[1].path)",
            "write it",
        ),
        (
            "contracts.yml",
            "../../../x",
            ":10:11: error: the file name",
            "contains `..`",
        ),
        (
            "{{role}}/role.yml",
            "{{rol}}/role.yml",
            ":8:11: error",
            "did you mean `role`?",
        ),
        (
            "{{role}}/role.yml",
            "{{role/role.yml",
            ":8:11: error: this path cannot be understood (at includes[0].path)",
            "close",
        ),
        (
            "{{role}}/role.yml",
            "{{a b}}/role.yml",
            ":8:11: error: this path cannot",
            "one name",
        ),
        (
            "optional: true",
            "optional: maybe",
            ":13:15: error: this is neither true nor false (at includes[2].optional)",
            "",
        ),
        (
            "title: Role",
            "titel: Role",
            ":7:5: error: unknown key (at includes[0].titel)",
            "title",
        ),
        (
            "  role: the role",
            "  sprint: the sprint",
            ":5:3: error: this prompt is not given `sprint` (at runtime_context.sprint)",
            "",
        ),
        (
            "schema_version: 1",
            "schema_version: 2",
            ":1:17: error: this version is not known",
            "schema_version: 1",
        ),
        (
            "layer: observers",
            "layer: planners",
            ":2:8: error: this is not the layer of the folder",
            "layer: observers",
        ),
        (
            "includes:",
            "include:",
            ":6:1: error: unknown key `include`",
            "includes",
        ),
        (
            "  - title: Role\n    path: .jules/roles/observers/roles/{{role}}/role.yml\n",
            "  - Role\n",
            ":7:5: error: this is not an include",
            "",
        ),
        (
            "    path: .jules/changes/latest.yml\n",
            "",
            ":11:5: error: an include needs both",
            "path",
        ),
    ] {
        let said = older("x\n", &ASSEMBLY.replacen(from, to, 1), &given).unwrap_err();
        assert!(
            said.starts_with(&format!("{FILE}{begins}")) && said.contains(has),
            "{to}: {said}"
        );
    }
    let many: String = (0..101)
        .map(|n| format!("- {{title: a, path: .jules/{n}}}\n"))
        .collect();
    let said = older("x\n", &format!("includes:\n{many}"), &given).unwrap_err();
    assert!(said.contains("more than 100 files"), "{said}");
}
