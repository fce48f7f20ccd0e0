//! Tests each artifact: valid, without each key, with each key of a wrong kind, and with arbitrary text.

use phileas_domain::pipeline::{Artifact, Settings, read_artifact};
use serde_json::{Value, json};

use crate::samples::{sample, with};

/// The diagnostics of a text, one a line.
pub(crate) fn diagnostics_of(artifact: Artifact, text: &str) -> Vec<String> {
    let reading = read_artifact(artifact, artifact.file_name(), text, &Settings::default());
    reading
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).unwrap() + "\n"
}

#[test]
fn a_sound_artifact_is_its_own_normal_form() {
    for artifact in Artifact::ALL {
        let text = pretty(&sample(artifact));
        let reading = read_artifact(artifact, artifact.file_name(), &text, &Settings::default());
        assert_eq!(reading.diagnostics, [], "{artifact:?}");
        let normal = reading.normal_form().unwrap();
        match artifact {
            Artifact::State => assert!(
                normal.starts_with("issue: \"ISSUE-1\"\nstatus: "),
                "{normal}"
            ),
            Artifact::Lessons => assert_eq!(normal, "lessons: []\n"),
            _ => assert_eq!(normal, text),
        }
    }
}

#[test]
fn each_missing_key_is_told_at_the_map_that_lacks_it() {
    let mut missing = 0;
    for artifact in Artifact::ALL {
        let whole = sample(artifact);
        for key in artifact.schema()["required"].as_array().unwrap() {
            let key = key.as_str().unwrap();
            let mut less = whole.clone();
            less.as_object_mut().unwrap().shift_remove(key);
            let found = diagnostics_of(artifact, &format!("\n  {less}"));
            let start = format!(
                "{}:2:3: error: `{key}` is missing (at {key}); write ",
                artifact.file_name()
            );
            assert!(
                found.iter().any(|one| one.starts_with(&start)),
                "{start}: {found:?}"
            );
            missing += 1;
        }
    }
    assert_eq!(missing, 31);
}

#[test]
fn a_key_that_is_missing_further_inside_is_told_there() {
    for (artifact, keys, said_of) in [
        (
            Artifact::Plan,
            json!({ "steps": [{ "description": "d", "action": "a", "file": "f" }] }),
            "steps[0].order",
        ),
        (
            Artifact::Plan,
            json!({ "steps": [{ "order": 1, "action": "a", "file": "f" }] }),
            "steps[0].description",
        ),
        (
            Artifact::Plan,
            json!({ "self_assessment": {} }),
            "self_assessment.confidence",
        ),
        (
            Artifact::Worker,
            json!({ "escalation_history": [{ "from_tier": "fast", "reason": "x" }] }),
            "escalation_history[0].to_tier",
        ),
        (
            Artifact::Test,
            json!({ "phase_1": { "lint": {} } }),
            "phase_1.lint.result",
        ),
        (
            Artifact::Review,
            json!({ "blockers": [{ "file": "f", "line": 1 }] }),
            "blockers[0].description",
        ),
        (
            Artifact::State,
            json!({ "stages": { "plan": { "agent": "jg-subplanner" } } }),
            "stages.plan.result",
        ),
        (
            Artifact::State,
            json!({ "acceptance_criteria": [{ "id": "AC-1", "text": "x" }] }),
            "acceptance_criteria[0].status",
        ),
        (
            Artifact::Trace,
            json!({ "stages": [{ "stage": "plan" }] }),
            "stages[0].started_at",
        ),
        (
            Artifact::Lessons,
            json!({ "lessons": [{ "date": "2026-01-05", "issue": "X" }] }),
            "lessons[0].pattern",
        ),
    ] {
        let found = diagnostics_of(artifact, &with(artifact, keys).to_string());
        let told = |one: &String| {
            one.contains(": error: ") && one.contains(&format!("is missing (at {said_of}); write"))
        };
        assert!(found.iter().any(told), "{said_of}: {found:?}");
    }
}

