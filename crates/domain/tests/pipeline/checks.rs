//! Tests every invariant by its name, with the reported line.

use phileas_domain::Severity;
use phileas_domain::pipeline::{Artifact, CheckStage, RunFile, Stage, check_stage};
use serde_json::{Value, json};

use crate::samples::{file, run, sample, with};

/// The broken invariants: `E name` for an error, `W name` for a warning.
fn broken(files: &[RunFile], stage: CheckStage, changed: Option<&[&str]>) -> Vec<String> {
    let changed: Option<Vec<String>> =
        changed.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
    let found = check_stage(&run(files), stage, changed.as_deref());
    let mut names: Vec<String> = found
        .iter()
        .map(|one| {
            assert!(!one.said.help.is_empty(), "{}", one.said);
            let sign = if one.said.severity == Severity::Error {
                "E"
            } else {
                "W"
            };
            format!("{sign} {}", one.check)
        })
        .collect();
    names.dedup();
    names
}

fn run_file(artifact: Artifact, keys: Value) -> RunFile {
    file(artifact.file_name(), &with(artifact, keys))
}

#[test]
fn plans() {
    let stage = CheckStage::Of(Stage::Plan);
    let step = |order: u64, file: &str, needs: Value| json!({ "order": order, "action": "a", "file": file, "description": "d", "depends_on": needs });
    assert_eq!(broken(&[], stage, None), ["E plan_exists"]);
    let unread = RunFile {
        name: "plan.json".into(),
        bytes: "{".into(),
    };
    assert_eq!(broken(&[unread], stage, None), ["E plan_valid"]);
    let long = "criterion ".repeat(20);
    for (keys, expected) in [
        (json!({}), vec![]),
        (
            json!({ "affected_files": [], "steps": [], "acceptance_mapping": {} }),
            vec!["E affected_files", "E steps", "E ac_mapping"],
        ),
        (
            json!({ "acceptance_mapping": { (long.clone()): " " } }),
            vec!["E ac_test_mapped"],
        ),
        (
            json!({ "affected_files": ["src/a.rs", "src/b.rs"] }),
            vec!["E file_has_step"],
        ),
        (
            json!({ "steps": [step(1, "src/a.rs", json!([])), step(2, "src/c.rs", json!([1]))] }),
            vec!["E step_in_affected"],
        ),
        (
            json!({ "steps": [step(1, "src/a.rs", json!([])), step(1, "src/a.rs", json!([]))] }),
            vec!["E step_order_unique"],
        ),
        (
            json!({ "steps": [step(1, "src/a.rs", json!([9]))] }),
            vec!["E depends_on_known"],
        ),
        (
            json!({ "steps": [step(1, "src/a.rs", json!([2])), step(2, "src/a.rs", json!([1])), step(3, "src/a.rs", json!([]))] }),
            vec!["E depends_on_acyclic"],
        ),
        (
            json!({ "steps": [step(1, "src/a.rs", json!([1]))] }),
            vec!["E depends_on_acyclic"],
        ),
    ] {
        assert_eq!(
            broken(&[run_file(Artifact::Plan, keys.clone())], stage, None),
            expected,
            "{keys}"
        );
    }
    let found = check_stage(
        &run(&[run_file(
            Artifact::Plan,
            json!({ "acceptance_mapping": { (long): "" } }),
        )]),
        stage,
        None,
    );
    assert!(
        found[0].said.message.len() < 120 && found[0].said.line == Some(14),
        "{}",
        found[0].said
    );
}

