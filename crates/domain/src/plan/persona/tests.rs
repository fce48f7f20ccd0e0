use super::*;
use crate::Diagnostic;
use crate::model::{Entry, Mode, Tree};
use crate::plan::{
    Automation, Branch, PERSONAS_FOLDER, PlanApproval, Policy, Priority, SCHEDULES_PATH,
};

/// One persona's folder and prompt.
fn read_one(folder: &str, text: &str) -> (Option<Persona>, Vec<Diagnostic>) {
    let path = format!("{PERSONAS_FOLDER}/{folder}/prompt.md.j2");
    let (mut personas, diagnostics) = read_personas(&Tree::from_texts([(path.as_str(), text)]));
    for diagnostic in &diagnostics {
        assert_eq!(diagnostic.file, path);
    }
    (personas.remove(folder), diagnostics)
}

/// The only mistake of a persona that is dropped: line, column and message.
#[track_caller]
fn refused(folder: &str, text: &str) -> (u32, u32, String) {
    let (persona, diagnostics) = read_one(folder, text);
    assert_eq!(persona, None);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    let only = &diagnostics[0];
    assert!(only.is_error() && !only.help.is_empty());
    (
        only.line.unwrap_or(0),
        only.column.unwrap_or(0),
        only.message.clone(),
    )
}

#[test]
fn everything_that_a_persona_may_say_is_understood() {
    let text = "---\nid: bolt\nemoji: \"⚡\"\ndescription: Makes it fast\ntitle: \"{{ emoji }} go\"\nscheduled: false\nsensitive: true\nplan_approval: never\nautomation: none\nbranch: persona\npriority: critical\npaths: [\"src/**\", docs/a.md]\nhired_by: franklin\ndedupe: true\npronouns: they\n---\n\n# Bolt\n";
    let (persona, diagnostics) = read_one("bolt", text);
    assert_eq!(diagnostics, []);
    let persona = persona.unwrap();
    assert_eq!(
        (persona.id.as_str(), persona.emoji.as_str()),
        ("bolt", "⚡")
    );
    assert_eq!(persona.description, "Makes it fast");
    assert_eq!(persona.title.as_deref(), Some("{{ emoji }} go"));
    assert_eq!((persona.scheduled, persona.sensitive), (false, Some(true)));
    assert_eq!(persona.plan_approval, Some(PlanApproval::Never));
    assert_eq!(persona.automation, Some(Automation::None));
    assert_eq!(persona.branch, Some(Branch::Persona));
    assert_eq!(persona.priority, Some(Priority::Critical));
    assert_eq!(persona.paths, ["src/**", "docs/a.md"]);
    assert_eq!(
        (persona.body.as_str(), persona.body_line),
        ("\n# Bolt\n", 17)
    );
    assert_eq!(persona.frontmatter["hired_by"], "franklin");
    assert_eq!(persona.frontmatter.len(), 14);
}

#[test]
fn missing_keys_stay_unset() {
    let (persona, diagnostics) = read_one("bolt", "---\nid: bolt\nemoji:\n---\n");
    assert_eq!(diagnostics, []);
    let persona = persona.unwrap();
    assert_eq!(
        (persona.emoji.as_str(), persona.description.as_str()),
        ("", "")
    );
    assert!(persona.scheduled);
    assert_eq!(persona.sensitive, None);
    assert_eq!(
        persona.overrides().over(&Policy::default()),
        Policy::default()
    );
}

#[test]
fn older_keys_are_understood() {
    for (line, check) in [
        (
            "require_plan_approval: true",
            (Some(PlanApproval::Writers), None, true),
        ),
        (
            "require_plan_approval: false",
            (Some(PlanApproval::Auto), None, true),
        ),
        (
            "automation_mode: AUTO_CREATE_PR",
            (None, Some(Automation::PullRequest), true),
        ),
        (
            "automation_mode: MANUAL",
            (None, Some(Automation::None), true),
        ),
        (
            "automation_mode: NONE",
            (None, Some(Automation::None), true),
        ),
        ("enabled: false", (None, None, false)),
        ("enabled: true", (None, None, true)),
        ("enabled: false\nscheduled: true", (None, None, false)),
    ] {
        let (persona, diagnostics) = read_one("a", &format!("---\nid: a\n{line}\n---\n"));
        assert_eq!(diagnostics, [], "{line}");
        let persona = persona.unwrap();
        assert_eq!(
            (persona.plan_approval, persona.automation, persona.scheduled),
            check,
            "{line}"
        );
    }
}

