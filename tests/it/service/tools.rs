//! The tools for agents at `/mcp` of the admin listener: for those who may, and only where they are wanted.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::json;

use super::served::Service;
use crate::support::Phileas;

const TOKEN: &str = "a-test-token-of-the-admin";

fn start(data: &tempfile::TempDir, more: &[&str]) -> Service {
    let wanted = |program: Phileas| {
        program
            .env("PHILEAS_ADMIN_TOKEN", TOKEN)
            .env("JULES_API_KEY", "test-key")
            .env("JULES_API_BASE", "http://127.0.0.1:9/v1alpha")
            .env("PHILEAS_MCP_READ_ONLY", "true")
            .env(
                "PHILEAS_JOBS_PATH",
                data.path().join("jobs").to_str().unwrap(),
            )
            .env(
                "PHILEAS_EVENTS_PATH",
                data.path().join("events").to_str().unwrap(),
            )
    };
    Service::start_with(&data.path().join("data"), more, wanted)
}

/// The whole answer to one request for the list of tools.
fn tools(address: SocketAddr, further: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
            .to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\n\
         {further}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn agents_are_served_on_the_admin_listener_where_that_is_wanted() {
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    let data = tempfile::tempdir().unwrap();
    let service = start(&data, &["--mcp"]);
    let answer = tools(service.admin, &bearer);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("jules_get_job"), "{answer}");
    assert!(
        !answer.contains("\"jules_create_job\""),
        "the variables of `phileas mcp` count: {answer}"
    );
    for (further, status) in [
        (String::new(), "401"),
        (
            "authorization: Bearer another-token-than-the-right-one\r\n".to_owned(),
            "401",
        ),
        (format!("{bearer}origin: https://example.com\r\n"), "403"),
    ] {
        let answer = tools(service.admin, &further);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{further}{answer}"
        );
        assert!(!answer.contains("jules_"), "{answer}");
    }
    let answer = tools(service.public, &bearer);
    assert!(
        answer.starts_with("HTTP/1.1 404"),
        "never on the public listener: {answer}"
    );
    assert!(service.terminate().success());

    let data = tempfile::tempdir().unwrap();
    let service = start(&data, &[]);
    let answer = tools(service.admin, &bearer);
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
}
