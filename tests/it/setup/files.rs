//! What `setup gen` writes, and what it leaves alone.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::{Machine, git};
use crate::support::{Folder, Phileas};

const FILES: [&str; 4] = [".gitignore", "install.sh", "secrets.toml", "vars.toml"];

#[test]
fn a_second_time_changes_nothing() {
    let machine = Machine::with("tools: [gh, python]");
    let first = machine.generate().expect(0);
    for name in FILES {
        assert!(
            first.out.contains(&format!("write     .jlo/setup/{name}")),
            "{first}"
        );
    }
    let facts = |name: &str| {
        let meta = std::fs::metadata(machine.path(name)).unwrap();
        (
            machine.text(name),
            meta.ino(),
            meta.mtime_nsec(),
            meta.mode(),
        )
    };
    let before = FILES.map(facts);
    let second = machine.generate().expect(0);
    assert_eq!(FILES.map(facts), before);
    assert_eq!(
        second.out.matches("unchanged").count(),
        FILES.len(),
        "{second}"
    );
    assert!(!second.out.contains("paste"), "{second}");
}

#[test]
fn only_the_owner_reads_secrets_and_git_ignores_them() {
    let machine = Machine::with("tools: [gh]");
    git(machine.repository.path(), &["init", "--quiet"]);
    machine.generate().expect(0);
    assert_eq!(machine.mode("secrets.toml"), 0o600);
    assert_eq!(machine.mode("install.sh"), 0o755);
    assert_eq!(machine.mode("vars.toml"), 0o644);
    let folder = machine.repository.path();
    git(
        folder,
        &["check-ignore", "--quiet", ".jlo/setup/secrets.toml"],
    );
    git(folder, &["add", "--all"]);
    let listed = std::process::Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["ls-files"])
        .output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    assert!(
        listed.contains("vars.toml") && listed.contains("install.sh"),
        "{listed}"
    );
    assert!(!listed.contains("secrets.toml"), "{listed}");
    // A file that was opened to others is closed again; its text stays.
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(machine.path("secrets.toml"), open).unwrap();
    let ended = machine.generate().expect(0);
    assert!(
        ended.out.contains("guard     .jlo/setup/secrets.toml"),
        "{ended}"
    );
    assert_eq!(machine.mode("secrets.toml"), 0o600);
}

#[test]
fn values_are_kept_and_move_with_their_kind() {
    let machine = Machine::with("tools: [own]");
    machine.component(
        "own",
        "[vars.OWN_KEY]\n[vars.OWN_PLACE]\ndefault = \"here\"\n",
        "true",
    );
    machine.generate().expect(0);
    assert!(
        machine
            .text("vars.toml")
            .contains("[OWN_PLACE]\nvalue = \"here\"\n")
    );
    let mine = machine.text("vars.toml").replace(
        "[OWN_KEY]\nvalue = \"\"",
        "[OWN_KEY]\nvalue = \"k3y\"\nnote = \"mine\"",
    );
    std::fs::write(machine.path("vars.toml"), mine).unwrap();
    machine.generate().expect(0);
    assert!(
        machine
            .text("vars.toml")
            .contains("[OWN_KEY]\nvalue = \"k3y\"\nnote = \"mine\"\n")
    );
    assert!(machine.text("install.sh").contains("k3y"));

    machine.component(
        "own",
        "[secrets.OWN_KEY]\n[vars.OWN_PLACE]\ndefault = \"there\"\n",
        "true",
    );
    let ended = machine.generate().expect(0);
    assert!(
        ended.out.contains("vars.toml:") && ended.out.contains("`OWN_KEY` is a secret"),
        "{ended}"
    );
    assert!(
        !ended.out.contains("k3y") && !ended.err.contains("k3y"),
        "{ended}"
    );
    assert!(
        machine
            .text("secrets.toml")
            .contains("[OWN_KEY]\nvalue = \"k3y\"\nnote = \"mine\"\n")
    );
    assert!(!machine.text("vars.toml").contains("OWN_KEY"));
    assert!(!machine.text("install.sh").contains("k3y"));
    // What a person could have written by hand is not taken for an old default.
    assert!(
        machine
            .text("vars.toml")
            .contains("[OWN_PLACE]\nvalue = \"here\"\n")
    );

    // The way back leads to what is committed: nothing goes there that was not named.
    machine.component("own", "[vars.OWN_KEY]\n", "true");
    let before = machine.text("vars.toml");
    let ended = machine.generate().expect(1);
    assert!(
        ended.out.contains("secrets.toml:") && ended.out.contains("say `--publish OWN_KEY`"),
        "{ended}"
    );
    assert!(!machine.text("install.sh").contains("k3y"));
    assert_eq!(machine.text("vars.toml"), before);
    let arguments = [
        "setup",
        "gen",
        machine.repository.text(),
        "--publish",
        "OWN_KEY",
    ];
    let ended = Phileas::new(&arguments).run().expect(0);
    assert!(
        ended.out.contains("`OWN_KEY` is not a secret any more"),
        "{ended}"
    );
    assert!(
        ended.out.contains("no chosen tool reads `OWN_PLACE`"),
        "{ended}"
    );
    assert!(
        machine
            .text("vars.toml")
            .contains("[OWN_KEY]\nvalue = \"k3y\"\nnote = \"mine\"\n")
    );
    assert!(!machine.text("secrets.toml").contains("OWN_KEY"));
}

