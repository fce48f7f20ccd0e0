//! Provides a valid artifact of each kind, and runs of them.

use phileas_domain::pipeline::{Artifact, Run, RunFile, Settings};
use serde_json::{Value, json};

/// A valid artifact with all required keys.
pub(crate) fn sample(artifact: Artifact) -> Value {
    match artifact {
        Artifact::Plan => json!({
            "affected_files": ["src/a.rs"],
            "steps": [{ "order": 1, "action": "modify", "file": "src/a.rs", "description": "Do it." }],
            "acceptance_mapping": { "AC-1: it works": "tests/a.rs::works" },
        }),
        Artifact::Worker => json!({
            "status": "completed", "files_changed": ["src/a.rs"], "blockers": [], "summary": "Done.",
        }),
        Artifact::Test => json!({ "verdict": "PASS", "phase_1": { "lint": { "result": "PASS" } } }),
        Artifact::Debug => json!({
            "failure_source": "lint", "failure_description": "It fails.", "root_cause": "A typo.",
            "root_cause_file": "src/a.rs", "root_cause_line": 42, "classification": "fix_target",
            "fix_instructions": "Fix the typo.",
        }),
        Artifact::Review => {
            json!({ "verdict": "PASS", "blockers": [], "concerns": [], "nits": [] })
        }
        Artifact::Git => json!({
            "branch": "fix/a", "commit_sha": "4c1d2e3", "commit_message": "fix(ISSUE-1): Do it",
        }),
        Artifact::State => json!({
            "issue": "ISSUE-1", "status": "in_progress", "current_stage": "plan", "acceptance_criteria": [],
            "stages": {},
        }),
        Artifact::Trace => json!({ "issue_id": "ISSUE-1", "stages": [], "total_duration_ms": 0 }),
        Artifact::Lessons => json!({ "lessons": [] }),
    }
}

/// A sample with some keys changed.
pub(crate) fn with(artifact: Artifact, keys: Value) -> Value {
    let mut whole = sample(artifact);
    for (key, value) in keys.as_object().unwrap() {
        whole[key] = value.clone();
    }
    whole
}

/// A file of a run.
pub(crate) fn file(name: &str, document: &Value) -> RunFile {
    RunFile {
        name: name.to_owned(),
        bytes: serde_json::to_vec_pretty(document).unwrap(),
    }
}

/// A run of the issue `ISSUE-1`.
pub(crate) fn run(files: &[RunFile]) -> Run {
    Run::read_run("ISSUE-1".parse().unwrap(), files, Settings::default())
}
