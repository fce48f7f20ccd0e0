//! Runs of a pipeline through the tools and as resources: what agents on this machine hand to one another.

use std::fs;

use serde_json::{Value, json};

use super::events::subscribed;
use super::host::{HANDSHAKE, Host, TODAY, place};

const PLAN: &str = r#"{
  "affected_files": ["src/parse.rs"],
  "steps": [{ "order": 1, "action": "modify", "file": "src/parse.rs", "description": "Take an empty line." }],
  "acceptance_mapping": { "AC-1: an empty line is no error": "tests/parse.rs::empty_line" }
}"#;
const WORKER: &str = r#"{"status": "completed", "files_changed": ["src/parse.rs"], "blockers": [], "summary": "Done."}"#;

fn write(host: &mut Host, artifact: &str, text: &str) -> Value {
    let arguments = json!({"issue": "X-1", "artifact": artifact, "text": text});
    host.done("pipeline_write", arguments)
}

fn read(host: &mut Host, uri: &str) -> Value {
    let answer = host.ask("resources/read", json!({"uri": uri}));
    let text = answer["result"]["contents"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap()
}

#[test]
fn a_run_is_begun_checked_and_followed_through_tools() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    assert_eq!(host.done("pipeline_status", json!({}))["runs"], json!([]));
    let first = host.done("pipeline_next", json!({"issue": "X-1"}))["next"].clone();
    assert_eq!(
        (&first["action"], &first["stage"]),
        (&json!("run"), &json!("plan"))
    );
    host.refused(
        "pipeline_check",
        json!({"issue": "X-1", "stage": "plan"}),
        "no run of X-1",
    );
    let wrong = json!({"artifact": "plan", "text": "{\"steps\": 3}"});
    let found = host.done("pipeline_validate", wrong);
    assert_eq!(found["sound"], false);
    assert!(found["errors"].as_u64().unwrap() > 0, "{found}");
    assert!(
        found["findings"][0]["text"]
            .as_str()
            .unwrap()
            .contains("plan.json:1"),
        "{found}"
    );
    let arguments = json!({"issue": "X-1", "artifact": "plan.json", "text": "{\"steps\": 3}"});
    host.refused("pipeline_write", arguments, "nothing was written");
    assert!(
        !place.runs().exists(),
        "what is not sound leaves nothing behind"
    );

    let written = write(&mut host, "plan", PLAN);
    assert_eq!(written["uri"], "jules://pipeline/X-1/plan.json");
    assert_eq!(written["next"]["stage"], "implement");
    assert!(
        place.runs().join("X-1/pipeline-trace.json").is_file(),
        "it is traced"
    );
    write(&mut host, "worker-result", WORKER);
    let check = json!({"issue": "X-1", "stage": "implement"});
    host.refused("pipeline_check", check.clone(), "`changed` is missing");
    let mut within = check.clone();
    within["changed"] = json!(["src/parse.rs"]);
    assert_eq!(host.done("pipeline_check", within)["holds"], true);
    let mut beyond = check;
    beyond["changed"] = json!(["src/parse.rs", "src/other.rs"]);
    let found = host.done("pipeline_check", beyond);
    let names: Vec<_> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["check"].clone())
        .collect();
    assert!(names.contains(&json!("scope_extra")), "{found}");

    let status = host.done("pipeline_status", json!({"issue": "X-1"}));
    assert_eq!(status["runs"][0]["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(status["runs"][0]["next"]["stage"], "test");
    for number in 2..=4 {
        fs::create_dir_all(place.runs().join(format!("X-{number}"))).unwrap();
    }
    let mut seen = Vec::new();
    let mut cursor = json!(null);
    loop {
        let arguments = if cursor.is_null() {
            json!({"limit": 3})
        } else {
            json!({"limit": 3, "cursor": cursor})
        };
        let page = host.done("pipeline_status", arguments);
        seen.extend(
            page["runs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|run| run["next"]["issue"].clone()),
        );
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["X-1", "X-2", "X-3", "X-4"]);
    host.refused("pipeline_next", json!({"issue": "../X-1"}), "`issue`");
    host.refused(
        "pipeline_validate",
        json!({"artifact": "plna.json", "text": ""}),
        "plan.json",
    );
}

#[test]
fn artifacts_are_read_and_their_changes_heard() {
    let place = place(Vec::new());
    for revision in [HANDSHAKE, TODAY] {
        let mut host = place.host(revision, &[]);
        write(&mut host, "plan", PLAN);
        let listed = host.ask("resources/list", json!({}))["result"]["resources"].clone();
        let has = |uri: &str| {
            listed
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["uri"] == uri)
        };
        assert!(
            has("jules://pipeline") && has("jules://pipeline/X-1/plan.json"),
            "{listed}"
        );
        let plan = read(&mut host, "jules://pipeline/X-1/plan.json");
        assert_eq!(plan["steps"][0]["file"], "src/parse.rs");
        assert_eq!(
            read(&mut host, "jules://pipeline/X-1")["next"]["stage"],
            "implement"
        );
        assert_eq!(read(&mut host, "jules://pipeline")["issue"], "X-1");
        for uri in [
            "jules://pipeline/X-1/git-result.json",
            "jules://pipeline/X-9",
        ] {
            let answer = host.ask("resources/read", json!({"uri": uri}));
            assert!(answer["error"]["message"].is_string(), "{answer}");
        }
        let uri = "jules://pipeline/X-1/worker-result.json";
        if revision == HANDSHAKE {
            subscribed(&mut host, uri);
        } else {
            let wanted = json!({"resourceSubscriptions": [uri]});
            host.begin("subscriptions/listen", json!({"notifications": wanted}));
            host.hear("notifications/subscriptions/acknowledged");
        }
        // The worker is another process, and writes the file by itself.
        let text = WORKER.replace("Done.", revision);
        fs::write(place.runs().join("X-1/worker-result.json"), text).unwrap();
        let told = host.hear("notifications/resources/updated");
        assert_eq!(told["params"]["uri"], uri);
        assert_eq!(read(&mut host, uri)["summary"], revision);
        host.leave();
        fs::remove_dir_all(place.runs().join("X-1")).unwrap();
    }
    let values = |name: &str, begun: &str| {
        fs::create_dir_all(place.runs().join("Y-7")).unwrap();
        let mut host = place.host(TODAY, &[]);
        let answer = host.ask(
            "completion/complete",
            json!({"ref": {"type": "ref/resource", "uri": "jules://pipeline/{issue}/{artifact}"},
                "argument": {"name": name, "value": begun}}),
        );
        answer["result"]["completion"]["values"].clone()
    };
    assert_eq!(values("issue", "Y"), json!(["Y-7"]));
    assert_eq!(values("artifact", "work"), json!(["worker-result.json"]));
}

#[test]
fn a_client_that_may_only_read_writes_no_artifact() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &["--read-only"]);
    let listed = host.ask("tools/list", json!({}))["result"]["tools"].clone();
    let named = |name: &str| {
        listed
            .as_array()
            .unwrap()
            .iter()
            .any(|tool| tool["name"] == name)
    };
    assert!(named("pipeline_status") && named("pipeline_check") && !named("pipeline_write"));
    let arguments = json!({"issue": "X-1", "artifact": "plan", "text": PLAN});
    host.refused("pipeline_write", arguments, "read-only");
    assert!(!place.runs().exists());
}