#[test]
fn each_value_of_a_wrong_kind_is_told_at_its_place() {
    let mut tried = 0;
    for artifact in Artifact::ALL {
        let schema = artifact.schema();
        for (key, of) in schema["properties"].as_object().unwrap() {
            // Numbers and booleans where neither is allowed; a list of maps where anything else is.
            for wrong in [json!(true), json!(-1.5), json!([{}])] {
                let fits = match wrong {
                    Value::Bool(_) => of.to_string().contains("boolean"),
                    _ => false,
                };
                if fits {
                    continue;
                }
                let document = with(artifact, json!({ (key): wrong }));
                let text = pretty(&document);
                let line = 1 + text
                    .lines()
                    .position(|one| one.starts_with(&format!("  \"{key}\":")))
                    .unwrap();
                let found = diagnostics_of(artifact, &text);
                let place = format!("{}:{line}:", artifact.file_name());
                let at_all =
                    |one: &String| one.contains(": error: ") && one.contains(&format!("(at {key}"));
                assert!(
                    found
                        .iter()
                        .any(|one| at_all(one) && (one.starts_with(&place) || wrong.is_array())),
                    "{key}: {wrong}: {found:?}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn rubbish_is_told_and_nothing_is_made_of_it() {
    for artifact in Artifact::ALL {
        for text in [
            "",
            "{",
            "[1, 2",
            "null",
            "7",
            "\"plan\"",
            "\0",
            "{\"a\": \u{1}}",
            "<html></html>",
            "- - -",
        ] {
            let reading = read_artifact(artifact, artifact.file_name(), text, &Settings::default());
            assert!(!reading.is_sound(), "{artifact:?}: {text:?}");
            assert_eq!(reading.normal_form(), None);
            let first = reading
                .diagnostics
                .iter()
                .find(|one| one.is_error())
                .unwrap();
            assert!(first.line.is_some() && !first.message.is_empty(), "{first}");
        }
    }
    let list = diagnostics_of(Artifact::Plan, "[]");
    assert_eq!(
        list,
        [
            "plan.json:1:1: error: a list stands where a map belongs; write the keys `affected_files`, `steps`, `acceptance_mapping`"
        ]
    );
}

#[test]
fn a_message_names_line_column_key_and_help() {
    let text = "{\n  \"verdict\": \"OK\",\n  \"phase_1\": {\n    \"lint\": { \"result\": \"PASS\", \"output\": 7 }\n  }\n}\n";
    assert_eq!(
        diagnostics_of(Artifact::Test, text),
        [
            "test-result.json:2:14: error: `OK` is none of the words it may be (at verdict); write `PASS`, `FAIL` or `SKIP`",
            "test-result.json:4:43: error: a number stands where a text belongs (at phase_1.lint.output); write a text, at most 200000 characters",
        ]
    );
    let slip = with(
        Artifact::Test,
        json!({ "inline_triag": true, "produced_by": "jg-tester", "mine": {} }),
    );
    let found = diagnostics_of(Artifact::Test, &pretty(&slip));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].ends_with(
            "warning: unknown key `inline_triag` (at inline_triag); did you mean `inline_triage`?"
        ),
        "{found:?}"
    );
}

#[test]
fn unknown_keys_are_kept() {
    let text = pretty(&with(
        Artifact::Test,
        json!({ "failure_details": { "test_file": "a.rs", "n": [1.5, null, -3] }, "phase_2": null }),
    ));
    let reading = read_artifact(
        Artifact::Test,
        "test-result.json",
        &text,
        &Settings::default(),
    );
    assert_eq!(reading.normal_form().unwrap(), text);
}

#[test]
fn a_repository_may_ask_for_self_assessments() {
    let asked = Settings {
        assessed: true,
        ..Settings::default()
    };
    let assessed =
        json!({ "confidence": 0.8, "uncertainty_areas": [], "recommendation": "Go on." });
    for artifact in Artifact::ALL {
        let name = artifact.file_name();
        let bare = read_artifact(artifact, name, &sample(artifact).to_string(), &asked);
        let result = artifact.stage().is_some();
        assert_eq!(bare.is_sound(), !result, "{artifact:?}");
        if result {
            assert!(
                bare.diagnostics[0]
                    .to_string()
                    .contains("`self_assessment` is missing")
            );
            let null = with(artifact, json!({ "self_assessment": null }));
            assert!(!read_artifact(artifact, name, &null.to_string(), &asked).is_sound());
            let whole = with(artifact, json!({ "self_assessment": assessed }));
            assert!(read_artifact(artifact, name, &whole.to_string(), &asked).is_sound());
        }
    }
    let high = with(
        Artifact::Plan,
        json!({ "self_assessment": { "confidence": 1.1 } }),
    );
    let found = diagnostics_of(Artifact::Plan, &high.to_string());
    assert!(
        found[0].contains(
            "1.1 is out of range (at self_assessment.confidence); write a number from 0 to 1"
        ),
        "{found:?}"
    );
}

#[test]
fn a_file_is_known_by_its_name_alone() {
    assert_eq!(
        Artifact::from_path(".pipeline/X-1/worker-result-fast.json").unwrap(),
        Artifact::Worker
    );
    assert_eq!(
        Artifact::from_path("test-result-fail.json").unwrap(),
        Artifact::Test
    );
    assert_eq!(
        Artifact::from_path("lessons.yaml").unwrap(),
        Artifact::Lessons
    );
    let near = Artifact::from_path("a/worker-results.json")
        .unwrap_err()
        .to_string();
    assert_eq!(
        near,
        "unknown artifact: worker-results.json; did you mean `worker-result.json`?"
    );
    assert!(Artifact::from_path("plan.json/x").is_err());
}

#[test]
fn chosen_names_have_as_many_characters_as_a_line() {
    let named = |name: &str| {
        let mut plan = sample(Artifact::Plan);
        plan["acceptance_mapping"] = json!({ name: "a test" });
        let found = diagnostics_of(Artifact::Plan, &pretty(&plan));
        found.iter().any(|one| one.contains("this is not a name"))
    };
    assert!(!named(&"n".repeat(500)));
    assert!(named(&"n".repeat(501)));
    assert!(named(" "));
}