#[test]
fn what_works_but_not_as_meant_is_a_warning() {
    for (lines, line, message) in [
        ("schedule: \"0 * * * *\"", 3, "`schedule` is not read here"),
        (
            "require_plan_approval: true\nplan_approval: auto",
            3,
            "`plan_approval` contradicts `require_plan_approval` and wins",
        ),
        (
            "automation: none\nautomation_mode: AUTO_CREATE_PR",
            4,
            "`automation` contradicts `automation_mode` and wins",
        ),
    ] {
        let (persona, diagnostics) = read_one("a", &format!("---\nid: a\n{lines}\n---\n"));
        assert!(persona.is_some());
        assert_eq!(diagnostics.len(), 1);
        assert!(!diagnostics[0].is_error());
        assert_eq!(
            (diagnostics[0].line, diagnostics[0].message.as_str()),
            (Some(line), message)
        );
    }
}

#[test]
fn mistakes_in_the_frontmatter_drop_the_persona() {
    for (text, expected) in [
        ("", (1, 1, "the prompt does not begin with frontmatter")),
        (
            "# Bolt\n",
            (1, 1, "the prompt does not begin with frontmatter"),
        ),
        (
            "---\nid: a\n",
            (
                1,
                1,
                "the frontmatter has no end: a second line `---` is missing",
            ),
        ),
        ("---\n---\n", (2, 1, "the frontmatter has no `id`")),
        (
            "---\nemoji: x\n---\n",
            (2, 1, "the frontmatter has no `id`"),
        ),
        (
            "---\nid: b\n---\n",
            (2, 5, "the id `b` is not the name of its folder, `a`"),
        ),
        ("---\nid: 5\n---\n", (2, 5, "`id` is the number 5")),
        ("---\nid:\n---\n", (2, 4, "`id` is empty")),
        ("---\nid: a\nemoji: [x]\n---\n", (3, 8, "`emoji` is a list")),
        (
            "---\nid: a\nscheduled: no\n---\n",
            (3, 12, "`scheduled` is the text `no`"),
        ),
        (
            "---\nid: a\nsensitive: 1\n---\n",
            (3, 12, "`sensitive` is the number 1"),
        ),
        (
            "---\nid: a\nplan_approval: none\n---\n",
            (3, 16, "unknown value `none`"),
        ),
        (
            "---\nid: a\nautomation_mode: auto\n---\n",
            (3, 18, "unknown value `auto`"),
        ),
        (
            "---\nid: a\nbranch: jules\n---\n",
            (
                3,
                9,
                "sessions cannot start on `jules`, the branch of the ledger",
            ),
        ),
        (
            "---\nid: a\npriority: urgent\n---\n",
            (3, 11, "unknown value `urgent`"),
        ),
        (
            "\n\n---\nid: a\nx: \"a\" b\n---\n",
            (5, 8, "did not find expected key"),
        ),
        (
            "---\nid: a\nlabels: [a, b\ndescription: c\n---\n",
            (3, 9, "what begins here is never closed"),
        ),
        (
            "---\nid: a\nx: {a: 1\n---\n",
            (3, 4, "what begins here is never closed"),
        ),
    ] {
        let (line, column, message) = refused("a", text);
        assert_eq!((line, column, message.as_str()), expected, "{text}");
    }
}

/// A key that is nearly one that counts may have let a persona run where it must not.
#[test]
fn a_misspelled_key_is_reported() {
    let of = |head: &str| read_one("a", &format!("---\nid: a\n{head}\n---\nDo it.\n"));
    for (line, meant) in [
        ("sensitve: true", "sensitive"),
        ("Sensitive: true", "sensitive"),
        ("shceduled: false", "scheduled"),
        ("plan-approval: never", "plan_approval"),
    ] {
        let (persona, found) = of(line);
        assert!(persona.is_some(), "it is a warning");
        let [one] = &found[..] else {
            panic!("{line}: {found:?}")
        };
        assert!(!one.is_error() && one.line == Some(3), "{one}");
        let key = line.split(':').next().unwrap();
        assert_eq!(one.message, format!("unknown key `{key}`"));
        assert!(
            one.help.contains(&format!("did you mean `{meant}`?")),
            "{one}"
        );
    }
    // An own name, and a name beside the one that it resembles.
    for line in ["focus: speed", "pronouns: they", "title: A\ntitles: B"] {
        assert_eq!(of(line).1, [], "{line}");
    }
}