#[test]
fn work() {
    let stage = CheckStage::Of(Stage::Implement);
    let plan = || run_file(Artifact::Plan, json!({}));
    let worker = |keys| run_file(Artifact::Worker, keys);
    assert_eq!(broken(&[], stage, Some(&[])), ["E plan_exists"]);
    assert_eq!(
        broken(
            &[plan(), worker(json!({}))],
            stage,
            Some(&["src/a.rs", ".pipeline/ISSUE-1/plan.json"])
        ),
        [""; 0]
    );
    assert_eq!(
        broken(&[plan()], stage, Some(&["src/a.rs"])),
        ["W worker_result_exists"]
    );
    assert_eq!(
        broken(
            &[plan(), worker(json!({}))],
            stage,
            Some(&["src/a.rs", "src/ü.rs"])
        ),
        ["E scope_extra"]
    );
    assert_eq!(
        broken(
            &[plan(), worker(json!({ "files_changed": [] }))],
            stage,
            Some(&[])
        ),
        ["W scope_missing"]
    );
    assert_eq!(
        broken(&[plan(), worker(json!({}))], stage, Some(&[])),
        ["W scope_missing", "W files_changed_real"]
    );
    for (keys, expected) in [
        (json!({ "blockers": ["x"] }), vec!["E status_consistent"]),
        (json!({ "status": "blocked" }), vec!["W status_consistent"]),
        (json!({ "status": "done" }), vec!["E worker_result_valid"]),
        (json!({ "escalation_history": null }), vec![]),
        (
            json!({ "escalation_history": [{ "from_tier": "high", "to_tier": "fast", "reason": "x" }] }),
            vec!["E escalation_tier_progression"],
        ),
        (
            json!({ "escalation_history": [{ "from_tier": "fast", "to_tier": "standard", "reason": "x" }] }),
            vec![],
        ),
    ] {
        assert_eq!(
            broken(&[plan(), worker(keys.clone())], stage, Some(&["src/a.rs"])),
            expected,
            "{keys}"
        );
    }
    let complex = run_file(Artifact::Plan, json!({ "complexity": "complex" }));
    let fast = worker(json!({ "tier_used": "fast" }));
    assert_eq!(
        broken(&[complex.clone(), fast], stage, Some(&["src/a.rs"])),
        ["E tier_complex_no_fast"]
    );
    // The file of the fast attempt is read if there is no other.
    let fast = file(
        "worker-result-fast.json",
        &with(Artifact::Worker, json!({ "tier_used": "fast" })),
    );
    assert_eq!(
        broken(&[complex, fast], stage, Some(&["src/a.rs"])),
        ["E tier_complex_no_fast"]
    );
}

#[test]
fn tests() {
    let stage = CheckStage::Of(Stage::Test);
    assert_eq!(broken(&[], stage, None), ["E test_result_exists"]);
    for (keys, expected) in [
        (json!({}), vec![]),
        (
            json!({ "verdict": "FAIL", "phase_1": { "lint": { "status": "FAIL" } }, "phase_2": { "checks": {} } }),
            vec!["E phase_2_gated"],
        ),
        (
            json!({ "verdict": "FAIL", "phase_1": { "lint": "FAIL" }, "phase_2": {} }),
            vec!["E phase_2_gated"],
        ),
        (
            json!({ "phase_1": { "lint": { "result": "FAIL" } } }),
            vec!["E verdict_consistent"],
        ),
        (
            json!({ "phase_2": { "checks": { "e2e": { "result": "FAIL" } } } }),
            vec!["E verdict_consistent"],
        ),
        (json!({ "verdict": "FAIL" }), vec!["W verdict_consistent"]),
        (json!({ "verdict": "SKIP" }), vec!["W verdict_consistent"]),
        (
            json!({ "classification": "flaky" }),
            vec!["E classification_valid"],
        ),
        (json!({ "classification": "plan_defect" }), vec![]),
        (
            json!({ "inline_triage": true }),
            vec!["W inline_triage_has_fix"],
        ),
        (json!({ "phase_1": [] }), vec!["E test_result_valid"]),
    ] {
        assert_eq!(
            broken(&[run_file(Artifact::Test, keys.clone())], stage, None),
            expected,
            "{keys}"
        );
    }
    let complex = run_file(Artifact::Plan, json!({ "complexity": "complex" }));
    let fast = run_file(Artifact::Test, json!({ "tier_used": "fast" }));
    assert_eq!(
        broken(&[complex, fast], stage, None),
        ["E tier_complex_no_fast"]
    );
}

