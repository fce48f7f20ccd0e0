//! Resources, prompts and completions.

use phileas_domain::jobs::EventKind;
use phileas_world::jules::Scenario;
use serde_json::{Value, json};

use super::events::happened;
use super::host::{FIRST, HANDSHAKE, Host, TODAY, job, place};

fn read(host: &mut Host, uri: &str) -> (String, String) {
    let answer = host.ask("resources/read", json!({"uri": uri}));
    let contents = &answer["result"]["contents"][0];
    assert_eq!(contents["uri"], uri, "{answer}");
    let text = |key: &str| contents[key].as_str().unwrap().to_owned();
    (text("text"), text("mimeType"))
}

#[test]
fn jobs_events_and_ledgers_are_read_by_their_addresses() {
    let place = place(vec![
        Scenario::default()
            .with_file("notes.md", "one\n")
            .with_minutes(5.0),
    ]);
    let mut host = place.host(TODAY, &["--allow", "acme/widget"]);
    let id = host.done("jules_create_job", job("Write."))["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    place.pass(30);
    happened(&place, &id, EventKind::Completed, "done");
    let listed = host.ask("resources/list", json!({}))["result"].clone();
    let uris: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    let own = format!("jules://jobs/{id}");
    assert_eq!(
        uris,
        [
            "jules://jobs",
            "jules://events",
            "jules://pipeline",
            "jules://state/acme/widget",
            &own
        ]
    );
    let (text, kind) = read(&mut host, &own);
    assert_eq!(kind, "application/json");
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap()["state"],
        "COMPLETED"
    );
    let (diff, kind) = read(&mut host, &format!("{own}/diff"));
    assert!(kind == "text/x-diff" && diff.contains("+one"), "{diff}");
    assert!(
        read(&mut host, &format!("{own}/messages"))
            .0
            .contains("\"role\"")
    );
    assert!(read(&mut host, "jules://jobs").0.contains(&id));
    assert!(read(&mut host, "jules://events").0.contains("\"done\""));
    assert!(read(&mut host, "jules://events/1").0.contains(&id));
    host.done("run", json!({"repo": "acme/widget", "confirm": true}));
    assert!(
        read(&mut host, "jules://state/acme/widget")
            .0
            .contains("\"tracks\"")
    );
    for (uri, code) in [
        ("jules://events/9", -32602),
        ("jules://jobs/99", -32602),
        ("jules://pipeline/acme/widget/42/plan.json", -32602),
        ("file:///etc/passwd", -32602),
        ("jules://state/acme/gadget", -32603),
    ] {
        let answer = host.ask("resources/read", json!({"uri": uri}));
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let answer = place
        .host(HANDSHAKE, &[])
        .ask("resources/read", json!({"uri": "jules://nothing"}));
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    assert_eq!(answer["error"]["data"]["uri"], "jules://nothing");
    let templates =
        host.ask("resources/templates/list", json!({}))["result"]["resourceTemplates"].clone();
    assert_eq!(templates.as_array().unwrap().len(), 8);
    let completed = host.ask(
        "completion/complete",
        json!({"ref": {"type": "ref/resource", "uri": "jules://jobs/{job_id}"},
            "argument": {"name": "job_id", "value": &id[..2]}}),
    );
    assert_eq!(completed["result"]["completion"]["values"], json!([id]));
}

#[test]
fn prompts_say_how_sessions_are_started() {
    let place = place(Vec::new());
    for revision in [FIRST, TODAY] {
        let mut host = place.host(revision, &[]);
        let listed = host.ask("prompts/list", json!({}))["result"]["prompts"].clone();
        let prompts = listed.as_array().unwrap();
        assert_eq!(prompts[0]["name"], "decompose_task");
        assert_eq!(prompts[0]["title"].is_null(), revision == FIRST);
        for prompt in prompts {
            let mut arguments = json!({});
            for argument in prompt["arguments"].as_array().unwrap() {
                arguments[argument["name"].as_str().unwrap()] = json!("something");
            }
            let given = json!({"name": prompt["name"], "arguments": arguments});
            let got = host.ask("prompts/get", given)["result"].clone();
            assert!(got["messages"][0]["content"]["text"].is_string(), "{got}");
        }
        let missing = host.ask(
            "prompts/get",
            json!({"name": "decompose_task", "arguments": {}}),
        );
        assert_eq!(missing["error"]["code"], -32602);
    }
}
