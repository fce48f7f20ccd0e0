//! Tests that validator and JSON Schema agree, because both are generated from one table.

use std::sync::LazyLock;

use jsonschema::Validator;
use phileas_domain::pipeline::{Artifact, Settings, read_artifact};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::samples::with;

static VALIDATORS: LazyLock<Vec<Validator>> = LazyLock::new(|| {
    let build = |artifact: &Artifact| {
        let mut options = jsonschema::draft7::options().should_validate_formats(true);
        options = options.with_pattern_options(jsonschema::PatternOptions::regex());
        options.build(&artifact.schema()).unwrap()
    };
    Artifact::ALL.iter().map(build).collect()
});

/// Any value, valid or not.
fn anything() -> impl Strategy<Value = Value> {
    let small = select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(2.0),
        json!(0.5),
        json!(1.5),
        json!(1e18),
        json!(""),
        json!(" "),
        json!("a\nb"),
        json!("<text>"),
        json!("PASS"),
        json!("FAIL"),
        json!("SKIP"),
        json!("pass"),
        json!("fast"),
        json!("42"),
        json!("high"),
        json!("fix_target"),
        json!("completed"),
        json!("2026-01-05"),
        json!("2026-01-05T10:00:00Z"),
        json!("2026-02-30"),
        json!("x".repeat(501)),
        json!("plan"),
        json!("in_progress"),
    ]);
    let keys = vec![
        "result",
        "status",
        "output",
        "checks",
        "order",
        "id",
        "description",
        "file",
        "line",
        "fix",
        "text",
        "agent",
        "confidence",
        "rationale",
        "recommendation",
        "from_tier",
        "to_tier",
        "reason",
        "stage",
        "date",
        "issue",
        "pattern",
        "started_at",
        "duration_ms",
        "artifact",
        "action",
        "depends_on",
        "timing_ms",
        "other",
    ];
    small.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::btree_map(select(keys.clone()), inner, 0..4).prop_map(|map| {
                Value::Object(
                    map.into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

/// A valid artifact in which some keys have arbitrary values.
fn document() -> impl Strategy<Value = (usize, Value)> {
    (0..Artifact::ALL.len()).prop_flat_map(|at| {
        let artifact = Artifact::ALL[at];
        let schema = artifact.schema();
        let mut names: Vec<String> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        names.push("other".to_owned());
        let keys = proptest::collection::btree_map(select(names), anything(), 0..3);
        keys.prop_map(move |keys| (at, with(artifact, serde_json::to_value(keys).unwrap())))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn schema_and_validator_are_of_one_mind((at, document) in document()) {
        let (artifact, validator) = (Artifact::ALL[at], &VALIDATORS[at]);
        let read = |text: &str| read_artifact(artifact, artifact.file_name(), text, &Settings::default());
        let reading = read(&document.to_string());
        if validator.is_valid(&document) {
            prop_assert!(reading.is_sound(), "the schema takes {document}: {:?}", reading.diagnostics);
        }
        match (reading.document(), reading.normal_form()) {
            (Some(normal), Some(text)) => {
                prop_assert!(validator.is_valid(&normal), "the schema does not take {normal}");
                // The normal form is stable: read again, it is the same, without variants.
                let again = read(&text);
                prop_assert_eq!(again.normal_form(), Some(text));
                let first = reading.diagnostics.len();
                prop_assert!(again.diagnostics.len() <= first, "{:?}", again.diagnostics);
            }
            _ => prop_assert!(!validator.is_valid(&document), "the schema takes {document}: {:?}", reading.diagnostics),
        }
    }
}