#[test]
fn a_tool_that_is_left_out_for_a_while_keeps_its_values() {
    let machine = Machine::with("tools: [gh, uv]");
    machine
        .repository
        .write(".jlo/setup/secrets.toml", "[GH_TOKEN]\nvalue = \"t0ken\"\n");
    machine.generate().expect(0);
    machine
        .repository
        .write(".jlo/setup/tools.yml", "tools: [uv]");
    machine.generate().expect(0);
    machine
        .repository
        .write(".jlo/setup/tools.yml", "tools: [gh]");
    let ended = machine.generate().expect(0);
    assert!(
        machine
            .text("secrets.toml")
            .contains("[GH_TOKEN]\nvalue = \"t0ken\"\n")
    );
    assert!(!ended.out.contains("t0ken"), "{ended}");
    assert!(!ended.out.contains("has no value yet"), "{ended}");
}

#[test]
fn the_older_layout_is_served_as_it_is() {
    let folder = Folder::empty();
    folder.write(".jules/setup/tools.yml", "tools: [gh]");
    folder.write(
        ".jules/setup/env.toml",
        "[GH_TOKEN]\nvalue = \"t0ken\"\nnote = \"\"\n",
    );
    folder.write(".jules/setup/.gitignore", "*.log\n");
    Phileas::new(&["setup", "gen", folder.text()])
        .run()
        .expect(0);
    let read =
        |name: &str| std::fs::read_to_string(folder.join(".jules/setup").join(name)).unwrap();
    assert_eq!(read(".gitignore"), "*.log\nenv.toml\n");
    assert!(read("env.toml").contains("[GH_TOKEN]\nvalue = \"t0ken\"\n"));
    let mode = std::fs::metadata(folder.join(".jules/setup/env.toml"))
        .unwrap()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!folder.join(".jlo").exists() && !folder.join(".jules/setup/vars.toml").exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let machine = Machine::with("tools: [gh]");
    let ended = Phileas::new(&[
        "setup",
        "gen",
        machine.repository.text(),
        "--dry-run",
        "--json",
    ])
    .run()
    .expect(0);
    let lines: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), FILES.len() + 1, "{ended}");
    assert!(
        lines[..4]
            .iter()
            .all(|line| line["action"] == "write" && line["dry_run"] == true),
        "{ended}"
    );
    assert_eq!(lines[4]["order"][0], "gh");
    assert_eq!(lines[4]["secrets"][0]["filled"], false);
    let left: Vec<_> = std::fs::read_dir(machine.repository.join(".jlo/setup"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn nothing_is_written_through_a_link() {
    let machine = Machine::with("tools: [gh]");
    let elsewhere = Folder::empty();
    symlink(elsewhere.join("script"), machine.path("install.sh")).unwrap();
    let ended = machine.generate().expect(2);
    assert!(ended.err.contains("symbolic link"), "{ended}");
    assert!(!elsewhere.join("script").exists() && !machine.path("secrets.toml").exists());
}

#[test]
fn a_folder_in_the_place_of_a_file_is_found_before_anything_is_written() {
    let machine = Machine::with("tools: [gh]");
    std::fs::create_dir(machine.path("install.sh")).unwrap();
    let ended = machine.generate().expect(2);
    assert!(ended.err.contains("install.sh is not a file"), "{ended}");
    assert!(!machine.path("secrets.toml").exists());
}
