//! A transport that answers from a script, and a clock that moves only when a client waits. For tests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::auth::account::Credential;
use super::auth::token::{App, Token};
use super::client::{Client, Settings};
use super::http::api_url::Base;
use crate::adapters::pause::Pause;
use crate::adapters::transport::{BoxFuture, Transport, TransportError};

pub(super) const TEST_TOKEN: &str = "ghs_test-canary_token";

pub(super) type Outcome = Result<Response<Bytes>, TransportError>;

/// A request that the client sent.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// `GET https://api.github.com/…`
    pub(super) line: String,
    pub(super) authorization: String,
    pub(super) headers: http::HeaderMap,
    pub(super) body: Value,
}

#[derive(Default)]
pub(super) struct Script {
    replies: Mutex<VecDeque<Outcome>>,
    seen: Mutex<Vec<Seen>>,
    /// How long each answer takes, by which clock.
    slow: Mutex<Option<(Duration, Arc<Still>)>>,
}

impl Script {
    /// Each answer takes so long from now on.
    pub(super) fn slow(&self, length: Duration, clock: &Arc<Still>) {
        *self.slow.lock().unwrap() = Some((length, Arc::clone(clock)));
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }

    pub(super) fn push(&self, reply: Outcome) {
        self.replies.lock().unwrap().push_back(reply);
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.replies.lock().unwrap().is_empty()
    }
}

impl Transport for Script {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Outcome> {
        let header = |name: &str| {
            let value = request.headers().get(name);
            value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
        };
        self.seen.lock().unwrap().push(Seen {
            line: format!("{} {}", request.method(), request.uri()),
            authorization: header("authorization"),
            headers: request.headers().clone(),
            body: serde_json::from_slice(request.body()).unwrap_or(Value::Null),
        });
        let reply = self.replies.lock().unwrap().pop_front();
        if let Some((length, clock)) = &*self.slow.lock().unwrap() {
            clock.pass(*length);
        }
        Box::pin(async move { reply.expect("the script has an answer to every request") })
    }
}

/// A clock that moves by waiting.
pub(super) struct Still {
    now: Mutex<Timestamp>,
    waits: Mutex<Vec<Duration>>,
}

impl Still {
    pub(super) fn pass(&self, length: Duration) {
        *self.now.lock().unwrap() += SignedDuration::try_from(length).unwrap();
    }

    pub(super) fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }
}

impl Pause for Still {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        self.waits.lock().unwrap().push(length);
        self.pass(length);
        Box::pin(async {})
    }
}

/// A client, its script and its clock.
pub(super) struct Set {
    pub(super) client: Client,
    pub(super) script: Arc<Script>,
    pub(super) clock: Arc<Still>,
}

pub(super) fn start() -> Timestamp {
    "2026-01-05T00:00:00Z".parse().unwrap()
}

pub(super) fn set(replies: impl IntoIterator<Item = Outcome>) -> Set {
    set_as(Credential::Token(Token::new(TEST_TOKEN).unwrap()), replies)
}

pub(super) fn set_as(credential: Credential, replies: impl IntoIterator<Item = Outcome>) -> Set {
    let script = Arc::new(Script::default());
    for reply in replies {
        script.push(reply);
    }
    let clock = Arc::new(Still {
        now: Mutex::new(start()),
        waits: Mutex::default(),
    });
    let client = Client::new(Settings {
        repository: "acme/widget".parse().unwrap(),
        credential,
        base: Base::default(),
        transport: Arc::clone(&script) as Arc<dyn Transport>,
        pause: Arc::clone(&clock) as Arc<dyn Pause>,
        seed: 7,
    });
    Set {
        client,
        script,
        clock,
    }
}

pub(super) fn reply(status: u16, headers: &[(&str, &str)], body: &Value) -> Outcome {
    let mut response = Response::builder()
        .status(status)
        .header("date", "Mon, 05 Jan 2026 00:00:00 GMT");
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Ok(response.body(Bytes::from(body.to_string())).unwrap())
}

pub(super) fn json(status: u16, body: &Value) -> Outcome {
    reply(status, &[], body)
}

pub(super) fn lost() -> Outcome {
    Err(TransportError::Lost("connection reset".to_owned()))
}

pub(super) fn not_sent() -> Outcome {
    Err(TransportError::NotSent("no address".to_owned()))
}

/// An App with a key of its own, and the public half of it.
pub(super) fn app() -> (App, Vec<u8>) {
    let (pem, public) = key();
    (App::new("Iv1.test", &pem).unwrap(), public)
}

/// A private key in PEM form, and the public half of it.
pub(super) fn key() -> (String, Vec<u8>) {
    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use aws_lc_rs::signature::KeyPair as _;
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der = pair.as_der().unwrap();
    let body = data_encoding::BASE64.encode(der.as_ref());
    let lines: Vec<&str> = body
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    let label = "PRIVATE KEY";
    let pem = format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    );
    (pem, pair.public_key().as_ref().to_vec())
}
