//! The ledger and its branch.

use phileas_world::github::Role;
use serde_json::{Value, json};

use super::patient::{Patient, findings, healthy, not_found_in, table};

#[test]
fn ledgers() {
    fn rules(patient: &mut Patient, kinds: &[&str]) {
        patient.world(|github, repo, _| github.set_rules(repo, "jules", kinds));
    }
    fn classic(patient: &mut Patient, set: &Value) {
        patient.world(|github, repo, _| github.protect_branch(repo, "jules", set));
    }
    fn make(patient: &mut Patient, branch: &str) {
        patient.push(branch, "README.md", Some("# Mine\n"));
    }
    table(&[
        (
            |p| {
                p.bench.delete_ledger();
                make(p, "jules/fix-typo");
            },
            "ledger.blocked",
            "error",
            "`jules` beside the branch `jules/fix-typo`",
            1,
        ),
        (
            |p| make(p, "phileas"),
            "ledger.blocked",
            "error",
            "`phileas/init` beside the branch `phileas`",
            1,
        ),
        (
            |p| p.bench.delete_ledger(),
            "ledger.missing",
            "hint",
            "first tick",
            0,
        ),
        (
            |p| {
                p.bench.delete_ledger();
                p.push("jules", ".jules/README.md", Some("# Ours\n"));
            },
            "ledger.missing",
            "hint",
            "holds no state yet",
            0,
        ),
        (
            |p| {
                p.bench.delete_ledger();
                rules(p, &["deletion", "non_fast_forward", "creation"]);
            },
            "ledger.refused",
            "error",
            "creation",
            1,
        ),
        (
            |p| p.bench.write_ledger("{ broken"),
            "ledger.corrupt",
            "error",
            "cycle_state.json",
            1,
        ),
        (
            |p| p.bench.write_ledger("{\"version\": 99}"),
            "ledger.corrupt",
            "error",
            "99",
            1,
        ),
        (
            |p| rules(p, &[]),
            "ledger.protection",
            "hint",
            "deleted and rewritten",
            0,
        ),
        (
            |p| rules(p, &["deletion"]),
            "ledger.protection",
            "hint",
            "rewritten",
            0,
        ),
        (
            |p| rules(p, &["deletion", "non_fast_forward", "pull_request"]),
            "ledger.refused",
            "error",
            "pull_request",
            1,
        ),
        (
            |p| {
                rules(
                    p,
                    &["deletion", "non_fast_forward", "commit_message_pattern"],
                )
            },
            "ledger.choosy",
            "hint",
            "commit_message_pattern",
            0,
        ),
        (
            |p| classic(p, &json!({"lock_branch": {"enabled": true}})),
            "ledger.refused",
            "error",
            "Lock branch",
            1,
        ),
        (
            |p| {
                rules(p, &[]);
                classic(p, &json!({"allow_deletions": {"enabled": true}}));
            },
            "ledger.protection",
            "hint",
            "deleted",
            0,
        ),
        (
            |p| {
                rules(p, &[]);
                classic(p, &json!({}));
                p.world(|github, repo, _| github.set_role(repo, "maintainer", Role::Write));
            },
            "ledger.protection",
            "unknown",
            "administrators",
            0,
        ),
    ]);
    // A branch that is there is created by nobody any more.
    let mut born = healthy();
    rules(&mut born, &["deletion", "non_fast_forward", "creation"]);
    not_found_in(&born, "ledger.refused");
    let mut sound = healthy();
    rules(&mut sound, &[]);
    classic(&mut sound, &json!({}));
    let ran = sound.run(&["--json"]).done();
    let found = findings(&ran);
    assert!(
        found
            .iter()
            .any(|one| one["id"] == "ledger.protection" && one["grade"] == "ok"),
        "{ran:?}"
    );
}

#[test]
fn a_tick_names_the_branch_in_the_way_of_the_ledger() {
    let patient = healthy();
    patient.bench.delete_ledger();
    patient.push("jules/fix-typo", "README.md", Some("# Mine\n"));
    let ran = patient.bench.run(&["tick"]).refused(2, "`jules/fix-typo`");
    let mend = "gh api -X POST repos/acme/widget/branches/jules/fix-typo/rename";
    assert!(ran.err.contains(mend), "{ran:?}");
    patient.world(|github, repo, now| github.delete_branch(repo, "jules/fix-typo", "acme", now));
    patient.bench.run(&["tick"]).done();
}
