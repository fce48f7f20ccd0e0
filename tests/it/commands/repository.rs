//! Which repository a command means, where nobody names one.

use std::path::Path;
use std::process::{Command, Output};

use super::bench::program;

fn git(dir: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        .output();
    assert!(done.unwrap().status.success(), "{arguments:?}");
}

fn status(dir: &Path) -> Output {
    program(&["status"])
        .current_dir(dir)
        .env_remove("GITHUB_REPOSITORY")
        .env_remove("GITHUB_TOKEN")
        .output()
        .unwrap()
}

#[test]
fn a_clone_names_its_repository() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    git(
        dir.path(),
        &[
            "remote",
            "add",
            "origin",
            "https://github.com/acme/widget.git",
        ],
    );
    let output = status(dir.path());
    // It goes on to the next thing that is missing.
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("GITHUB_TOKEN"));
}

#[test]
fn a_folder_that_names_none_is_told_how_to() {
    let dir = tempfile::tempdir().unwrap();
    for work in ["no work tree", "no origin"] {
        if work == "no origin" {
            git(dir.path(), &["init", "--quiet"]);
        }
        let output = status(dir.path());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{work}");
        for word in ["--repo OWNER/NAME", "GITHUB_REPOSITORY", "origin"] {
            assert!(said.contains(word), "{work}: {said}");
        }
    }
}