#[test]
fn all_mistakes_of_a_persona_are_reported() {
    let (_, diagnostics) = read_one("a", "---\nemoji: 1\nscheduled: x\npriority: y\n---\n");
    assert_eq!(diagnostics.len(), 4);
}

#[test]
fn ids_follow_their_rules() {
    for id in ["a", "docs_curator", "A-1", "9", &"x".repeat(MAX_ID_BYTES)] {
        assert!(
            read_one(id, &format!("---\nid: \"{id}\"\n---\n"))
                .0
                .is_some(),
            "{id}"
        );
    }
    for id in ["-a", "a b", "a.b", "ação", &"x".repeat(MAX_ID_BYTES + 1)] {
        assert!(
            refused(id, &format!("---\nid: \"{id}\"\n---\n"))
                .2
                .contains("cannot be a persona's id"),
            "{id}"
        );
    }
    for id in super::super::RESERVED_IDS {
        assert!(
            refused(id, &format!("---\nid: {id}\n---\n"))
                .2
                .contains("is a command"),
            "{id}"
        );
    }
}

fn prompt(id: &str) -> String {
    format!("---\nid: {id}\n---\n")
}

fn read_files(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let files = files
        .iter()
        .map(|(path, text)| (format!("{PERSONAS_FOLDER}/{path}"), *text));
    let (personas, diagnostics) = read_personas(&Tree::from_texts(files));
    (
        personas
            .values()
            .map(|persona| persona.path.clone())
            .collect(),
        diagnostics
            .iter()
            .map(|d| format!("{}: {}", d.file, d.message))
            .collect(),
    )
}

#[test]
fn folders_that_hold_something_else_are_no_personas() {
    let a = prompt("a");
    let (paths, said) = read_files(&[
        ("_archived/old/prompt.md", &a),
        ("_archived/prompt.md", &a),
        (".hidden/prompt.md", &a),
        ("blocks/prompt.md", &a),
        ("partials/x.md.j2", &a),
        ("gone/journals/2026-01-01-0000-x.md", &a),
        ("README.md", &a),
        ("a/prompt.md", &a),
    ]);
    assert_eq!(
        (paths, said),
        (vec![".jules/personas/a/prompt.md".to_owned()], vec![])
    );
}

#[test]
fn the_template_counts_before_the_plain_file() {
    let a = prompt("a");
    let (paths, said) = read_files(&[("a/prompt.md", &a), ("a/prompt.md.j2", &a)]);
    assert_eq!(paths, [".jules/personas/a/prompt.md.j2"]);
    assert_eq!(
        said,
        [".jules/personas/a/prompt.md: `prompt.md.j2` counts, this file is not read"]
    );
}

#[test]
fn a_prompt_that_was_renamed_away_is_off() {
    for name in [
        "prompt.md.j2.disabled",
        "prompt.md.j2.bak",
        "prompt.md.j2.off",
        "prompt.md.j2.old",
        "prompt.md.DISABLED",
        "prompt.md.orig",
        "prompt.md.j2~",
        "prompt.md.j2.2026-01-05",
        "prompt.disabled.md",
        "prompt-old.md.j2",
        "disabled_prompt.md",
        "_prompt.md.j2",
        "prompt (old).md",
    ] {
        let path = format!("a/{name}");
        let files = [(path.as_str(), "no frontmatter"), ("a/journals/1.md", "")];
        let tree =
            Tree::from_texts(files.map(|(path, text)| (format!("{PERSONAS_FOLDER}/{path}"), text)));
        let (personas, found) = read_personas(&tree);
        assert!(personas.is_empty());
        let [hint] = &found[..] else {
            panic!("{name}: {found:?}");
        };
        assert!(
            !hint.is_error() && hint.message.contains("switched off"),
            "{hint}"
        );
        // Beside a prompt that is in use it is nothing.
        let (paths, said) = read_files(&[(&path, "x"), ("a/prompt.md", &prompt("a"))]);
        assert_eq!((paths.len(), said), (1, vec![]), "{name}");
    }
    for folder in ["a.disabled", "a.off", "a.bak.2", "_a", ".a", "a~"] {
        let (paths, said) = read_files(&[(&format!("{folder}/prompt.md"), &prompt("a"))]);
        assert_eq!((paths, said), (vec![], vec![]), "{folder}");
    }
}

