//! `phileas pipeline` as agents, scripts and people meet it.

mod archive;
mod check;
mod issue;
mod lessons;
mod schemas;
mod validate;
mod write;

use std::fs::File;
use std::path::Path;
use std::process::Command;

use super::bench::{Ran, program, run};
use crate::support::Folder;

const PLAN: &str = r#"{
  "affected_files": ["src/parse.rs"],
  "steps": [{ "order": 1, "action": "modify", "file": "src/parse.rs", "description": "Take an empty line." }],
  "acceptance_mapping": { "AC-1: an empty line is no error": "tests/parse.rs::empty_line" }
}"#;
const WORKER: &str = r#"{"status": "completed", "files_changed": ["src/parse.rs"], "blockers": [], "summary": "Done."}"#;
const PASSED: &str = r#"{"verdict": "PASS", "phase_1": {"unit_tests": {"result": "PASS"}}}"#;
const FAILED: &str = r#"{"verdict": "FAIL", "phase_1": {"unit_tests": {"result": "FAIL"}}}"#;
const DIAGNOSIS: &str = r#"{"failure_source": "unit_tests", "failure_description": "It panics.", "root_cause": "The index.",
    "root_cause_file": "src/parse.rs", "root_cause_line": 7, "classification": "fix_target", "fix_instructions": "Look before."}"#;
const CONTENT: &str = r#"{"verdict": "PASS", "blockers": [], "concerns": [], "nits": []}"#;
const BLOCKED: &str = r#"{"verdict": "FAIL", "concerns": [], "nits": [], "trim_instructions": "Close the file.",
    "blockers": [{"file": "src/parse.rs", "line": 3, "description": "It leaks.", "fix": "Close it."}]}"#;
const PROPOSED: &str = r#"{"branch": "fix/empty-line", "commit_sha": "4c1d2e3", "commit_message": "fix(X-1): Take an empty line", "pr_number": 7}"#;

/// A repository with one commit on `main`, and a branch `fix/empty-line` that is checked out.
fn repository() -> Folder {
    let folder = Folder::empty();
    git(&folder, &["init", "--quiet", "--initial-branch", "main"]);
    folder.write("src/parse.rs", "fn parse() {}\n");
    commit(&folder, "Begin");
    git(
        &folder,
        &["switch", "--quiet", "--create", "fix/empty-line"],
    );
    folder
}

fn commit(folder: &Folder, subject: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", subject]);
}

#[track_caller]
fn git(folder: &Folder, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.com"])
        .args(arguments)
        .current_dir(folder.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// `phileas pipeline …` in a folder.
fn pipeline(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = program(&[&["pipeline"], arguments].concat());
    command.current_dir(folder);
    run(command)
}

/// The same for the run of `X-1`, with the rest of the words.
fn on(folder: &Folder, arguments: &[&str]) -> Ran {
    pipeline(folder.path(), &[arguments, &["--issue", "X-1"]].concat())
}

/// `phileas pipeline write`, with a text on standard input.
fn write(folder: &Folder, artifact: &str, text: &str) -> Ran {
    write_with(folder, artifact, text, &[])
}

fn write_with(folder: &Folder, artifact: &str, text: &str, more: &[&str]) -> Ran {
    let outside = Folder::empty();
    outside.write("input", text);
    let words = ["pipeline", "write", artifact, "--issue", "X-1"];
    let mut command = program(&[&words, more].concat());
    command.current_dir(folder.path());
    command.stdin(File::open(outside.join("input")).unwrap());
    run(command)
}

/// Names of what lies in a folder, hidden files and all.
fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
