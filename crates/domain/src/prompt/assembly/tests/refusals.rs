//! Tests the files that no template may read, and the positions of errors.

use super::super::super::limits::{
    FUEL_LIMIT_STEPS, PROMPT_LIMIT_BYTES, RECURSION_LIMIT, TEMPLATE_LIMIT_BYTES,
};
use super::{OBSERVERS, assemble_prompt, assembled, ledger, repository, request, variables};
use crate::model::{Entry, Mode};

#[test]
fn paths_that_lead_out_are_refused_even_where_they_are_optional() {
    for function in ["include_required", "include_optional"] {
        for (path, why) in [
            ("../x", "contains `..`"),
            (".jules/../../x", "contains `..`"),
            ("/etc/passwd", "absolute"),
            ("C:/x", "absolute"),
            (".jules\\\\x", "backslash"),
            (".jules/a\\u0000", "control character"),
            ("src/main.rs", "outside of"),
            ("", "not a plain path"),
        ] {
            let said = assembled(&format!("\n{{{{ {function}(\"{path}\") }}}}")).unwrap_err();
            assert!(
                said.starts_with(&format!("{OBSERVERS}:2:4: error")) && said.contains(why),
                "{path}: {said}"
            );
        }
    }
}

#[test]
fn links_are_refused_and_what_cannot_be_read_is_skipped_where_it_may() {
    let odd = |mode, path: &str, asked: &str, function: &str| {
        let mut tree = repository(&format!("{{{{ {function}(\"{asked}\") }}}}ok"));
        let entry = Entry {
            mode,
            oid: String::new(),
            size: 1,
            text: None,
        };
        tree.insert(path, entry);
        let (ledger, variables) = (ledger(), variables(&[]));
        assemble_prompt(&request(&tree, &ledger, &variables)).map_err(|said| said.to_string())
    };
    for function in ["include_required", "include_optional"] {
        let said = odd(Mode::Link, ".jlo/x", ".jlo/x", function).unwrap_err();
        assert!(said.contains("`.jlo/x` is a symbolic link"), "{said}");
        let said = odd(Mode::Link, ".jlo/x", ".jlo/x/y.yml", function).unwrap_err();
        assert!(said.contains("`.jlo/x` is a symbolic link"), "{said}");
    }
    let said = odd(Mode::File, ".jlo/x", ".jlo/x/y.yml", "include_required").unwrap_err();
    assert!(said.contains("`.jlo/x` is not a folder"), "{said}");
    for (mode, why) in [
        (Mode::File, "`.jlo/x` is not text in UTF-8"),
        (Mode::Submodule, "`.jlo/x` is a submodule"),
        (Mode::Special, "`.jlo/x` is not a file"),
        (Mode::Folder, "`.jlo/x` is a folder"),
    ] {
        let said = odd(mode, ".jlo/x", ".jlo/x", "include_required").unwrap_err();
        assert!(said.contains(why), "{said}");
        let made = odd(mode, ".jlo/x", ".jlo/x", "include_optional").unwrap();
        assert!(made.skipped[0].reason.contains(why), "{made:?}");
    }
    let big = format!("x{}", "y".repeat(TEMPLATE_LIMIT_BYTES));
    let mut tree = repository("{{ include_required(\".jlo/x\") }}");
    tree.insert_text(".jlo/x", &big);
    let (ledger, variables) = (ledger(), variables(&[]));
    let said = assemble_prompt(&request(&tree, &ledger, &variables)).unwrap_err();
    let most = format!("larger than {TEMPLATE_LIMIT_BYTES} bytes");
    assert!(said.to_string().contains(&most), "{said}");
}

#[test]
fn the_first_mistake_is_told_with_the_templates_that_lead_to_it() {
    let said = assembled("a\n{% include \".jules/layers/observers/parts/outer.j2\" %}\n{{ include_required(\".jules/later\") }}").unwrap_err();
    assert_eq!(
        said,
        ".jules/layers/observers/parts/more.j2:1:9: error: there is no file `.jules/gone.yml` \
         (used by `.jules/layers/observers/parts/outer.j2`:2, used by `.jules/layers/observers/observers_prompt.j2`:2); \
         write it, or use `include_optional` where it may be missing"
    );
    let steps = format!("the template takes more than {FUEL_LIMIT_STEPS} steps");
    for (template, begins, has) in [
        ("x\n{{ rol }}", ":2:4: error", "did you mean `role`?"),
        ("{{ task }}", ":1:4: error", "this prompt is given role"),
        (
            "{{ sectoin(\"a\", \"b\") }}",
            ":1:4: error",
            "did you mean `section`?",
        ),
        ("{% if x %}", ":1:", "close every"),
        (
            "{% include \".jules/layers/x.j2\" %}",
            ":1:",
            "repository's root",
        ),
        (
            "{% include \".jules/exchange/changes.yml\" %}",
            ":1:",
            "written by agents",
        ),
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            "",
            &steps,
        ),
    ] {
        let said = assembled(template).unwrap_err();
        assert!(
            said.starts_with(&format!("{OBSERVERS}{begins}")) && said.contains(has),
            "{template}: {said}"
        );
    }
    let said = assembled("{% include \".jules/layers/observers/parts/self.j2\" %}").unwrap_err();
    let levels = format!("include each other more than {RECURSION_LIMIT} levels deep");
    assert!(said.contains(&levels), "{said}");
    let nested = format!("{{{{ {}1{} }}}}", "(".repeat(200), ")".repeat(200));
    let said = assembled(&nested).unwrap_err();
    assert!(said.contains("nested too deep"), "{said}");
    assert!(!said.contains("levels deep"), "{said}");
    let said = assembled(
        "{% for a in range(2000) %}{{ include_required(\".jlo/roles/observers/qa/role.yml\") * 9 }}{% endfor %}",
    );
    assert!(said.is_err());
    let said = assembled("{% for a in range(9000) %}{{ include_required(\".jlo/roles/observers/qa/role.yml\") }}12345678901234567890{% endfor %}").unwrap_err();
    let prompt = format!("the prompt gets longer than {PROMPT_LIMIT_BYTES} bytes");
    assert!(said.contains(&prompt) || said.contains(&steps), "{said}");
}
