//! The schemas that editors and agents read.

use super::super::bench::alone;

#[test]
fn every_artifact_has_a_schema_of_its_own() {
    for name in [
        "plan",
        "worker-result",
        "test-result",
        "debug-diagnosis",
        "review-result",
        "git-result",
        "state",
        "trace",
        "lessons",
    ] {
        let schema = alone(&["schema", &format!("pipeline-{name}")])
            .done()
            .json();
        assert_eq!(schema["type"], "object", "{name}");
        assert!(!schema["required"].as_array().unwrap().is_empty(), "{name}");
    }
}
