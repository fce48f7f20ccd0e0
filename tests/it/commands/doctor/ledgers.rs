//! The ledger and its branch.

use phileas_world::github::Role;
use serde_json::{Value, json};

use super::super::bench::{Bench, bench, bench_with};
use super::patient::{Patient, findings, healthy, not_found_in, table};
use crate::support::Folder;

#[test]
fn ledgers() {
    fn rules(patient: &mut Patient, kinds: &[&str]) {
        patient.world(|github, repo, _| github.set_rules(repo, "jules", kinds));
    }
    fn classic(patient: &mut Patient, set: &Value) {
        patient.world(|github, repo, _| github.protect_branch(repo, "jules", set));
    }
    fn ruleset(patient: &mut Patient, branch: &str, rule: Value) {
        patient.world(|github, repo, _| github.set_ruleset(repo, branch, vec![rule]));
    }
    fn pattern(kind: &str, operator: &str, pattern: &str) -> Value {
        json!({"type": kind, "parameters": {"operator": operator, "pattern": pattern}})
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
            "beside the branch `phileas`",
            1,
        ),
        (
            |p| {
                p.bench.delete_ledger();
                ruleset(
                    p,
                    "~ALL",
                    pattern("branch_name_pattern", "starts_with", "feat/"),
                );
            },
            "ledger.refused",
            "error",
            "branch_name_pattern (starts with `feat/`)",
            1,
        ),
        (
            |p| {
                ruleset(
                    p,
                    "jules",
                    pattern("commit_message_pattern", "starts_with", "feat"),
                )
            },
            "ledger.refused",
            "error",
            "commit_message_pattern (starts with `feat`)",
            1,
        ),
        (
            |p| {
                ruleset(
                    p,
                    "jules",
                    pattern("commit_message_pattern", "regex", "^phileas"),
                )
            },
            "ledger.choosy",
            "hint",
            "commit_message_pattern (regex `^phileas`)",
            0,
        ),
        (
            |p| ruleset(p, "jules", json!({"type": "a_kind_of_tomorrow"})),
            "ledger.choosy",
            "hint",
            "a_kind_of_tomorrow",
            0,
        ),
        (
            |p| ruleset(p, "phileas/**", json!({"type": "creation"})),
            "ledger.rules",
            "hint",
            "`phileas/init`",
            0,
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
            "delete or rewrite",
            0,
        ),
        (
            |p| rules(p, &["deletion"]),
            "ledger.protection",
            "hint",
            "rewrite",
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
            "delete",
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
    // A branch that exists is not created again.
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

/// A repository without a ledger, to which this is done.
fn unborn(
    act: impl FnOnce(&mut phileas_world::github::Model, phileas_world::github::RepoId),
) -> Bench {
    let bench = bench();
    act(bench.shared.lock_world().github_mut(), bench.repo);
    bench
}

#[test]
fn a_tick_names_the_branch_in_the_way_of_the_ledger() {
    let bench = bench();
    let act = |make: bool| {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let head = github.branch_head(bench.repo, "main").unwrap();
        if make {
            github.create_branch(bench.repo, "jules/fix-typo", head, "acme", now);
        } else {
            github.delete_branch(bench.repo, "jules/fix-typo", "acme", now);
        }
    };
    act(true);
    let ran = bench.run(&["tick"]).refused(2, "`jules/fix-typo`");
    let help = "gh api -X POST repos/acme/widget/branches/jules/fix-typo/rename";
    assert!(ran.err.contains(help), "{ran:?}");
    assert!(bench.shared.lock_world().books().sessions.is_empty());
    act(false);
    bench.run(&["tick"]).done();
}

/// The branch, the rule and who says more; not the form of GitHub's answer.
#[test]
fn a_commit_that_a_rule_refuses_is_told_with_branch_and_rule() {
    let patient = healthy();
    let rule = json!({"type": "commit_message_pattern",
        "parameters": {"operator": "starts_with", "pattern": "feat"}});
    patient.world(|github, repo, _| github.set_ruleset(repo, "jules", vec![rule]));
    let pause = ["track", "pause", "default"];
    let ran = patient.bench.run(&pause).refused(2, "the branch `jules`");
    for word in [
        "Commit message must start with a matching pattern: feat",
        "commit_message_pattern (starts with `feat`)",
        "phileas doctor --repo acme/widget",
    ] {
        assert!(ran.err.contains(word), "{word}: {ran:?}");
    }
    assert!(!ran.err.contains("UNPROCESSABLE"), "{ran:?}");
    let unborn = unborn(|github, repo| github.set_rules(repo, "jules", &["creation"]));
    let ran = unborn
        .run(&["tick"])
        .refused(2, "the rules in force are creation");
    assert!(ran.err.contains("the branch `jules`"), "{ran:?}");
}

/// The branch is looked up by doctor, `validate --repo` and `explain`, with the place that names it.
#[test]
fn a_start_branch_that_is_gone_is_found_before_anything_starts() {
    let plan = "cycle = [{ persona = \"curator\", branch = \"release/9\" }]\n";
    let folder = Folder::repository(plan, &["curator"]);
    let bench = bench_with(|setup| setup.repo = Some(folder.path().to_owned()));
    let ran = bench.run(&["explain", "--json"]);
    let refused = ran
        .lines()
        .into_iter()
        .find(|line| line["decision"] == "refused" && line["reason"] == "waiting.persona_refused");
    let refused = refused.unwrap_or_else(|| panic!("{ran:?}"));
    assert!(
        refused["detail"].as_str().unwrap().contains("`release/9`"),
        "{refused}"
    );
    let ran = bench.run(&["doctor", "--json"]);
    let found = findings(&ran);
    let one = found.iter().find(|one| one["id"] == "plan.branch");
    let one = one.unwrap_or_else(|| panic!("{ran:?}"));
    assert_eq!(one["grade"], "error");
    let dir = folder.path().to_str().unwrap();
    let ran = bench.run(&["validate", dir, "--repo", "acme/widget"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for word in [
        ".jules/schedules.toml:1:43",
        "`release/9`",
        "acme/widget",
        "curator",
    ] {
        assert!(ran.out.contains(word), "{word}: {ran:?}");
    }
    bench.run(&["validate", dir]).done();
    // The twin: once the branch is there, nothing is found.
    {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let head = github.branch_head(bench.repo, "main").unwrap();
        github.create_branch(bench.repo, "release/9", head, "maintainer", now);
    }
    bench
        .run(&["validate", dir, "--repo", "acme/widget"])
        .done();
}
