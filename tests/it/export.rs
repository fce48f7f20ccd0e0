//! What the sandbox leaves behind is a git repository like any other, and its ledger reads like a log.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use phileas_world::books::Write;

use crate::support::judge::made;
use crate::support::whole_days::{Spent, headless};

/// Runs git on an exported repository, without the configuration of the user who runs the tests.
fn git(spent: &Spent, arguments: &[&str]) -> String {
    let folder = spent.export.join("out/git");
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(&folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "git {}: {}{}",
        arguments.join(" "),
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout) + &text(&output.stderr)
}

/// Subject and body of a branch's commits, the oldest first.
fn log(spent: &Spent, branch: &str) -> Vec<(String, String)> {
    let text = git(
        spent,
        &["log", "--reverse", "--format=%s%x1f%b%x1e", branch],
    );
    let commits = text
        .split('\u{1e}')
        .filter_map(|one| one.trim_start().split_once('\u{1f}'));
    commits
        .map(|(subject, body)| (subject.to_owned(), body.to_owned()))
        .collect()
}

#[test]
fn the_exported_repository_is_sound() {
    let spent = headless(&["--until", "12h"]);
    let found = git(&spent, &["fsck", "--full", "--strict"]);
    for word in ["error", "missing", "broken", "corrupt"] {
        assert!(!found.contains(word), "{found}");
    }
    let branches = git(
        &spent,
        &["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"],
    );
    let branches: BTreeSet<&str> = branches.lines().collect();
    assert!(branches.contains("main") && branches.contains("jules"));
    for branch in branches {
        let folder = spent.export.join("out/branches").join(branch);
        assert!(folder.is_dir(), "{}", folder.display());
    }
    same_files(&spent, "jules");
    same_files(&spent, "main");
}

/// The folder of a branch holds what git holds at its head.
fn same_files(spent: &Spent, branch: &str) {
    let folder = spent.export.join("out/branches").join(branch);
    let listed = git(spent, &["ls-tree", "-r", "--name-only", branch]);
    let listed: BTreeSet<&str> = listed.lines().collect();
    assert!(!listed.is_empty());
    for path in &listed {
        let file = std::fs::read_to_string(folder.join(path)).unwrap();
        let object = format!("{branch}:{path}");
        assert_eq!(git(spent, &["cat-file", "blob", &object]), file, "{object}");
    }
    assert_eq!(count_files(&folder), listed.len(), "{branch}");
}

fn count_files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { count_files(&path) } else { 1 })
        .sum()
}

/// `git log jules` shows each turn announced before it starts, and its outcome.
#[test]
fn the_ledger_reads_as_intent_start_and_outcome() {
    let spent = headless(&["--until", "12h"]);
    let commits = log(&spent, "jules");
    for (subject, body) in &commits {
        assert!(subject.starts_with("phileas: "), "{subject}");
        let trailers: Vec<&str> = body.lines().collect();
        let holders = trailers
            .iter()
            .filter(|line| line.starts_with("Phileas-Holder: "))
            .count();
        assert_eq!(holders, 1, "{subject}\n{body}");
        assert!(trailers.contains(&"skip-checks: true"), "{subject}\n{body}");
    }
    let made = made(&spent.books.sessions);
    assert!(made.len() > 3, "{made:?}");
    for one in &made {
        let turn = format!("{}#{}", one.track, one.seq);
        let place = |words: &str| {
            let subject = format!("{words} {turn} {}", one.persona);
            let trailer = format!("Phileas-Turn: {}", one.turn);
            let place = commits.iter().position(|(found, body)| {
                found.contains(&subject) && body.lines().any(|line| line == trailer)
            });
            place.unwrap_or_else(|| {
                panic!(
                    "no commit says `{subject}` of turn {}: {commits:#?}",
                    one.turn
                )
            })
        };
        let (intent, started) = (place("intent"), place("started"));
        assert!(
            intent < started,
            "{turn}: the intent is commit {intent}, the start {started}"
        );
        let entries = spent.state["history"].as_object().unwrap();
        let entry = entries
            .values()
            .find(|entry| entry["turn"] == one.turn)
            .unwrap();
        if !entry["outcome"].is_null() {
            assert!(started < place("settled"), "{turn}");
        }
    }
}

/// The default branch belongs to people and to what they merge.
#[test]
fn phileas_writes_to_no_branch_but_its_own() {
    let spent = headless(&["--until", "12h"]);
    let writes = spent.books.github_writes.iter();
    let ours: Vec<_> = writes
        .filter(|write| write.actor == "phileas-runner")
        .collect();
    // The first commit is an object without a branch until the branch is made of it.
    let loose = ours.iter().filter(|write| write.what == "commit.created");
    assert_eq!(loose.count(), 1);
    // Where it was asked for something it takes the label off, and says in one comment of its own how it goes. A pull
    // request that repeats another gets a label.
    let written = ours.iter().filter(|write| write.what != "commit.created");
    let (on_threads, on_branches): (Vec<&Write>, Vec<&Write>) =
        written.copied().partition(|write: &&Write| {
            write.what.starts_with("label.") || write.what.starts_with("comment.")
        });
    let mut commented = BTreeSet::new();
    for write in on_threads {
        let label = write.detail["label"].as_str().unwrap_or_default();
        match write.what.as_str() {
            "label.removed" => assert_eq!(label, "phileas:fixer"),
            "label.added" => assert_eq!(label, "phileas:duplicate"),
            what => {
                let text = write.detail["body"].as_str().unwrap();
                assert!(text.contains("<!-- phileas:status -->"), "{write:?}");
                let is_new = commented.insert(write.detail["number"].as_u64());
                assert!(is_new == (what == "comment.created"), "{write:?}");
            }
        }
    }
    assert!(commented.contains(&Some(1)), "{commented:?}");
    for write in on_branches {
        assert_eq!(write.detail["ref"], "refs/heads/jules", "{write:?}");
        assert_ne!(write.detail["forced"], true, "{write:?}");
    }
    for (subject, body) in log(&spent, "main") {
        assert!(
            !subject.starts_with("phileas:") && !body.contains("Phileas-"),
            "{subject}\n{body}"
        );
    }
    let shared = git(&spent, &["rev-list", "--count", "jules", "^main"]);
    let own = git(&spent, &["rev-list", "--count", "jules"]);
    assert_eq!(shared, own, "the ledger is an orphan, and never merged");
}
