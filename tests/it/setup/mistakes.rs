//! What is refused, and that nothing is written then.

use super::{Machine, git};
use crate::support::{Folder, Phileas};

/// A set-up with something wrong, and what is said of it.
#[track_caller]
fn refused(machine: &Machine, begins: &str, help: &str) {
    let ended = machine.generate().expect(1);
    let line = ended.out.lines().find(|line| line.starts_with(begins));
    let line = line.unwrap_or_else(|| panic!("{begins}\n{ended}"));
    assert!(line.contains(help), "{line}");
    assert!(!machine.path("install.sh").exists(), "{ended}");
}

#[test]
fn a_tool_that_does_not_exist_is_told_with_its_place() {
    let machine = Machine::with("tools:\n  - gh\n  - pyhton\n");
    refused(
        &machine,
        ".jlo/setup/tools.yml:3:5: error: there is no tool `pyhton` (at tools[1])",
        "did you mean `python`?",
    );
    machine
        .repository
        .write(".jlo/setup/tools.yml", "tools:\n  - gh\n  - python\n");
    machine.generate().expect(0);
}

#[test]
fn a_circle_is_shown_as_a_path() {
    let machine = Machine::with("tools: [c]");
    machine.component("a", "dependencies = [\"b\"]", "");
    machine.component("b", "dependencies = [\"c\"]", "");
    machine.component("c", "dependencies = [\"a\"]", "");
    refused(
        &machine,
        ".jlo/setup/components/c/meta.toml:1:17: error",
        "in a circle: a -> b -> c -> a",
    );
    machine.component("c", "", "");
    machine.generate().expect(0);
}

#[test]
fn broken_values_are_not_written_over() {
    let machine = Machine::with("tools: [gh]");
    let broken = "[GH_TOKEN]\nvalue = \"t0ken\n";
    machine.repository.write(".jlo/setup/secrets.toml", broken);
    refused(&machine, ".jlo/setup/secrets.toml:2:", "error");
    assert_eq!(machine.text("secrets.toml"), broken);
}

/// A part that bash cannot read would take all others with it.
#[test]
fn a_part_that_bash_cannot_read_is_refused() {
    for part in [")\nexit 0\n(", "if true; then", "cat <<END\nnever ended\n"] {
        let machine = Machine::with("tools: [a]");
        machine.component("a", "", part);
        refused(
            &machine,
            ".jlo/setup/components/a/install.sh: error: bash cannot read it",
            "bash -n",
        );
    }
}

/// What bash says of the machine is no mistake of a part.
#[test]
fn a_locale_that_is_not_installed_is_no_mistake_of_a_part() {
    let machine = Machine::with("tools: [a]");
    machine.component("a", "", "true\n");
    let repository = machine.repository.text();
    let command = Phileas::new(&["setup", "gen", repository]);
    command.env("LC_ALL", "xx_XX.UTF-8").run().expect(0);
}

#[test]
fn secrets_that_git_keeps_are_refused() {
    let machine = Machine::with("tools: [gh]");
    git(machine.repository.path(), &["init", "--quiet"]);
    machine
        .repository
        .write(".jlo/setup/secrets.toml", "GH_TOKEN = \"t\"\n");
    git(
        machine.repository.path(),
        &["add", ".jlo/setup/secrets.toml"],
    );
    refused(
        &machine,
        ".jlo/setup/secrets.toml: error: git keeps this file",
        "git rm --cached",
    );
    git(
        machine.repository.path(),
        &["rm", "--quiet", "--cached", ".jlo/setup/secrets.toml"],
    );
    machine.generate().expect(0);
}

/// A rule further down in a repository may take in what the file beside the secrets ignores.
#[test]
fn secrets_that_git_would_take_in_are_told() {
    let machine = Machine::with("tools: [gh]");
    git(machine.repository.path(), &["init", "--quiet"]);
    machine
        .repository
        .write(".jlo/setup/.gitignore", "secrets.toml\n!*.toml\n");
    let ended = machine.generate().expect(1);
    assert!(
        ended
            .out
            .contains("secrets.toml: error: git does not ignore this file"),
        "{ended}"
    );
    machine
        .repository
        .write(".jlo/setup/.gitignore", "!*.toml\nsecrets.toml\n");
    machine.generate().expect(0);
}

#[test]
fn a_folder_without_a_set_up_is_told_how_to_begin() {
    let folder = Folder::empty();
    let ended = Phileas::new(&["setup", "gen", folder.text()])
        .run()
        .expect(1);
    assert!(ended.out.contains("tools: [gh]"), "{ended}");
    let ended = Phileas::new(&["setup", "gen", "/no/such/folder"])
        .run()
        .expect(2);
    assert!(ended.err.contains("/no/such/folder"), "{ended}");
}

#[test]
fn programs_read_mistakes_as_json() {
    let machine = Machine::with("tools: [nothing-like-it]");
    let ended = Phileas::new(&["setup", "gen", machine.repository.text(), "--json"])
        .run()
        .expect(1);
    let said: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&said["line"], &said["key"]),
        (&1.into(), &"tools[0]".into())
    );
}

/// An answer that git does not give is no permission.
#[test]
fn a_git_that_does_not_answer_is_told() {
    let machine = Machine::with("tools: [gh]");
    machine.repository.write(".git", "gitdir: nowhere\n");
    let ended = machine.generate().expect(0);
    let begins = ".jlo/setup/secrets.toml: warning: git does not say whether it keeps this file: fatal: not a git repository: ";
    assert!(
        ended.out.lines().any(|line| line.starts_with(begins)),
        "{ended}"
    );
}

/// The file of both kinds, from before there were two, holds secrets as long as it is there.
#[test]
fn a_left_over_file_of_secrets_is_looked_at_like_the_others() {
    let machine = Machine::with("tools: [gh]");
    git(machine.repository.path(), &["init", "--quiet"]);
    machine
        .repository
        .write(".jlo/setup/env.toml", "[GH_TOKEN]\nvalue = \"t\"\n");
    git(machine.repository.path(), &["add", ".jlo/setup/env.toml"]);
    refused(
        &machine,
        ".jlo/setup/env.toml: error: git keeps this file",
        "git rm --cached",
    );
}
