//! Whole set-ups: what comes out, and that it comes out the same once more.

use proptest::prelude::*;

use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    Tree::from_texts(files.iter().copied())
}

fn text<'c>(compiled: &'c Compiled, name: &str) -> &'c str {
    let path = compiled.layout.path(name);
    let file = compiled.files.iter().find(|file| file.path == path);
    &file
        .unwrap_or_else(|| panic!("{path} in {:?}", compiled.files))
        .text
}

/// The same repository with what was compiled written into it.
fn after(tree: &Tree, compiled: &Compiled) -> Tree {
    let mut tree = tree.clone();
    for file in &compiled.files {
        tree.insert_text(file.path.as_str(), &file.text);
    }
    tree
}

#[test]
fn two_files_hold_the_two_kinds_of_values() {
    let compiled = compile_setup(
        &tree(&[(".jlo/setup/tools.yml", "tools: [gh, python]")]),
        &[],
    )
    .unwrap();
    let names: Vec<&str> = compiled.order.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["gh", "uv", "python"]);
    let files: Vec<_> = compiled
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.mode))
        .collect();
    assert_eq!(
        files,
        [
            (".jlo/setup/.gitignore", Mode::Open),
            (".jlo/setup/vars.toml", Mode::Open),
            (".jlo/setup/secrets.toml", Mode::Private),
            (".jlo/setup/install.sh", Mode::Executable),
        ]
    );
    assert_eq!(text(&compiled, ".gitignore"), "secrets.toml\n");
    assert!(text(&compiled, "secrets.toml").contains("[GH_TOKEN]\nvalue = \"\"\n"));
    for name in ["GH_VERSION", "PYTHON_VERSION", "UV_VERSION"] {
        assert!(
            text(&compiled, "vars.toml").contains(&format!("[{name}]\n")),
            "{name}"
        );
    }
    assert_eq!(compiled.secrets, [("GH_TOKEN".to_owned(), false)]);
    assert!(compiled.said.is_empty());
}

#[test]
fn the_older_layout_has_one_file() {
    let files = [
        (".jules/setup/tools.yml", "tools: [gh]"),
        (".jules/setup/env.toml", "GH_TOKEN = \"t\""),
    ];
    let compiled = compile_setup(&tree(&files), &[]).unwrap();
    assert_eq!(text(&compiled, ".gitignore"), "env.toml\n");
    assert!(text(&compiled, "env.toml").contains("[GH_TOKEN]\nvalue = \"t\"\n"));
    assert_eq!(compiled.files.len(), 3);
    assert_eq!(compiled.files[1].mode, Mode::Private);
    assert!(compiled.said.is_empty(), "{:?}", compiled.said);
}

#[test]
fn an_older_file_is_taken_over_and_stays_ignored() {
    let files = [
        (".jlo/setup/tools.yml", "tools: [gh]"),
        (
            ".jlo/setup/env.toml",
            "[GH_TOKEN]\nvalue = \"t\"\n[GH_VERSION]\nvalue = \"2.74.0\"\n",
        ),
    ];
    let compiled = compile_setup(&tree(&files), &[]).unwrap();
    assert_eq!(text(&compiled, ".gitignore"), "secrets.toml\nenv.toml\n");
    assert!(text(&compiled, "vars.toml").contains("\"2.74.0\""));
    assert!(text(&compiled, "secrets.toml").contains("\"t\""));
    assert_eq!(compiled.secrets, [("GH_TOKEN".to_owned(), true)]);
}