#[test]
fn a_plan_that_names_a_persona_that_is_off_says_what_to_rename() {
    for (prompt_file, rename) in [
        ("_a/prompt.md", "call its folder `a` again"),
        ("a.off/prompt.md.j2", "call its folder `a` again"),
        ("a/prompt.md.bak", "call its prompt `prompt.md.j2`"),
    ] {
        let text = prompt("a");
        let tree = Tree::from_texts([
            (format!("{PERSONAS_FOLDER}/{prompt_file}"), text.as_str()),
            (SCHEDULES_PATH.to_owned(), "cycle = [\"a\"]\n"),
        ]);
        let (_, found) = crate::plan::read(&tree);
        let named = found.iter().any(|one| one.to_string().contains(rename));
        assert!(named, "{prompt_file}: {found:?}");
    }
}

#[test]
fn a_prompt_with_a_slip_in_its_name_is_a_mistake() {
    for name in [
        "prompt.markdown",
        "prompt.md.txt",
        "prompt.md.jinja2",
        "prompt.j2.md",
        "prompts.md",
        "prompt",
    ] {
        let tree = Tree::from_texts([(format!("{PERSONAS_FOLDER}/a/{name}"), prompt("a"))]);
        let (_, found) = read_personas(&tree);
        assert!(found.len() == 1 && found[0].is_error(), "{name}: {found:?}");
    }
}

#[test]
fn merge_markers_are_called_so_wherever_they_stand() {
    let conflict = "<<<<<<< HEAD\nemoji: a\n=======\nemoji: b\n>>>>>>> other\n";
    for (text, line) in [
        (format!("---\nid: a\n{conflict}---\nBody\n"), 3),
        (format!("---\nid: a\nemoji: a\n---\nBody\n\n{conflict}"), 7),
        (format!("{conflict}---\nid: a\n---\nBody\n"), 1),
    ] {
        let (persona, found) = read_one("a", &text);
        assert!(persona.is_none());
        let [wrong] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(wrong.message.contains("merge markers"), "{wrong}");
        assert_eq!(wrong.line, Some(line));
    }
    let example = format!("---\nid: a\nemoji: a\n---\nA conflict looks so:\n```\n{conflict}```\n");
    assert!(read_one("a", &example).0.is_some());
}

#[test]
fn a_prompt_under_another_name_is_a_finding() {
    let (paths, said) = read_files(&[("a/Prompt.md", &prompt("a"))]);
    assert!(paths.is_empty());
    assert_eq!(
        said,
        [".jules/personas/a/Prompt.md: `Prompt.md` is not read as the prompt of `a`"]
    );
}

#[test]
fn folders_that_differ_in_case_only_are_not_read() {
    let (upper, lower, other) = (prompt("Bolt"), prompt("bolt"), prompt("a"));
    let (paths, said) = read_files(&[
        ("Bolt/prompt.md", &upper),
        ("bolt/prompt.md", &lower),
        ("a/prompt.md", &other),
    ]);
    assert_eq!(paths, [".jules/personas/a/prompt.md"]);
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn what_is_no_readable_file_is_a_finding() {
    let entry = |mode, size, text: Option<&str>| Entry {
        mode,
        oid: String::new(),
        size,
        text: text.map(Into::into),
    };
    let path = format!("{PERSONAS_FOLDER}/a/prompt.md");
    for (path, broken, word) in [
        (&path, entry(Mode::Link, 5, Some("x")), "link"),
        (&path, entry(Mode::Submodule, 0, None), "submodule"),
        (&path, entry(Mode::Special, 0, None), "not a file"),
        (
            &path,
            entry(Mode::File, MAX_PROMPT_BYTES + 1, Some("")),
            "larger",
        ),
        (&path, entry(Mode::File, 9, None), "UTF-8"),
        (
            &format!("{PERSONAS_FOLDER}/a"),
            entry(Mode::Link, 9, Some("x")),
            "link",
        ),
        (
            &format!("{PERSONAS_FOLDER}/a"),
            entry(Mode::Submodule, 0, None),
            "submodule",
        ),
    ] {
        let mut tree = Tree::new();
        tree.insert(path, broken);
        let (personas, diagnostics) = read_personas(&tree);
        assert!(personas.is_empty());
        assert_eq!(diagnostics.len(), 1);
        assert!(diagnostics[0].message.contains(word), "{}", diagnostics[0]);
    }
    let mut tree = Tree::new();
    let empty = entry(Mode::Folder, 0, None);
    tree.insert(format!("{PERSONAS_FOLDER}/notes.md"), empty);
    assert_eq!(read_personas(&tree).1, []);
}

#[test]
fn a_folder_in_the_place_of_a_prompt_is_named() {
    let path = format!("{PERSONAS_FOLDER}/a/prompt.md");
    let mut empty = Tree::new();
    let folder = Entry {
        mode: Mode::Folder,
        oid: String::new(),
        size: 0,
        text: None,
    };
    empty.insert(&path, folder);
    for tree in [empty, Tree::from_texts([(format!("{path}/b"), "")])] {
        let said = [format!(
            "{path}: error: the prompt is a folder; put a file here"
        )];
        let (personas, found) = read_personas(&tree);
        assert!(personas.is_empty());
        assert_eq!(Vec::from_iter(found.iter().map(ToString::to_string)), said);
        // The plan that names the persona does not call its prompt missing.
        let mut tree = tree;
        tree.insert_text(SCHEDULES_PATH, "cycle = [\"a\"]\n");
        let found = crate::plan::read(&tree).1;
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1].message, "the persona `a` cannot be read");
    }
}

