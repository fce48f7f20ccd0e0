//! `/mcp` of a service that knows several owners: each repository's work is paid by its own Jules key, and GitHub is asked
//! as the App, with no credential in the environment but the App's.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::rig::{PATIENCE, Rig};

/// What the service asks of programs.
const TOKEN: &str = "a-test-token-of-the-admin";

/// Calls a tool over HTTP as a client of today.
fn call(admin: SocketAddr, tool: &str, arguments: &Value) -> Value {
    call_as(admin, tool, json!({"arguments": arguments}), json!({}))
}

/// The same as a client with these capabilities, and with further parameters.
fn call_as(admin: SocketAddr, tool: &str, mut params: Value, capabilities: Value) -> Value {
    params["name"] = tool.into();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let body = body.to_string();
    let mut stream = TcpStream::connect(admin).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
         mcp-name: {tool}\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let message = answer
        .lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line))
        .find_map(|line| {
            serde_json::from_str::<Value>(line)
                .ok()
                .filter(|value| value["id"] == 1)
        });
    message.unwrap_or_else(|| panic!("{answer}"))["result"].clone()
}

fn done(admin: SocketAddr, tool: &str, arguments: &Value) -> Value {
    let result = call(admin, tool, arguments);
    assert_ne!(result["isError"], true, "{tool}: {result}");
    result["structuredContent"].clone()
}

/// Waits until the service knows repositories. Until GitHub has told which there are, which comes by installations, there is
/// no key to ask with.
fn until_known(admin: SocketAddr, repositories: &[&str]) {
    let begun = Instant::now();
    for repository in repositories {
        while call(admin, "status", &json!({"repo": repository}))["isError"] == true {
            assert!(begun.elapsed() < PATIENCE, "{repository}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn each_repository_is_worked_on_with_its_own_key() {
    let rig = Rig::new(&[("acme", 1), ("umbrella", 1)]);
    let both = ["acme/r0", "umbrella/r0"];
    let process = rig.start_with_token(TOKEN, &["--mcp"]);
    until_known(process.admin, &both);
    let mut made = Vec::new();
    for owner in ["acme", "umbrella"] {
        let wanted =
            json!({"repo": format!("{owner}/r0"), "prompt": "Tidy up.", "idempotency_key": "k"});
        let job = done(process.admin, "jules_create_job", &wanted);
        let again = done(process.admin, "jules_create_job", &wanted);
        assert_eq!(again["job_id"], job["job_id"], "{again}");
        made.push((owner, job["job_id"].as_str().unwrap().to_owned()));
    }
    {
        let world = rig.ground.world.lock_world();
        for (owner, id) in &made {
            let session = world
                .books()
                .sessions
                .iter()
                .find(|session| session.id == *id);
            let source = session.unwrap().source.clone().unwrap();
            assert_eq!(source, format!("sources/github/{owner}/r0"));
        }
    }
    // A service that was started again knows no job by its key yet.
    drop(process);
    let process = rig.start_with_token(TOKEN, &["--mcp"]);
    until_known(process.admin, &both);
    for (owner, id) in &made {
        let job = done(process.admin, "jules_get_job", &json!({"job_id": id}));
        assert_eq!(job["repo"], format!("{owner}/r0"));
        let said = json!({"job_id": id, "message": "Well done."});
        done(process.admin, "jules_send_message", &said);
        let repo = json!({"repo": format!("{owner}/r0"), "limit": 50});
        let listed = done(process.admin, "jules_list_jobs", &repo);
        let jobs = listed["jobs"].as_array().unwrap();
        assert!(
            jobs.iter().any(|job| job["job_id"] == id.as_str()),
            "{listed}"
        );
    }
    let listed = done(process.admin, "jules_list_jobs", &json!({}));
    let jobs = listed["jobs"].as_array().unwrap();
    for (_, id) in &made {
        let is_it = |job: &&Value| job["job_id"] == id.as_str();
        assert_eq!(jobs.iter().filter(is_it).count(), 1, "{listed}");
    }
    assert_eq!(listed["truncated"], false);
    // The jobs are registered, and the service checks them itself.
    let begun = Instant::now();
    let look = json!({"timeout_s": 1});
    while done(process.admin, "jules_wait_for_event", &look)["last_checked"].is_null() {
        assert!(begun.elapsed() < PATIENCE);
    }
    let strange = call(process.admin, "status", &json!({"repo": "else/where"}));
    let text = strange["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("does not look after else/where"), "{text}");
}

/// What a person said no to by one client, an agent does not do by another one that cannot ask.
#[test]
fn a_no_counts_for_every_client_of_the_service() {
    let rig = Rig::new(&[("acme", 1)]);
    let process = rig.start_with_token(TOKEN, &["--mcp"]);
    until_known(process.admin, &["acme/r0"]);
    let arguments = json!({"repo": "acme/r0"});
    let form = json!({"elicitation": {"form": {}}});
    let ask = || {
        call_as(
            process.admin,
            "run",
            json!({"arguments": arguments}),
            form.clone(),
        )
    };
    let asked = ask();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let answer = json!({"arguments": arguments, "requestState": asked["requestState"],
        "inputResponses": {"confirm": {"action": "decline"}}});
    let said = call_as(process.admin, "run", answer, form.clone());
    assert!(said.to_string().contains("the person refused"), "{said}");
    let confirmed = json!({"repo": "acme/r0", "confirm": true});
    for result in [call(process.admin, "run", &confirmed), ask()] {
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.to_string().contains("has refused"), "{result}");
    }
}
