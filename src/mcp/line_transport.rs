//! Transports messages as lines of standard input and output. A line that is no message gets an
//! error.

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

/// The longest line that is read, in bytes. The rest of a longer one is discarded.
const MAX_LINE_BYTES: usize = 4 << 20;
/// How long the server finishes calls after its input has ended. A call of Jules or GitHub may take
/// longer than the 5 seconds for which `rmcp` waits.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// The most messages of a batch. Revision 2025-03-26 has batches; no client needs more at once.
const MAX_BATCH: usize = 100;
/// The id of a handshake that the transport makes in the client's place.
const HANDSHAKE: &str = "phileas: handshake";
/// The key by which a request names its revision.
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle>
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// Some editors write this at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Both directions of the connection. A line that cannot be a message gets an error without an id,
/// as JSON-RPC requires, and reading continues. Some clients leave out the last line end; that line
/// counts, too. The end of the input releases every call that waits, because the server would wait
/// for it.
pub struct LineTransport<R, W, E> {
    input: BufReader<R>,
    /// The beginning of a line that is being read. A reader that is dropped and polled again
    /// continues with it.
    begun: Vec<u8>,
    /// Whether the line is too long, so that its rest is discarded.
    is_passed_over: bool,
    /// Whether the client has begun: by a handshake, by a request that names its revision, or by
    /// neither.
    has_begun: bool,
    /// Messages of a line that are not handled yet. Only a batch has more than one.
    received: VecDeque<LineResult>,
    output: Arc<Mutex<Option<W>>>,
    /// An error that is being written. Reading waits for it, so that bad lines cannot pile up
    /// errors.
    refusal: Option<JoinHandle<io::Result<()>>>,
    /// The requests whose replies are not written yet.
    unanswered: Arc<watch::Sender<HashSet<RequestId>>>,
    answer_limit: Duration,
    /// When the input ended.
    ended_at: Option<Instant>,
    at_end: E,
}

/// A message; `None` if it needs no reply. The error is the reply.
type LineResult = Result<Option<RxJsonRpcMessage<RoleServer>>, String>;

/// What was read before the end of a line.
enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl<R, W, E> LineTransport<R, W, E>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
    E: Fn() + Send,
{
    /// Reads `input` and writes `output`. `at_end` is called when no more requests can come: the
    /// input has ended or fails, or the output is closed. Replies to earlier requests are awaited
    /// for at most `answer_limit`.
    pub fn new(input: R, output: W, answer_limit: Duration, at_end: E) -> Self {
        Self {
            input: BufReader::new(input),
            begun: Vec::new(),
            is_passed_over: false,
            has_begun: false,
            received: VecDeque::new(),
            output: Arc::new(Mutex::new(Some(output))),
            refusal: None,
            unanswered: Arc::new(watch::Sender::new(HashSet::new())),
            answer_limit,
            ended_at: None,
            at_end,
        }
    }

    /// Handles a line. The client of the first design begins with `tools/call`, without a handshake
    /// or a revision in `_meta`; the handshake of its revision is made here. A notification before
    /// that is ignored.
    fn accept_line(&mut self, line: &[u8]) {
        if !self.has_begun {
            match begin_of(line) {
                Begin::Early => {}
                Begin::Notification => return,
                Begin::Own => self.has_begun = true,
                Begin::Bare => {
                    self.has_begun = true;
                    self.received.extend(handshake_of().map(parse_message));
                }
            }
        }
        self.received.extend(parse_messages(line));
    }

    /// Remembers a request until its reply is written. A cancelled request gets no reply.
    fn note_request(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => self.unanswered.send_modify(|ids| {
                ids.insert(request.id.clone());
            }),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered.send_modify(|ids| {
                        ids.remove(id);
                    });
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// Releases calls that wait for more input, and waits for the replies that are not written yet.
    /// The first client closes its input at once and then reads its reply.
    async fn end_input(&mut self) {
        if self.ended_at.is_none() {
            (self.at_end)();
        }
        let ended_at = *self.ended_at.get_or_insert_with(Instant::now);
        let mut unanswered = self.unanswered.subscribe();
        let all_written = unanswered.wait_for(HashSet::is_empty);
        let is_late = timeout_at(ended_at + self.answer_limit, all_written)
            .await
            .is_err();
        if is_late {
            tracing::warn!("the input has ended, and some requests have no reply");
        }
    }

    /// Returns the next line; `None` at the end. Dropping the future loses nothing.
    async fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            let is_end = available.is_empty();
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            if self.begun.len() + part.len() > MAX_LINE_BYTES {
                self.is_passed_over = true;
                self.begun = Vec::new();
            }
            if !self.is_passed_over {
                self.begun.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if std::mem::take(&mut self.is_passed_over) {
                if end.is_some() || is_end {
                    return Ok(Some(Line::TooLong));
                }
                self.is_passed_over = true;
            } else if end.is_some() || is_end && !self.begun.is_empty() {
                return Ok(Some(Line::Whole(std::mem::take(&mut self.begun))));
            } else if is_end {
                return Ok(None);
            }
        }
    }
}

