//! `phileas mcp call`: calls one tool as any client would.

use std::io::Write;

use phileas_domain::model::RepositoryName;
use phileas_domain::{doubled_keys, utf8_text};
use rmcp::ServiceExt as _;
use rmcp::model::ProtocolVersion;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::adapters::files::read_limited;
use crate::cli::context::env_var::env_value;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::mcp::{ErrorCause, Server};

/// The buffer between client and server, in bytes.
const PIPE_BYTES: usize = 64 * 1024;
/// The largest arguments that are read from standard input, in bytes.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;
/// The argument that names a repository.
const REPOSITORY: &str = "repo";
/// The id of the only request.
const REQUEST_ID: u64 = 1;

pub(super) async fn run(
    server: Server,
    tool: &str,
    arguments: &str,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let mut arguments = parse_object(arguments)?;
    if server.is_required(tool, REPOSITORY) && !arguments.contains_key(REPOSITORY) {
        let repository = env_value("GITHUB_REPOSITORY").ok_or_else(|| {
            CliError::usage(format!(
                "{tool}: `{REPOSITORY}` is missing; add it to the arguments, or set GITHUB_REPOSITORY"
            ))
        })?;
        let name: RepositoryName = repository
            .parse()
            .map_err(|error| CliError::usage(format!("GITHUB_REPOSITORY: {error}")))?;
        arguments.insert(REPOSITORY.to_owned(), name.to_string().into());
    }
    server
        .check_call(tool, arguments.clone())
        .map_err(|trouble| CliError::usage(trouble.to_string()))?;
    let answer = send_request(server, tool, Value::Object(arguments)).await?;
    if let Some(error) = answer.get("error") {
        return Err(CliError::usage(format!(
            "{tool}: {}",
            string_at(error, "/message")
        )));
    }
    let result = &answer["result"];
    let exit = result["_meta"][ErrorCause::KEY].as_str().and_then(exit_of);
    if result["isError"] == true {
        let exit = exit.unwrap_or(Exit::Findings);
        let message = format!("{tool}: {}", string_at(result, "/content/0/text"));
        return Err(CliError { exit, message });
    }
    screen.print_line(&result["structuredContent"].to_string())?;
    Ok(exit.unwrap_or(Exit::Done))
}

fn string_at(value: &Value, place: &str) -> String {
    let text = value.pointer(place).and_then(Value::as_str);
    text.unwrap_or("it says nothing").to_owned()
}

fn parse_object(text: &str) -> Result<Map<String, Value>, CliError> {
    let unread = |why: &str| CliError::usage(format!("the arguments cannot be read: {why}"));
    let text = if text == "-" {
        let read = read_limited(std::io::stdin().lock(), MAX_INPUT_BYTES)
            .map_err(|error| unread(&error.to_string()))?
            .ok_or_else(|| unread(&format!("they are larger than {MAX_INPUT_BYTES} bytes")))?;
        utf8_text(read).map_err(|error| unread(&error.to_string()))?
    } else {
        text.to_owned()
    };
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(fields)) => match doubled_keys("the arguments", text).first() {
            Some(doubled) => Err(CliError::usage(doubled.to_string())),
            None => Ok(fields),
        },
        Ok(_) => Err(CliError::usage(
            "the arguments must be a JSON object, such as {\"job_id\":\"1\"}",
        )),
        Err(error) => Err(CliError::usage(format!(
            "the arguments are not JSON: {error}; write an object, such as {{\"job_id\":\"1\"}}"
        ))),
    }
}

/// Sends one request of the newest revision, which needs no handshake.
async fn send_request(server: Server, tool: &str, arguments: Value) -> Result<Value, CliError> {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let (far_in, far_out) = tokio::io::split(far);
    let serving = tokio::spawn(server.serve((far_in, far_out)));
    let (near_in, mut near_out) = tokio::io::split(near);
    let request = json!({
        "jsonrpc": "2.0",
        "id": REQUEST_ID,
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": ProtocolVersion::LATEST.as_str(),
                "io.modelcontextprotocol/clientInfo": {
                    "name": env!("CARGO_PKG_NAME"),
                    "version": env!("CARGO_PKG_VERSION"),
                },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    near_out
        .write_all(format!("{request}\n").as_bytes())
        .await?;
    let mut lines = BufReader::new(near_in).lines();
    while let Some(line) = lines.next_line().await? {
        let message: Value = serde_json::from_str(&line).map_err(|error| {
            CliError::fault(format!("the server did not answer with JSON: {error}"))
        })?;
        if message["id"] == REQUEST_ID && message.get("method").is_none() {
            near_out.shutdown().await?;
            if let Ok(Ok(running)) = serving.await {
                // The server ends because the client is gone.
                let _ended = running.waiting().await;
            }
            return Ok(message);
        }
    }
    Err(CliError::fault("the server ended before it answered"))
}

/// The cause of an exit code; `None` if nothing is wrong.
pub(super) fn cause_of(exit: Exit) -> Option<ErrorCause> {
    ErrorCause::ALL
        .into_iter()
        .find(|cause| Exit::from(*cause) == exit)
}

/// The exit code of a cause by its name.
fn exit_of(cause: &str) -> Option<Exit> {
    let found = ErrorCause::ALL.into_iter().find(|of| of.name() == cause);
    found.map(Exit::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exit_code_of_a_failure_has_one_cause() {
        for exit in Exit::ALL {
            let back = cause_of(exit).and_then(|cause| exit_of(cause.name()));
            assert_eq!(back, Some(exit).filter(|exit| *exit != Exit::Done));
        }
        assert_eq!(
            exit_of(ErrorCause::Internal.name()).map(Exit::code),
            Some(70)
        );
    }
}
