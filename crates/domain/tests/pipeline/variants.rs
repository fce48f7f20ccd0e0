//! Tests every variant: it is accepted, reported, and written in the normal form.

use phileas_domain::pipeline::{Artifact, Settings, read_artifact};
use serde_json::{Value, json};

use crate::samples::with;

/// A variant: the artifact, the keys as written, the same in the normal form, and words of the warning.
type Row = (Artifact, Value, Value, &'static str);

fn rows() -> Vec<Row> {
    let finding = json!({ "description": "Too long." });
    let step = |key: &str| json!({ "steps": [{ (key): 3, "action": "a", "file": "b", "description": "c" }] });
    vec![
        (
            Artifact::Test,
            json!({ "phase_1": { "lint": { "status": "PASS" } } }),
            json!({ "phase_1": { "lint": { "result": "PASS" } } }),
            "`status` stands in place of `result` (at phase_1.lint)",
        ),
        (
            Artifact::Test,
            json!({ "phase_1": { "lint": "PASS" } }),
            json!({ "phase_1": { "lint": { "result": "PASS" } } }),
            "the check is a bare word (at phase_1.lint)",
        ),
        (
            Artifact::Test,
            json!({ "phase_2": { "e2e": { "result": "PASS", "output": "ok" } } }),
            json!({ "phase_2": { "checks": { "e2e": { "result": "PASS", "output": "ok" } } } }),
            "phase 2 is a map of checks (at phase_2)",
        ),
        (
            Artifact::Test,
            json!({ "phase_2": { "checks": { "e2e": "FAIL" } } }),
            json!({ "phase_2": { "checks": { "e2e": { "result": "FAIL" } } } }),
            "bare word (at phase_2.checks.e2e)",
        ),
        (
            Artifact::Test,
            json!({ "verdict": "fail" }),
            json!({ "verdict": "FAIL" }),
            "`fail` is written in other capitals (at verdict)",
        ),
        (
            Artifact::Debug,
            json!({ "root_cause_line": "42" }),
            json!({ "root_cause_line": 42 }),
            "the line's number is a text (at root_cause_line)",
        ),
        (
            Artifact::Plan,
            step("id"),
            step("order"),
            "the step is numbered by `id` (at steps[0].id)",
        ),
        (
            Artifact::Plan,
            step("step"),
            step("order"),
            "the step is numbered by `step` (at steps[0].step)",
        ),
        (
            Artifact::Plan,
            json!({ "steps": [{ "order": 1, "description": "c", "file": "x" }] }),
            json!({ "steps": [{ "order": 1, "description": "c", "file": "x" }] }),
            "the step has no `action` (at steps[0].action)",
        ),
        (
            Artifact::Plan,
            json!({ "steps": [{ "order": 1, "description": "c", "action": "x" }] }),
            json!({ "steps": [{ "order": 1, "description": "c", "action": "x" }] }),
            "the step has no `file` (at steps[0].file)",
        ),
        (
            Artifact::Plan,
            json!({ "steps": [{ "order": 1, "description": "c", "action": "x", "file": "" }] }),
            json!({ "steps": [{ "order": 1, "description": "c", "action": "x", "file": null }] }),
            "the file is empty (at steps[0].file)",
        ),
        (
            Artifact::Plan,
            json!({ "risk_notes": "All of it." }),
            json!({ "risk_notes": ["All of it."] }),
            "the notes are one text (at risk_notes)",
        ),
        (
            Artifact::Worker,
            json!({ "risk_notes": "All of it." }),
            json!({ "risk_notes": ["All of it."] }),
            "the notes are one text (at risk_notes)",
        ),
        (
            Artifact::Plan,
            json!({ "self_assessment": { "confidence": "high" } }),
            json!({ "self_assessment": { "confidence": 0.9 } }),
            "the confidence is a word",
        ),
        (
            Artifact::Worker,
            json!({ "self_assessment": { "confidence": 1, "rationale": "Why." } }),
            json!({ "self_assessment": { "confidence": 1, "recommendation": "Why." } }),
            "`rationale` stands in place of `recommendation`",
        ),
        (
            Artifact::Review,
            json!({ "nits": ["Too long."] }),
            json!({ "nits": [finding] }),
            "the finding is a bare text (at nits[0])",
        ),
        (
            Artifact::Review,
            json!({ "blockers": ["Too long."] }),
            json!({ "blockers": [finding] }),
            "the finding is a bare text (at blockers[0])",
        ),
        (
            Artifact::State,
            json!({ "stages": { "plan": { "agent": "subplanner", "result": "pass" } } }),
            json!({ "stages": { "plan": { "agent": "jg-subplanner", "result": "PASS" } } }),
            "the agent's name does not begin with `jg-`",
        ),
        (
            Artifact::State,
            json!({ "acceptance_criteria": [{ "description": "It works.", "status": "pending" }] }),
            json!({ "acceptance_criteria": [{ "id": "AC-1", "text": "It works.", "status": "pending" }] }),
            "the criterion has no id",
        ),
        (
            Artifact::State,
            json!({ "retries": 2 }),
            json!({ "retries": [{ "stage": "plan" }, { "stage": "plan" }] }),
            "the retries are a count (at retries)",
        ),
    ]
}

#[test]
fn each_variant_is_taken_and_told_of() {
    for (artifact, variant, normal, warning) in rows() {
        let text = with(artifact, variant).to_string();
        let name = artifact.file_name();
        let reading = read_artifact(artifact, name, &text, &Settings::default());
        let found: Vec<String> = reading
            .diagnostics
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(reading.is_sound(), "{text}: {found:?}");
        let told = |one: &String| {
            one.contains(warning)
                && one.starts_with(&format!("{name}:1:"))
                && one.contains(": warning: ")
        };
        assert!(found.iter().any(told), "{text}: {found:?}");
        assert_eq!(reading.document().unwrap(), with(artifact, normal));
        // The normal form has the same meaning.
        let again = read_artifact(
            artifact,
            name,
            &reading.normal_form().unwrap(),
            &Settings::default(),
        );
        assert_eq!(again.document(), reading.document());
        assert_eq!(again.normal_form(), reading.normal_form());
    }
}

#[test]
fn escalation_is_a_status_and_a_cause_may_be_no_number() {
    let escalate = json!({ "status": "escalate", "files_changed": [], "blockers": ["Too hard."] });
    for (artifact, keys) in [
        (Artifact::Worker, escalate),
        (Artifact::Debug, json!({ "root_cause_line": "the loop" })),
        (
            Artifact::Worker,
            json!({ "escalation_history": null, "tier_used": null }),
        ),
        (
            Artifact::Plan,
            json!({ "architecture_assessment": "x", "produced_by": "jg-subplanner" }),
        ),
    ] {
        let text = with(artifact, keys).to_string();
        let reading = read_artifact(artifact, artifact.file_name(), &text, &Settings::default());
        assert_eq!(reading.diagnostics, [], "{text}");
    }
}

#[test]
fn lessons_may_stand_without_their_key() {
    let bare = "- date: '2026-01-05'\n  issue: X-1\n  pattern: Forgets the index\n";
    let reading = read_artifact(
        Artifact::Lessons,
        "lessons.yaml",
        bare,
        &Settings::default(),
    );
    assert_eq!(reading.diagnostics.len(), 1, "{:?}", reading.diagnostics);
    assert_eq!(
        reading.normal_form().unwrap(),
        "lessons:\n  - date: 2026-01-05\n    issue: \"X-1\"\n    pattern: \"Forgets the index\"\n"
    );
}

#[test]
fn a_rationale_that_is_not_text_stays_a_key_of_its_own() {
    for rationale in [json!(true), json!(null), json!(["a"]), json!({ "a": 1 })] {
        let own = json!({ "self_assessment": { "confidence": 1, "rationale": rationale } });
        let text = with(Artifact::Worker, own).to_string();
        let name = Artifact::Worker.file_name();
        let reading = read_artifact(Artifact::Worker, name, &text, &Settings::default());
        assert_eq!(reading.diagnostics, Vec::new(), "{text}");
        assert!(reading.is_sound(), "{text}");
    }
}