impl<R, W, E> Transport<RoleServer> for LineTransport<R, W, E>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
    E: Fn() + Send,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        let unanswered = Arc::clone(&self.unanswered);
        async move {
            let answered = match &message {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            let text = serde_json::to_string(&message)?;
            // The client did not send this handshake, so it gets no reply.
            let is_own = answered == Some(RequestId::String(HANDSHAKE.into()));
            let written = if is_own {
                Ok(Ok(()))
            } else {
                // A task writes the whole line, even if the caller stops waiting, so that no other
                // line follows half of one.
                tokio::spawn(write(output, text)).await
            };
            if let Some(id) = answered {
                unanswered.send_modify(|ids| {
                    ids.remove(&id);
                });
            }
            written.map_err(io::Error::other)?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                let written = refusal.await;
                self.refusal = None;
                if !matches!(written, Ok(Ok(()))) {
                    // No client reads the output any more.
                    (self.at_end)();
                    return None;
                }
            }
            let Some(heard) = self.received.pop_front() else {
                match self.next_line().await {
                    Ok(Some(Line::Whole(line))) => self.accept_line(&line),
                    Ok(Some(Line::TooLong)) => self.received.push_back(Err(refusal_message(
                        ErrorCode::PARSE_ERROR,
                        &format!("the line was not read, because it is longer than {MAX_LINE_BYTES} bytes; send a \
                            shorter one"),
                        Value::Null,
                    ))),
                    Ok(None) => {
                        self.end_input().await;
                        return None;
                    }
                    Err(error) => {
                        tracing::error!("standard input cannot be read: {error}");
                        (self.at_end)();
                        return None;
                    }
                }
                continue;
            };
            match heard {
                Ok(Some(message)) => {
                    self.note_request(&message);
                    return Some(message);
                }
                Ok(None) => {}
                Err(text) => {
                    let output = Arc::clone(&self.output);
                    self.refusal = Some(tokio::spawn(write(output, text)));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match self.output.lock().await.take() {
            Some(mut output) => output.shutdown().await,
            None => Ok(()),
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<Option<W>>>,
    text: String,
) -> io::Result<()> {
    let mut output = output.lock().await;
    let Some(output) = output.as_mut() else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    output.write_all(format!("{text}\n").as_bytes()).await?;
    output.flush().await
}

/// How a client begins a connection.
enum Begin {
    /// With a message that may precede the beginning, or with no message.
    Early,
    /// With a notification.
    Notification,
    /// With a handshake, or a request that names its revision.
    Own,
    /// With a request that names no revision.
    Bare,
}

fn begin_of(line: &[u8]) -> Begin {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Begin::Early;
    };
    let first = match &value {
        Value::Array(batch) => batch.first().unwrap_or(&Value::Null),
        one => one,
    };
    let Some(method) = first["method"].as_str() else {
        return Begin::Early;
    };
    let names_revision = first["params"]["_meta"].get(REVISION).is_some();
    match method {
        "ping" | "server/discover" => Begin::Early,
        "initialize" => Begin::Own,
        _ if names_revision => Begin::Own,
        _ if first.get("id").is_none() => Begin::Notification,
        _ => Begin::Bare,
    }
}

/// The handshake of the first revision.
fn handshake_of() -> [Value; 2] {
    let client = json!({"name": "unknown", "version": "0"});
    [
        json!({"jsonrpc": "2.0", "id": HANDSHAKE, "method": "initialize", "params": {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client,
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

/// Parses the messages of a line: one, or those of a batch, each with its own reply.
fn parse_messages(line: &[u8]) -> Vec<LineResult> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let line = line.trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(batch)) if (1..=MAX_BATCH).contains(&batch.len()) => {
            batch.into_iter().map(parse_message).collect()
        }
        Ok(Value::Array(batch)) => {
            let text = format!(
                "the batch has {} messages; send 1 to {MAX_BATCH}",
                batch.len()
            );
            vec![Err(refusal_message(
                ErrorCode::INVALID_REQUEST,
                &text,
                Value::Null,
            ))]
        }
        Ok(value) => vec![parse_message(value)],
        Err(error) => {
            let text = format!("the line is not JSON: {error}");
            vec![Err(refusal_message(
                ErrorCode::PARSE_ERROR,
                &text,
                Value::Null,
            ))]
        }
    }
}

fn parse_message(value: Value) -> LineResult {
    let id = value.get("id").cloned();
    let names_method = value.get("method").is_some_and(Value::is_string);
    let unfit = match serde_json::from_value(value) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    if names_method && id.is_none() {
        // It is an unknown notification, which gets no reply.
        return Ok(None);
    }
    // The id of a message that is no request is one of ours.
    let id = id.filter(|id| names_method && (id.is_string() || id.is_number()));
    let text = format!("the line is not a message of the protocol: {unfit}");
    let id = id.unwrap_or_default();
    Err(refusal_message(ErrorCode::INVALID_REQUEST, &text, id))
}

fn refusal_message(code: ErrorCode, text: &str, id: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": text}}).to_string()
}
