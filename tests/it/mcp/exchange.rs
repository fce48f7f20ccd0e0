//! What is said in each revision of the protocol, word by word.

use serde_json::{Value, json};

use super::host::{FIRST, HANDSHAKE, Host, TODAY, place};

/// The tools of the first design.
const FIRST_TOOLS: [&str; 10] = [
    "jules_create_job",
    "jules_register_job",
    "jules_get_job",
    "jules_get_messages",
    "jules_send_message",
    "jules_get_artifacts",
    "jules_request_retry",
    "jules_merge_pr",
    "jules_cancel_job",
    "jules_list_jobs",
];

fn tools(host: &mut Host) -> Vec<Value> {
    let answer = host.ask("tools/list", json!({}));
    answer["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn the_first_revision_is_spoken_as_it_was() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    let names: Vec<String> = tools(&mut host)
        .iter()
        .map(|tool| {
            for unknown in ["annotations", "outputSchema", "title", "icons", "_meta"] {
                assert!(tool[unknown].is_null(), "{unknown} in {tool}");
            }
            assert_eq!(tool["inputSchema"]["type"], "object");
            tool["name"].as_str().unwrap().to_owned()
        })
        .collect();
    for name in FIRST_TOOLS {
        assert!(names.iter().any(|known| known == name), "{name} is missing");
    }
    assert_eq!(host.ask("ping", json!({}))["result"], json!({}));
    let unknown = host.ask("no/such", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    assert_eq!(unknown["error"]["message"], "unknown method `no/such`");
    let result = host.call("jules_list_jobs", json!({"repo": "acme/widget"}));
    assert!(result["structuredContent"].is_null(), "{result}");
    let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said["jobs"], json!([]));
    host.refused("nosuch", json!({}), "there is no tool `nosuch`");
    host.refused("jules_get_job", json!({}), "`job_id` is missing");
    assert_eq!(host.leave(), (Vec::new(), 0));
}

/// Many models write a number as a text, and all arguments as one.
#[test]
fn what_models_write_as_texts_is_taken_where_it_says_the_same() {
    let place = place(Vec::new());
    for revision in [FIRST, HANDSHAKE, TODAY] {
        let mut host = place.host(revision, &[]);
        for arguments in [
            json!({"limit": "5"}),
            json!({"limit": " 5 "}),
            json!({"limit": 5.0}),
            json!({"limit": "5.0", "include_acknowledged": "true"}),
        ] {
            let result = host.call("jules_list_events", arguments.clone());
            assert_ne!(result["isError"], true, "{arguments}: {result}");
        }
        for arguments in [
            json!({"limit": "five"}),
            json!({"limit": 5.5}),
            json!({"limit": "-1"}),
        ] {
            host.refused(
                "jules_list_events",
                arguments,
                "the arguments of jules_list_events are wrong: `limit`: ",
            );
        }
        host.refused(
            "jules_ack_event",
            json!({"event_id": "7"}),
            "there is no event 7",
        );
        let tool = |arguments: Value| json!({"name": "jules_list_events", "arguments": arguments});
        let taken = host.ask("tools/call", tool(json!("{\"limit\": 5}")));
        assert_ne!(taken["result"]["isError"], true, "{taken}");
        assert!(taken["result"]["content"][0]["text"].is_string(), "{taken}");
        for (arguments, said) in [
            (
                json!("five"),
                "`arguments` of tools/call is a text without a JSON object",
            ),
            (
                json!("[5]"),
                "`arguments` of tools/call is a text without a JSON object",
            ),
            (json!([5]), "`arguments` of tools/call is a list"),
            (json!(5), "`arguments` of tools/call is a number"),
            (json!(true), "`arguments` of tools/call is a boolean"),
        ] {
            let refused = host.ask("tools/call", tool(arguments.clone()));
            assert_eq!(refused["error"]["code"], -32602, "{arguments}: {refused}");
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.contains(said), "{message}");
        }
        for (method, params) in [
            ("tools/call", json!({"arguments": {}})),
            ("resources/read", json!({})),
            ("prompts/get", json!({"name": 5})),
        ] {
            let refused = host.ask(method, params);
            assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.contains(method), "{message}");
        }
        let unknown = host.ask("no/such", json!({}));
        assert_eq!(unknown["error"]["code"], -32601);
        assert_eq!(unknown["error"]["message"], "unknown method `no/such`");
        assert_eq!(host.leave(), (Vec::new(), 0));
    }
}