#[test]
fn diagnoses_and_reviews() {
    let stage = CheckStage::Of(Stage::Debug);
    assert_eq!(broken(&[], stage, None), ["E diagnosis_exists"]);
    for (keys, expected) in [
        (json!({}), vec![]),
        (
            json!({ "fix_instructions": null }),
            vec!["W classification_has_instructions"],
        ),
        (
            json!({ "classification": "plan_defect" }),
            vec!["W classification_has_instructions"],
        ),
        (
            json!({ "classification": "escalate", "escalation_sub": "technical_complexity" }),
            vec![],
        ),
        (
            json!({ "classification": "magic" }),
            vec!["E classification_valid"],
        ),
    ] {
        assert_eq!(
            broken(&[run_file(Artifact::Debug, keys.clone())], stage, None),
            expected,
            "{keys}"
        );
    }
    let stage = CheckStage::Of(Stage::Review);
    let finding = json!({ "description": "d", "file": "a.rs", "line": 3, "fix": "f" });
    assert_eq!(broken(&[], stage, None), ["E review_result_exists"]);
    for (keys, expected) in [
        (json!({}), vec![]),
        (
            json!({ "blockers": [finding] }),
            vec!["E verdict_consistent"],
        ),
        (
            json!({ "concerns": [finding] }),
            vec!["W verdict_consistent"],
        ),
        (
            json!({ "verdict": "FAIL", "concerns": [finding], "trim_instructions": "t" }),
            vec![],
        ),
        (
            json!({ "verdict": "FAIL" }),
            vec!["W verdict_consistent", "W fail_has_instructions"],
        ),
        (
            json!({ "verdict": "FAIL", "trim_instructions": "t", "blockers": [{ "description": "d", "line": 0 }] }),
            vec!["E finding_has_file", "E finding_has_line"],
        ),
        (
            json!({ "verdict": "FAIL", "trim_instructions": "t", "concerns": ["d"] }),
            vec!["E finding_has_file", "E finding_has_line"],
        ),
        (json!({ "nits": ["d"] }), vec![]),
    ] {
        assert_eq!(
            broken(&[run_file(Artifact::Review, keys.clone())], stage, None),
            expected,
            "{keys}"
        );
    }
}

#[test]
fn proposals_and_traces() {
    let stage = CheckStage::Of(Stage::Git);
    let passed = || {
        vec![
            run_file(Artifact::Test, json!({})),
            run_file(Artifact::Review, json!({})),
        ]
    };
    let git = |keys| [passed(), vec![run_file(Artifact::Git, keys)]].concat();
    assert_eq!(broken(&[], stage, None), ["E git_result_exists"]);
    for (keys, expected) in [
        (json!({}), vec![]),
        (json!({ "branch": "main" }), vec!["E branch_own"]),
        (json!({ "branch": "Feature/x" }), vec!["W branch_name"]),
        (
            json!({ "commit_sha": "see above" }),
            vec!["W commit_sha_valid"],
        ),
    ] {
        assert_eq!(broken(&git(keys.clone()), stage, None), expected, "{keys}");
    }
    let alone = [file("git-result.json", &sample(Artifact::Git))];
    assert_eq!(
        broken(&alone, stage, None),
        ["E tests_passed", "E review_passed"]
    );
    let entry = |at: &str| json!({ "stage": "plan", "agent": "jg-subplanner", "started_at": at, "duration_ms": 5, "result": "pass", "artifact": "plan.json" });
    let two = json!([entry("2026-01-05T10:00:00Z"), entry("2026-01-05T09:00:00Z")]);
    assert_eq!(broken(&[], CheckStage::Trace, None), ["E trace_exists"]);
    for (keys, expected) in [
        (json!({}), vec![]),
        (json!({ "total_duration_ms": 1 }), vec!["E trace_total"]),
        (json!({ "issue_id": "X" }), vec!["E trace_issue"]),
        (
            json!({ "stages": two, "total_duration_ms": 10 }),
            vec!["E trace_order"],
        ),
        (json!({ "stages": [{}] }), vec!["E trace_valid"]),
    ] {
        assert_eq!(
            broken(
                &[run_file(Artifact::Trace, keys.clone())],
                CheckStage::Trace,
                None
            ),
            expected,
            "{keys}"
        );
    }
}
