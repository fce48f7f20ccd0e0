//! The client of the first design: one `tools/call`, no handshake, no end of the line, and then the end of the input.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::host::{TestService, place};

/// Everything that the server writes to a client that writes this and closes its output.
fn said_to(place: &TestService, input: &str) -> Vec<Value> {
    let mut child = place
        .program(&[])
        .into_command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn call(id: &str, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// It was told that `_meta` is missing.
#[test]
fn a_call_without_a_handshake_is_answered() {
    let place = place(Vec::new());
    let said = said_to(&place, &call("mcp-client", "jules_list_jobs", &json!({})));
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["id"], "mcp-client");
    let content = &said[0]["result"]["content"];
    let text = content[0]["text"].as_str().unwrap();
    let document: Value = serde_json::from_str(text).unwrap();
    assert!(document["jobs"].is_array(), "{text}");
    // The first revision knows no structured content.
    assert_eq!(said[0]["result"].get("structuredContent"), None);
    let refused = said_to(
        &place,
        &call("x", "jules_get_job", &json!({"job_id": "404"})),
    );
    assert_eq!((refused.len(), &refused[0]["id"]), (1, &json!("x")));
    assert_eq!(refused[0]["result"]["isError"], true, "{refused:?}");
}

#[test]
fn other_beginnings_without_a_handshake_are_answered_too() {
    let place = place(Vec::new());
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}).to_string();
    let early = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let two = call("a", "jules_list_events", &json!({}));
    for (input, ids) in [
        (format!("{early}\n{list}\n"), vec![json!(7)]),
        (format!("no JSON\n{list}"), vec![Value::Null, json!(7)]),
        (
            format!("{ping}\n{list}\n{two}\n"),
            vec![json!(1), json!(7), json!("a")],
        ),
        (format!("\u{feff}{list}\n"), vec![json!(7)]),
        (format!("[{list},{two}]\n"), vec![json!(7), json!("a")]),
    ] {
        let said = said_to(&place, &input);
        let answered: Vec<_> = said.iter().map(|one| one["id"].clone()).collect();
        assert_eq!(answered.len(), ids.len(), "{input}: {said:?}");
        for id in ids {
            assert!(answered.contains(&id), "{input}: {said:?}");
        }
    }
}

/// The configuration's `mcp_command` was read and nothing was asked of it.
#[test]
fn the_handler_asks_the_server_of_its_configuration() {
    let place = place(Vec::new());
    let folder = place.files.path();
    let server = folder.join("server");
    let log = folder.join("log");
    // It knows no handshake, as the first server: it refuses what it does not know, and answers the call.
    let script = format!(
        "#!/bin/sh\necho starting\nwhile read -r line; do\n  printf '%s\\n' \"$line\" >> '{}'\n  case \"$line\" in\n    \
         *tools/call*) printf '%s\\n' '{}';;\n    *) printf '%s\\n' '{}';;\n  esac\ndone\n",
        log.display(),
        json!({"jsonrpc": "2.0", "id": "zai-event-handler", "result": {"content": {"pr": "of the server"}}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Unsupported method"}}),
    );
    fs::write(&server, script).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    let phileas = env!("CARGO_BIN_EXE_phileas");
    for (command, kind, wanted) in [
        (json!([server]), "completed", Some("of the server")),
        (json!([server]), "stuck", Some("of the server")),
        (json!([server]), "question", None),
        (
            json!([phileas, "mcp"]),
            "stuck",
            Some("tool of the MCP server failed"),
        ),
        (
            json!(["/nowhere/server.py"]),
            "completed",
            Some("cannot be started"),
        ),
        (json!(["true"]), "completed", Some("exited without a reply")),
    ] {
        let config = folder.join("config.json");
        fs::write(&config, json!({"mcp_command": command}).to_string()).unwrap();
        let event = json!({"event": kind, "job_id": "77"}).to_string();
        let arguments = ["handle-event", "--config", config.to_str().unwrap()];
        let ended = crate::support::Phileas::new(&arguments)
            .within(&place.served)
            .env("JULES_EVENT", &event)
            .run();
        match wanted {
            Some(words) => assert!(ended.out.contains(words), "{command}: {ended}"),
            None => assert!(!ended.out.contains("mcp_command"), "{command}: {ended}"),
        }
    }
    let asked = fs::read_to_string(log).unwrap();
    let calls: Vec<Value> = asked
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|one: &Value| one["method"] == "tools/call")
        .collect();
    let called: Vec<_> = calls.iter().map(|one| &one["params"]["name"]).collect();
    assert_eq!(called, ["jules_get_artifacts", "jules_get_job"]);
    assert_eq!(calls[0]["params"]["arguments"], json!({"job_id": "77"}));
}