#[test]
fn each_revision_meets_the_client_it_was_written_for() {
    let place = place(Vec::new());
    for (asked, answered, name) in [
        (FIRST, FIRST, "zai-jules-mcp"),
        ("2025-03-26", "2025-03-26", "phileas"),
        ("2025-06-18", "2025-06-18", "phileas"),
        (HANDSHAKE, HANDSHAKE, "phileas"),
        ("1999-01-01", HANDSHAKE, "phileas"),
    ] {
        let command = place.program(&[]).into_command();
        let mut host = Host::start(command, asked, json!({}));
        let greeting = host.greet();
        assert_eq!(greeting["protocolVersion"], answered, "{asked}");
        assert_eq!(greeting["serverInfo"]["name"], name, "{asked}");
        let is_first = name == "zai-jules-mcp";
        assert_eq!(
            greeting["serverInfo"]["version"] == "1.0.0",
            is_first,
            "{asked}"
        );
        assert_eq!(
            greeting["capabilities"]["completions"].is_null(),
            is_first,
            "{asked}"
        );
        assert!(greeting["instructions"].as_str().unwrap().len() < 1_200);
        host.leave();
    }
}

#[test]
fn a_stateless_client_sends_no_handshake() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    let found = host.ask("server/discover", json!({}))["result"].clone();
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(TODAY)), "{found}");
    let listed = host.ask("tools/list", json!({}))["result"].clone();
    assert_eq!(listed["resultType"], "complete");
    assert!(
        listed["ttlMs"].is_u64() && listed["cacheScope"].is_string(),
        "{listed}"
    );
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(
                tool["annotations"][hint].is_boolean(),
                "{name} has no {hint}"
            );
        }
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        assert!(
            tool["title"].is_string() && tool["description"].is_string(),
            "{name}"
        );
    }
    let again = host.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(again, listed["tools"], "the order is always the same");
    let wrong = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}}});
    host.send_message(
        &json!({"jsonrpc": "2.0", "id": "w", "method": "tools/list", "params": wrong}),
    );
    let answer = host.next().unwrap();
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["requested"], "1900-01-01");
    assert_eq!(host.ask("ping", json!({}))["error"]["code"], -32601);
    assert_eq!(host.leave(), (Vec::new(), 0));
}

/// Upstream defect 6: the result of a tool was bare JSON in place of a list of blocks.
#[test]
fn defect_06_a_result_is_a_list_of_blocks() {
    let place = place(Vec::new());
    for revision in [FIRST, HANDSHAKE, TODAY] {
        let mut host = place.host(revision, &[]);
        for (tool, arguments) in [
            ("jules_list_jobs", json!({})),
            ("jules_get_job", json!({"job_id": "77"})),
        ] {
            let result = host.call(tool, arguments);
            let blocks = result["content"].as_array().unwrap();
            assert!(!blocks.is_empty(), "{result}");
            for block in blocks {
                assert_eq!(block["type"], "text", "{result}");
                assert!(block["text"].is_string(), "{result}");
            }
            let structured = revision != FIRST && result["isError"] != true;
            assert_eq!(
                result["structuredContent"].is_object(),
                structured,
                "{result}"
            );
        }
    }
}

/// Upstream defect 8a: a notification was answered, by an error, and `ping` was unknown.
#[test]
fn defect_08a_a_notification_is_not_answered_and_a_ping_is() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    host.send_message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    host.send_message(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}),
    );
    assert_eq!(host.ask("ping", json!({}))["result"], json!({}));
    assert!(host.notifications.is_empty(), "{:?}", host.notifications);
    assert_eq!(host.leave(), (Vec::new(), 0));
}

