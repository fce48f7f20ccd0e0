//! Which repository a command means when it names none.

use std::path::Path;
use std::process::{Command, Output};

use super::bench::{Bench, Ran, bench, program, run};
use super::fresh::{self, within};

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
fn a_clone_names_its_repository_before_the_texts_behind_two_dashes() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    let origin = "https://github.com/acme/widget.git";
    git(dir.path(), &["remote", "add", "origin", origin]);
    let output = program(&["session", "message", "7", "--", "- use tabs"])
        .current_dir(dir.path())
        .env_remove("GITHUB_REPOSITORY")
        .env_remove("GITHUB_TOKEN")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("GITHUB_TOKEN"), "{said}");
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

/// The program in a clone of acme/widget at this address, with a credential, and GitHub and Jules of a bench.
fn tick(bench: &Bench, origin: &str, more: &[(&str, &str)]) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    git(dir.path(), &["remote", "add", "origin", origin]);
    let mut command = bench.program(&["tick"]);
    command
        .current_dir(dir.path())
        .env_remove("GITHUB_REPOSITORY")
        .envs(more.iter().copied());
    run(command)
}

/// An unauthorized user's repository of the same name on another host is not the one on GitHub.
#[test]
fn a_clone_from_elsewhere_names_no_repository_of_github() {
    let bench = bench();
    for origin in [
        "git@gitlab.com:acme/widget.git",
        "https://me:canary@gitlab.com/acme/widget",
        "ssh://git@gitlab.com:2222/acme/widget.git",
    ] {
        let ran = tick(&bench, origin, &[]).refused(2, "gitlab.com, which is not github.com");
        for word in ["--repo OWNER/NAME", "GITHUB_SERVER_URL", "GITHUB_API_URL"] {
            assert!(ran.err.contains(word), "{origin}: {ran:?}");
        }
        assert!(!ran.err.contains("canary"), "{ran:?}");
    }
    assert_eq!(bench.head(), "", "GitHub was not asked");
    // A server of one's own, this machine, and the names that ssh is told of.
    let own = [("GITHUB_SERVER_URL", "https://git.example")];
    tick(&bench, "git@git.example:acme/widget.git", &own).done();
    let api = bench.program(&[]);
    let api = api
        .get_envs()
        .find_map(|(name, value)| (name == "GITHUB_API_URL").then_some(value?));
    let here = format!("{}/acme/widget.git", api.unwrap().to_str().unwrap());
    for origin in [
        here.as_str(),
        "git@github.com-work:acme/widget.git",
        "git@work:acme/widget.git",
        "ssh://git@ssh.github.com:443/acme/widget.git",
    ] {
        tick(&bench, origin, &[]).done();
    }
}

/// Neither does `init` take it for one.
#[test]
fn a_clone_from_elsewhere_gets_no_beginning() {
    let folder = fresh::repository();
    let origin = "https://gitlab.com/acme/widget.git";
    fresh::git(&folder, &["remote", "set-url", "origin", origin]);
    let pin = "phileas/phileas@0123456789abcdef0123456789abcdef01234567";
    for command in [
        &["init", "--yes", "--action", pin][..],
        &["deinit", "--yes"],
        &["upgrade", "--yes"],
    ] {
        within(&folder, command).refused(2, "gitlab.com, which is not github.com");
        assert_eq!(fresh::git(&folder, &["status", "--porcelain"]), "");
    }
    // A repository that is named counts.
    let named = ["init", "--yes", "--action", pin, "--repo", "acme/widget"];
    within(&folder, &named).done();
}
