//! The protocol on lines: one message each, and an answer to whatever is none.

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

/// The longest line that is read, in bytes. The rest of a longer one is passed over without being kept.
const MAX_LINE_BYTES: usize = 4 << 20;
/// How long answers are waited for when the input has ended. A call of Jules or GitHub may take longer than the 5 seconds
/// for which `rmcp` waits.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// The most messages of a batch. Revision 2025-03-26 has batches; no client needs more at once.
const MAX_BATCH: usize = 100;
/// The id of a handshake that is made in the client's place.
const HANDSHAKE: &str = "phileas: handshake";
/// Where a request names its revision.
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle>
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Both directions, as long as the server lives. A line that cannot be a message is answered with an error under no id,
/// as JSON-RPC has it, and the next one is read. Some clients leave out the end of the last line; what they said counts
/// all the same. The end releases every call that waits, or the server would wait with it.
pub struct LineTransport<R, W, E> {
    input: BufReader<R>,
    /// What has come of the line that is being read. A reader that is dropped and polled again continues with it.
    begun: Vec<u8>,
    /// The line is too long, and what comes of it is passed over.
    is_passed_over: bool,
    /// The client has begun: by a handshake, by a request that names its revision, or by neither.
    has_begun: bool,
    /// What a line said that is not dealt with yet. Only a batch says more than one thing.
    received: VecDeque<LineResult>,
    output: Arc<Mutex<Option<W>>>,
    /// The error that is on its way. Nothing more is read before it is out, so that rubbish cannot pile up answers.
    refusal: Option<JoinHandle<io::Result<()>>>,
    /// The requests whose answers are not written yet.
    unanswered: Arc<watch::Sender<HashSet<RequestId>>>,
    answer_limit: Duration,
    /// When the input has ended.
    ended_at: Option<Instant>,
    at_end: E,
}

/// A message, `None` for one that wants no answer; the error is what is answered.
type LineResult = Result<Option<RxJsonRpcMessage<RoleServer>>, String>;

/// What came before the end of a line.
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
    /// Reads one and writes the other. `at_end` is called when nothing more will be heard: the input has ended or cannot
    /// be read, or the client takes no answer. The answers to what was requested before are waited for as long as
    /// `answer_limit`.
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

    /// Takes in a line. The client of the first design begins by `tools/call`: no handshake, and no revision in `_meta`.
    /// For it the handshake of its revision is made here. A notification before the beginning says nothing.
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

    /// Notes a request until its answer is written. A request that is cancelled gets no answer.
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

    /// Ends what waits for more input, and waits for the answers that are not written yet. The first client closes its
    /// input at once, and reads its answer then.
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
            tracing::warn!("the input has ended, and some requests are not answered");
        }
    }

    /// The next line; `None` at the end. Dropping the future loses nothing.
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
            // The client has asked for no handshake.
            let is_own = answered == Some(RequestId::String(HANDSHAKE.into()));
            let written = if is_own {
                Ok(Ok(()))
            } else {
                // Half a line must not stand where another one follows, even if the caller has stopped waiting.
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
                        &format!("the line is longer than {MAX_LINE_BYTES} bytes and was not read"),
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

/// How a client begins.
enum Begin {
    /// By what may come before a beginning, or by what is no message.
    Early,
    /// By a notification.
    Notification,
    /// As a revision of the protocol has it.
    Own,
    /// By a request that says nothing of a revision.
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

/// What a line says: one message, or those of a batch, each answered by itself.
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
                "a batch of {}; it has 1 to {MAX_BATCH} messages",
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
            let text = format!("the line is no JSON: {error}");
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
        // An unknown notification; none is ever answered.
        return Ok(None);
    }
    // The id of what is no request is one of ours.
    let id = id.filter(|id| names_method && (id.is_string() || id.is_number()));
    let text = format!("it is no message of the protocol: {unfit}");
    let id = id.unwrap_or_default();
    Err(refusal_message(ErrorCode::INVALID_REQUEST, &text, id))
}

fn refusal_message(code: ErrorCode, text: &str, id: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": text}}).to_string()
}