#[test]
fn no_secret_is_in_the_script() {
    let files = [
        (".jlo/setup/tools.yml", "tools: [gh]"),
        (
            ".jlo/setup/secrets.toml",
            "[GH_TOKEN]\nvalue = \"t0ken\"\n[OTHER]\nvalue = \"0ther\"",
        ),
        (".jlo/setup/vars.toml", "[GH_VERSION]\nvalue = \"2.74.0\""),
    ];
    let compiled = compile_setup(&tree(&files), &[]).unwrap();
    let script = text(&compiled, "install.sh");
    assert!(
        script.contains("export GH_VERSION\n: \"${GH_VERSION:=2.74.0}\"\n"),
        "{script}"
    );
    for file in compiled
        .files
        .iter()
        .filter(|file| file.mode != Mode::Private)
    {
        assert!(
            !file.text.contains("t0ken") && !file.text.contains("0ther"),
            "{}",
            file.path
        );
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let files = [
        (".jlo/setup/tools.yml", "tools: [gh, jsut]"),
        (".jlo/setup/vars.toml", "[A]\nvalue = []"),
        (".jlo/setup/secrets.toml", "[B\n"),
        (".jlo/setup/.gitignore", "!secrets.toml\n"),
        (".jlo/setup/components/a/meta.toml", "x = 1"),
        (".jlo/setup/components/a/install.sh", ""),
    ];
    let said = compile_setup(&tree(&files), &[]).unwrap_err();
    let of = |name: &str| said.iter().filter(|one| one.file.ends_with(name)).count();
    for name in [
        "tools.yml",
        "vars.toml",
        "secrets.toml",
        ".gitignore",
        "a/meta.toml",
    ] {
        assert!(of(name) >= 1, "{name}: {said:?}");
    }
}

#[test]
fn a_tool_that_is_wrong_is_not_unknown_as_well() {
    let files = [
        (".jlo/setup/tools.yml", "tools: [a]"),
        (".jlo/setup/components/a/meta.toml", "x = 1"),
        (".jlo/setup/components/a/install.sh", ""),
    ];
    let said = compile_setup(&tree(&files), &[]).unwrap_err();
    assert_eq!(said.len(), 1, "{said:?}");
}

proptest! {
    /// Whatever people write as values: it survives, and the second time nothing changes.
    #[test]
    fn values_survive_and_a_second_time_changes_nothing(
        value in "[^\u{0}]{0,30}", note in "[^\u{0}]{0,30}", token in "[^\u{0}]{0,30}",
    ) {
        let mut tree = tree(&[(".jlo/setup/tools.yml", "tools: [gh]")]);
        let setting = |name: &str, value: &str, note: &str| {
            format!("[{name}]\nvalue = {}\nnote = {}\n", quote_lines(value), quote_lines(note))
        };
        tree.insert_text(".jlo/setup/vars.toml", &setting("GH_VERSION", &value, &note));
        tree.insert_text(".jlo/setup/secrets.toml", &setting("GH_TOKEN", &token, ""));
        let once = compile_setup(&tree, &[]).unwrap();
        let tree = after(&tree, &once);
        let twice = compile_setup(&tree, &[]).unwrap();
        prop_assert_eq!(&once.files, &twice.files);
        for (name, key, expected) in [("vars.toml", "GH_VERSION", &value), ("secrets.toml", "GH_TOKEN", &token)] {
            let table: toml::Table = toml::from_str(text(&twice, name)).unwrap();
            prop_assert_eq!(table[key]["value"].as_str().unwrap(), expected);
        }
        let table: toml::Table = toml::from_str(text(&twice, "vars.toml")).unwrap();
        let kept = table["GH_VERSION"].get("note").map_or("", |note| note.as_str().unwrap());
        prop_assert_eq!(kept, &note);
    }
}

/// What was written is read again the next time.
#[test]
fn nothing_is_written_that_could_not_be_read_again() {
    let long = "x".repeat(8_000);
    let many = |from: u32, count: u32, value: &str| -> String {
        let one = |n| format!("[vars.V{n}]\ndefault = \"{value}\"\n");
        (from..from + count).map(one).collect()
    };
    for (one, two, says) in [
        (
            many(0, 5, &long),
            many(10, 5, &long),
            "more than 65536: it could not be read again",
        ),
        (
            many(0, 150, "x"),
            many(200, 150, "x"),
            "it would have 300 variables, more than 200",
        ),
    ] {
        let mut files = vec![
            (".jlo/setup/tools.yml", "tools: [one]"),
            (".jlo/setup/components/one/meta.toml", one.as_str()),
            (".jlo/setup/components/one/install.sh", "true"),
            (".jlo/setup/components/two/meta.toml", two.as_str()),
            (".jlo/setup/components/two/install.sh", "true"),
        ];
        assert!(compile_setup(&tree(&files), &[]).is_ok(), "one alone fits");
        files[0].1 = "tools: [one, two]";
        let said = compile_setup(&tree(&files), &[]).unwrap_err();
        let begins = ".jlo/setup/vars.toml: error: ";
        let said = said[0].to_string();
        assert!(said.starts_with(begins) && said.contains(says), "{said}");
    }
}
