//! Tests what phileas writes into a trace.

use jiff::Timestamp;
use phileas_domain::pipeline::{
    Artifact, CheckStage, Made, Outcome, Run, RunFile, Settings, Tier, TraceError, add_to_trace,
    check_stage, read_artifact,
};
use serde_json::{Value, json};

use crate::samples::{run, with};

fn made(at: &str) -> Made {
    Made {
        at: at.parse::<Timestamp>().unwrap(),
        started_at: None,
        agent: None,
    }
}

/// Writes an artifact as the command does: the trace is extended, and the file is replaced.
pub(crate) fn write(files: &mut Vec<RunFile>, artifact: Artifact, keys: Value, made: &Made) -> Run {
    let reading = read_artifact(
        artifact,
        artifact.file_name(),
        &with(artifact, keys).to_string(),
        &Settings::default(),
    );
    let text = reading.normal_form().unwrap();
    let trace = add_to_trace(&run(files), &reading, &text, made).unwrap();
    let put = |files: &mut Vec<RunFile>, name: &str, text: String| {
        files.retain(|file| file.name != name);
        files.push(RunFile {
            name: name.to_owned(),
            bytes: text.into(),
        });
    };
    put(files, artifact.file_name(), text);
    if let Some(trace) = trace {
        put(files, "pipeline-trace.json", trace);
    }
    run(files)
}

/// Concurrent writers do not write in the order of their timestamps.
#[test]
fn stages_are_listed_as_they_came_whatever_their_clocks_said() {
    let mut files = Vec::new();
    let mut whole = None;
    for (artifact, keys, at) in [
        (Artifact::Plan, json!({}), "2026-01-05T10:00:00Z"),
        (Artifact::Worker, json!({}), "2026-01-05T10:00:05Z"),
        (
            Artifact::Test,
            json!({ "verdict": "FAIL" }),
            "2026-01-05T10:00:06Z",
        ),
        (Artifact::Worker, json!({}), "2026-01-05T10:00:03Z"),
    ] {
        whole = Some(write(&mut files, artifact, keys, &made(at)));
    }
    let whole = whole.unwrap();
    assert_eq!(check_stage(&whole, CheckStage::Trace, None), []);
    let trace = whole.reading(Artifact::Trace).unwrap().document().unwrap();
    assert_eq!(trace["stages"][3]["started_at"], trace_time("10:00:06"));
    assert_eq!(trace["stages"][3]["duration_ms"], 0);
    assert_eq!(trace["total_duration_ms"], 6000);

    // An attempt never begins before the one above it, whatever its agent says.
    let early = Made {
        started_at: Some("2020-01-01T00:00:00Z".parse().unwrap()),
        ..made("2026-01-05T10:00:08Z")
    };
    let whole = write(&mut files, Artifact::Worker, json!({}), &early);
    assert_eq!(check_stage(&whole, CheckStage::Trace, None), []);
    let trace = whole.reading(Artifact::Trace).unwrap().document().unwrap();
    assert_eq!(trace["stages"][4]["started_at"], trace_time("10:00:06"));
    assert_eq!(trace["total_duration_ms"], 8000);
}

fn trace_time(clock: &str) -> String {
    format!("2026-01-05T{clock}.000Z")
}

#[test]
fn a_trace_tells_of_every_attempt_and_its_own_check_takes_it() {
    let mut files = Vec::new();
    write(
        &mut files,
        Artifact::Plan,
        json!({}),
        &made("2026-01-05T10:00:00Z"),
    );
    write(
        &mut files,
        Artifact::Worker,
        json!({ "tier_used": "fast" }),
        &made("2026-01-05T10:00:02Z"),
    );
    write(
        &mut files,
        Artifact::Test,
        json!({ "verdict": "FAIL" }),
        &made("2026-01-05T10:00:05Z"),
    );
    let agent = Made {
        agent: Some("jg-worker-high".into()),
        ..made("2026-01-05T10:00:09Z")
    };
    let whole = write(&mut files, Artifact::Worker, json!({}), &agent);
    assert_eq!(check_stage(&whole, CheckStage::Trace, None), []);
    let trace = whole.reading(Artifact::Trace).unwrap().document().unwrap();
    assert_eq!(trace["total_duration_ms"], 9000);
    let told: Vec<(&str, &str, i64)> = trace["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["agent"].as_str().unwrap(),
                one["outcome"].as_str().unwrap(),
                one["duration_ms"].as_i64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("jg-subplanner", "planned", 0),
            ("jg-worker-fast", "completed", 2000),
            ("jg-tester", "fail", 3000),
            ("jg-worker-high", "completed", 4000),
        ]
    );
    let attempts = whole.attempts();
    assert_eq!(attempts.len(), 4);
    assert_eq!(
        (attempts[3].tier, attempts[2].outcome),
        (Tier::High, Outcome::Fail)
    );
}

#[test]
fn what_is_written_beside_the_trace_is_seen() {
    let mut files = Vec::new();
    write(
        &mut files,
        Artifact::Plan,
        json!({}),
        &made("2026-01-05T10:00:00Z"),
    );
    write(
        &mut files,
        Artifact::Worker,
        json!({}),
        &made("2026-01-05T10:00:02Z"),
    );
    files.retain(|file| file.name != "worker-result.json");
    let other = with(
        Artifact::Worker,
        json!({ "status": "blocked", "blockers": ["x"] }),
    );
    files.push(RunFile {
        name: "worker-result.json".into(),
        bytes: other.to_string().into(),
    });
    let attempts = run(&files).attempts();
    assert_eq!(attempts.len(), 3);
    assert_eq!(attempts[2].outcome, Outcome::Blocked);
}

#[test]
fn a_broken_trace_is_never_written_over() {
    let files = [RunFile {
        name: "pipeline-trace.json".into(),
        bytes: "{".into(),
    }];
    let reading = read_artifact(
        Artifact::Plan,
        "plan.json",
        &with(Artifact::Plan, json!({})).to_string(),
        &Settings::default(),
    );
    let wrong =
        add_to_trace(&run(&files), &reading, "x", &made("2026-01-05T10:00:00Z")).unwrap_err();
    assert!(
        matches!(&wrong, TraceError::Unsound { first } if first.contains("cut off")),
        "{wrong}"
    );
    let state = read_artifact(Artifact::State, "state.yaml", "x: 1", &Settings::default());
    assert_eq!(
        add_to_trace(&run(&[]), &state, "x", &made("2026-01-05T10:00:00Z")),
        Ok(None)
    );
}
