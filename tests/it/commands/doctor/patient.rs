//! A repository that is looked at, and what can be done to it.

use jiff::Timestamp;
use phileas_world::github::account::{Access, permissions};
use serde_json::Value;

use super::super::bench::{Bench, Ran, bench_with, run};
use crate::support::Folder;

pub(super) const CLASSIC: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
pub(super) const FINE: &str = "github_pat_11AAAAAAA0aaaaaaaaaaaaaa_bbbbbbbbbbbbbbbbb";
pub(super) const JOB: &str = "ghs_0123456789abcdefghijABCDEFGHIJ012345";
pub(super) const WORKFLOW: &str = ".github/workflows/phileas.yml";
pub(super) const PLAN: &str = "cycle = [\"curator\"]\n[budget]\ntier = \"pro\"\n";
pub(super) const ON: &str = "  schedule:\n    - cron: \"17 * * * *\"\n  push:\n  issues:\n  issue_comment:\n  workflow_dispatch:\n";
pub(super) const STEPS: &str =
    "jobs:\n  tick:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: phileas/phileas@v1\n";

/// A repository, and what is told to the program about it.
pub(super) struct Patient {
    pub(super) bench: Bench,
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) arguments: Vec<&'static str>,
    // What the repository was made of goes away with the test.
    _folder: Folder,
}

pub(super) fn workflow(on: &str, more: &str) -> String {
    format!("name: phileas\non:\n{on}{more}{STEPS}")
}

/// Nothing is wrong with it.
pub(super) fn healthy() -> Patient {
    patient(PLAN, &workflow(ON, ""))
}

pub(super) fn patient(plan: &str, workflow: &str) -> Patient {
    let folder = Folder::repository(plan, &["curator"]);
    if !workflow.is_empty() {
        folder.write(WORKFLOW, workflow);
    }
    let bench = bench_with(|setup| {
        setup.repo = Some(folder.path().to_owned());
        setup.start = Timestamp::now();
    });
    bench.run(&["tick", "--json"]);
    let patient = Patient {
        bench,
        variables: vec![("GITHUB_TOKEN", CLASSIC.to_owned())],
        arguments: Vec::new(),
        _folder: folder,
    };
    patient.world(|github, repo, now| {
        github.add_classic_token(CLASSIC, "maintainer", &["repo"]);
        github.set_rules(repo, "jules", &["deletion", "non_fast_forward"]);
        for label in [
            "hold",
            "keep",
            "duplicate",
            "no-op",
            "pause",
            "retry",
            "approve-plan",
            "merge",
            "curator",
        ] {
            github.create_label(repo, &format!("phileas:{label}"), "5319e7", None, now);
        }
    });
    if !workflow.is_empty() {
        patient.ran("success", 0);
    }
    patient.delivered(200);
    patient
}

impl Patient {
    pub(super) fn world(
        &self,
        act: impl FnOnce(&mut phileas_world::github::Model, phileas_world::github::RepoId, Timestamp),
    ) {
        let mut world = self.bench.shared.lock_world();
        let now = world.now();
        act(world.github_mut(), self.bench.repo, now);
    }

    /// A run of the workflow that took so many minutes.
    pub(super) fn ran(&self, end: &str, minutes: i64) {
        self.world(|github, repo, now| {
            let id = github
                .start_run(repo, WORKFLOW, "schedule", "main", "maintainer", now)
                .unwrap();
            let then = now + jiff::SignedDuration::from_mins(minutes);
            github.finish_run(repo, id, end, "", then).unwrap();
        });
    }

    /// Something happens that GitHub tells, and the receiver answers so.
    pub(super) fn delivered(&self, answer: impl Into<Option<u16>>) {
        let answer = answer.into();
        self.world(|github, repo, now| {
            let number = github.open_issue(repo, "Told", "", &[], "maintainer", now);
            github.close_issue(repo, number, "maintainer", now);
        });
        let mut world = self.bench.shared.lock_world();
        let now = world.now();
        // The fastest delivery takes a moment.
        world.advance_to(now + jiff::SignedDuration::from_secs(5));
        for due in world.take_due_deliveries() {
            world.delivery_done(due.id, answer);
        }
    }

    pub(super) fn set_variable(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    pub(super) fn push(&self, branch: &str, path: &str, text: Option<&str>) {
        self.world(|github, repo, now| {
            let head = github.branch_head(repo, branch);
            let files = [(path.to_owned(), text.map(|text| text.to_owned().into()))];
            let commit = github.commit_files(repo, head, &files, "maintainer", "By hand", now);
            github.move_branch(repo, branch, commit, "maintainer", now);
        });
    }

    pub(super) fn run(&self, more: &[&str]) -> Ran {
        let arguments = [&["doctor"], &self.arguments[..], more].concat();
        let mut command = self.bench.program(&arguments);
        for (name, value) in &self.variables {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
        run(command)
    }
}

/// A token of a person who may do all, and which itself may do this.
pub(super) fn narrow(rights: &[(&str, Access)]) -> Patient {
    let mut patient = healthy();
    let rights = permissions(rights);
    patient.world(|github, _, _| github.add_fine_grained_token(FINE, "maintainer", rights));
    patient.set_variable("GITHUB_TOKEN", FINE);
    patient
}

/// The findings of a run, without the summary.
pub(super) fn findings(ran: &Ran) -> Vec<Value> {
    let mut lines = ran.lines();
    let summary = lines.pop().unwrap();
    assert!(summary["summary"].is_object(), "{ran:?}");
    lines
}

/// What makes it ill, and what is found then: a finding's id, its grade, a word of it, the exit code.
pub(super) type Row = (
    fn(&mut Patient),
    &'static str,
    &'static str,
    &'static str,
    i32,
);

#[track_caller]
pub(super) fn found_in(patient: &Patient, (id, grade, word, code): (&str, &str, &str, i32)) {
    let ran = patient.run(&["--json"]);
    assert_eq!(ran.code, code, "{id}: {ran:?}");
    let found = findings(&ran);
    let one = found
        .iter()
        .find(|one| one["id"] == id && one["grade"] == grade);
    let one = one.unwrap_or_else(|| panic!("{id} {grade}: {ran:?}"));
    assert!(one["text"].as_str().unwrap().contains(word), "{id}: {one}");
    assert!(
        grade == "unknown" || one["help"].as_str().is_some_and(|help| help.len() > 5),
        "{id} has no fix: {one}"
    );
    let said = format!("{}{}", ran.out, ran.err);
    for secret in [CLASSIC, FINE, JOB, "sandbox-jules-key", "BEGIN PRIVATE"] {
        assert!(!said.contains(secret), "{id} shows a secret");
    }
}

/// Nothing of this id is amiss.
#[track_caller]
pub(super) fn not_found_in(patient: &Patient, id: &str) {
    let ran = patient.run(&["--json"]);
    let found = findings(&ran);
    let ill = found
        .iter()
        .find(|one| one["id"] == id && one["grade"] != "ok");
    assert_eq!(ill, None, "{ran:?}");
}

pub(super) fn table(rows: &[Row]) {
    for (fall_ill, id, grade, word, code) in rows {
        let mut patient = healthy();
        fall_ill(&mut patient);
        found_in(&patient, (id, grade, word, *code));
    }
}
