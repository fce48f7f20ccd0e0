//! Calls a tool of the MCP server that `mcp_command` names, as the first event handler did.

use std::process::Stdio;
use std::time::Duration;

use phileas_domain::jobs::{Event, EventKind, JobId};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::Command;

/// How long the server may take to reply.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long the server may take to exit after its input is closed.
const GRACE: Duration = Duration::from_secs(2);
/// The most bytes that are read of the server's output.
const MAX_BYTES: u64 = 8 << 20;
/// The most characters of a reply that are shown.
pub const MAX_CHARS: usize = 8_000;
/// The id of the request, as the first event handler sends it.
const ID: &str = "zai-event-handler";

/// Returns the tool to call for an event, and the job; the first event handler only printed events
/// of other kinds.
#[must_use]
pub fn tool_for(event: &Event) -> Option<(&'static str, &JobId)> {
    let tool = match event.event_kind()? {
        EventKind::Completed => "jules_get_artifacts",
        EventKind::Stuck => "jules_get_job",
        EventKind::Question | EventKind::Error | EventKind::PlanReview => return None,
    };
    Some((tool, event.job_id.as_ref()?))
}

/// Calls a tool of the server and returns the text of its result.
///
/// # Errors
///
/// Why there is no reply.
pub async fn call(command: &[String], tool: &str, job: &JobId) -> Result<String, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("mcp_command is empty; name a program, or remove the key".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(format!("`{program}` was started without pipes"));
    };
    let asked = async {
        // A server that has exited closes its output, too, and that error says more than a failed
        // write.
        let _ended = input.write_all(request_lines(tool, job).as_bytes()).await;
        let _ended = input.flush().await;
        find_answer(BufReader::new(output.take(MAX_BYTES))).await
    };
    let answer = tokio::time::timeout(TIMEOUT, asked).await;
    drop(input);
    // The process is killed if it does not exit.
    let _ended = tokio::time::timeout(GRACE, child.wait()).await;
    match answer {
        Ok(Ok(Some(message))) => text_of(&message),
        Ok(Ok(None)) => Err(format!("`{program}` exited without a reply")),
        Ok(Err(error)) => Err(format!("`{program}`: {error}")),
        Err(_late) => Err(format!(
            "`{program}` did not reply within {} seconds",
            TIMEOUT.as_secs()
        )),
    }
}

/// The handshake and the call. A server without a handshake refuses its messages and replies to the
/// call.
fn request_lines(tool: &str, job: &JobId) -> String {
    let client = json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client,
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": ID, "method": "tools/call", "params": {
            "name": tool, "arguments": {"job_id": job},
        }}),
    ];
    messages.map(|message| format!("{message}\n")).concat()
}

/// Returns the reply to the call; `None` if the output ends without it.
async fn find_answer(mut output: impl AsyncBufRead + Unpin) -> std::io::Result<Option<Value>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if output.read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        // Some servers log to their output; lines that are no message are skipped.
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        if message["id"] == ID && message.get("method").is_none() {
            return Ok(Some(message));
        }
    }
}

/// The text of a result. The first server wrote bare JSON instead of the protocol's blocks.
fn text_of(message: &Value) -> Result<String, String> {
    if let Some(error) = message.get("error") {
        let said = error["message"].as_str().unwrap_or("no reason");
        return Err(format!("the MCP server refused the call: {said}"));
    }
    let content = &message["result"]["content"];
    let blocks = content.as_array().map(|blocks| {
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        texts.collect::<Vec<_>>().join("\n")
    });
    let text = blocks
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| content.to_string());
    if message["result"]["isError"] == true {
        return Err(format!("the tool of the MCP server failed: {text}"));
    }
    Ok(text.chars().take(MAX_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_in_either_form() {
        let read = |text: &str| text_of(&serde_json::from_str(text).unwrap());
        let blocks = r#"{"result": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}"#;
        assert_eq!(read(blocks).unwrap(), "a\nb");
        let raw = r#"{"result": {"content": {"state": "COMPLETED"}}}"#;
        assert_eq!(read(raw).unwrap(), r#"{"state":"COMPLETED"}"#);
        let error = r#"{"error": {"code": -32000, "message": "Unsupported method"}}"#;
        assert!(read(error).unwrap_err().contains("Unsupported method"));
        let failed =
            r#"{"result": {"isError": true, "content": [{"type": "text", "text": "no key"}]}}"#;
        assert!(read(failed).unwrap_err().contains("no key"));
        let long = json!({"result": {"content": [{"text": "x".repeat(20_000)}]}});
        assert_eq!(text_of(&long).unwrap().len(), MAX_CHARS);
    }
}