/// Upstream defect 8b: a bad first line killed the server, a later one was answered under the id of another request.
/// JSON-RPC wants it to be answered under no id.
#[test]
fn defect_08b_a_bad_line_neither_ends_the_server_nor_borrows_an_id() {
    let place = place(Vec::new());
    let command = place.program(&[]).into_command();
    let mut host = Host::start(command, FIRST, json!({}));
    host.line("{ this is not json");
    assert_no_json(&host.next().unwrap());
    host.greet();
    assert_eq!(host.ask("ping", json!({}))["result"], json!({}));
    host.line("nor is this");
    assert_no_json(&host.next().unwrap());
    host.raw("\u{feff}\r\n \n\"\u{0}\"\n");
    assert_no_json(&host.next().unwrap());
    let id = host.begin("ping", json!({}));
    let answer = host.next().unwrap();
    assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &json!({})));
    assert_eq!(host.leave(), (Vec::new(), 0));
}

#[track_caller]
fn assert_no_json(answer: &Value) {
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    assert_eq!(answer.get("id"), Some(&Value::Null), "{answer}");
}

#[test]
fn what_is_json_and_no_request_is_answered_under_its_id_where_it_has_one() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    for (line, id) in [
        ("[]", Value::Null),
        ("7", Value::Null),
        ("{\"id\":8,\"method\":\"ping\"}", json!(8)),
        ("{\"id\":{},\"method\":\"ping\"}", Value::Null),
    ] {
        host.line(line);
        let answer = host.next().unwrap();
        assert_eq!(answer["error"]["code"], -32600, "{line}: {answer}");
        assert_eq!(answer.get("id"), Some(&id), "{line}: {answer}");
    }
    // What is no message is answered also when it is the last thing that is said.
    host.raw("{ half");
    let (rest, code) = host.leave();
    assert_eq!((rest.len(), code), (1, 0));
    assert_no_json(&rest[0]);
}

/// Revision 2025-03-26 lets clients say several things in one line.
#[test]
fn each_message_of_a_batch_is_answered() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    host.line(
        r#"[{"jsonrpc":"2.0","id":80,"method":"ping"},7,{"jsonrpc":"2.0","method":"notifications/none"},{"jsonrpc":"2.0","id":81,"method":"tools/list"}]"#,
    );
    let mut answers: Vec<Value> = (0..3).map(|_| host.next().unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["error"]["code"], -32600, "{answers:?}");
    assert_eq!(answers[1]["result"], json!({}), "{answers:?}");
    assert!(answers[2]["result"]["tools"].is_array(), "{answers:?}");
    host.line(&format!("[7{}]", ",7".repeat(200)));
    assert_eq!(host.next().unwrap()["error"]["code"], -32600);
    assert_eq!(host.leave(), (Vec::new(), 0));
}

/// Rubbish without an end costs no more memory than the longest message.
#[test]
fn a_line_without_end_is_passed_over() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    let before = host.peak_bytes();
    let part = "x".repeat(1 << 20);
    for _ in 0..256 {
        host.raw(&part);
    }
    host.line("");
    assert_no_json(&host.next().unwrap());
    assert_eq!(host.ask("ping", json!({}))["result"], json!({}));
    let grown = host.peak_bytes() - before;
    assert!(grown < 32 << 20, "{grown} bytes for rubbish");
    assert_eq!(host.leave(), (Vec::new(), 0));
}

/// Upstream defect 8: a notification was answered, and a line that is no JSON ended the server or got a wrong id.
#[test]
fn defect_08_nothing_that_is_said_ends_the_server() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    host.line("this is not json");
    host.line("");
    host.line("[]");
    host.send_message(&json!({"jsonrpc": "2.0", "method": "notifications/unknown_method"}));
    host.raw("{\"jsonrpc\":\"2.0\",\"id\":90,");
    host.raw("\"method\":\"ping\"}\n");
    loop {
        let answer = host.next().unwrap();
        if answer["id"] == 90 {
            assert_eq!(answer["result"], json!({}));
            break;
        }
        // A line that is JSON and no message may be refused, under no id.
        assert!(
            answer["id"].is_null() && answer["error"].is_object(),
            "{answer}"
        );
    }
    host.leave();
}

#[test]
fn a_last_line_without_an_end_counts() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    host.raw("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}");
    let (rest, code) = host.leave();
    assert_eq!(code, 0);
    assert_eq!(rest, [json!({"jsonrpc": "2.0", "id": 7, "result": {}})]);
}

#[test]
fn a_client_that_leaves_at_once_is_no_fault() {
    let place = place(Vec::new());
    let host = place.host(TODAY, &[]);
    assert_eq!(host.leave(), (Vec::new(), 0));
}