#[test]
fn patterns_that_match_nothing_are_mistakes() {
    for (value, at, message) in [
        ("src/**", (3, 8), "`paths` is the text `src/**`"),
        ("{ a: b }", (3, 8), "`paths` is a map"),
        ("[7]", (3, 8), "a pattern of `paths` is the number 7"),
        ("[\"\"]", (3, 8), "an empty pattern matches nothing"),
        (
            "[/src]",
            (3, 8),
            "`/src` never matches a path of the repository",
        ),
        (
            "[\"a/../b\"]",
            (3, 8),
            "`a/../b` never matches a path of the repository",
        ),
        (
            "[\"src/[a\"]",
            (3, 8),
            "`src/[a` is not a path pattern: unclosed character class; missing ']'",
        ),
    ] {
        let text = format!("---\nid: bolt\npaths: {value}\n---\n");
        let (line, column) = at;
        assert_eq!(
            refused("bolt", &text),
            (line, column, message.to_owned()),
            "{value}"
        );
    }
    let many = vec!["a"; 201].join(", ");
    let (_, _, message) = refused("bolt", &format!("---\nid: bolt\npaths: [{many}]\n---\n"));
    assert_eq!(message, "`paths` has more than 200 patterns");
    let (persona, diagnostics) = read_one("bolt", "---\nid: bolt\npaths:\n---\n");
    assert!(persona.unwrap().paths.is_empty() && diagnostics.is_empty());
}

#[test]
fn control_characters_are_left_out_and_reported() {
    let text = "---\nid: a\nemoji: \"\\e]0;x\\a📚\"\ndescription: |\n  One.\n  Two.\n---\nBody\n";
    let (persona, found) = read_one("a", text);
    let persona = persona.unwrap();
    assert_eq!(persona.emoji, "]0;x📚");
    assert_eq!(persona.description, "One.\nTwo.\n");
    let [one] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(!one.is_error(), "{one}");
    assert!(one.message.contains("U+001B"), "{one}");
    assert_eq!((one.line, one.key.as_str()), (Some(3), "emoji"));
}

#[test]
fn there_is_a_most_of_personas() {
    let files = (0..MAX_PERSONAS + 2).map(|n| {
        (
            format!("{PERSONAS_FOLDER}/p{n}/prompt.md"),
            prompt(&format!("p{n}")),
        )
    });
    let (personas, diagnostics) = read_personas(&Tree::from_texts(files));
    assert_eq!((personas.len(), diagnostics.len()), (MAX_PERSONAS, 1));
}

proptest::proptest! {
    #[test]
    fn arbitrary_prompts_never_panic(head in "(\u{feff}|\n)?(---\n)?", yaml in "([a-z]{1,4}: ?|[\\[\\]{}&*!|>'\"%@é#,?-]|id: a\n|\n|  |[0-9]|\t){0,40}", tail in "(\n---\n)?\\PC{0,20}") {
        let (persona, diagnostics) = read_one("a", &format!("{head}{yaml}{tail}"));
        proptest::prop_assert!(persona.is_some() || !diagnostics.is_empty());
        for diagnostic in diagnostics {
            proptest::prop_assert!(diagnostic.line.is_some() && !diagnostic.help.is_empty());
        }
    }
}
